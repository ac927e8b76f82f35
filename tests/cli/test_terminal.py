"""Nothing that a skill, a file name or an argument holds can act on a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from skillyard.cli.blocks import Column, Span, Table, Text, Tree, line
from tests.cli.conftest import Run
from tests.cli.making import ATTACK, BENCH_QUERIES, BENCH_SKILLS, write
from tests.cli.terminal import render
from tests.requirements import requirement

COMMANDS = [
    ("list",),
    ("check",),
    ("check", "--profile", "spec"),
    ("check", "--format", "github"),
    ("check", "--format", "sarif"),
    ("show", "odd", "--references"),
    ("show", "heading"),
    ("show", "heading", "--section", "outline"),
    ("show", "osc"),
    ("show", "fields"),
    ("rank", "odd thing", "--explain"),
    ("rank", f"odd {ATTACK}", "--scorer", "confidence", "--files", "\x1b[2J.csv"),
    ("rank", "odd markup", "--scorer", "triggers"),
    ("rank", "odd", "--scorer", "relevance"),
    ("select", f"odd thing {ATTACK}", "--min-score", "0", "--top-k", "9", "--explain"),
    ("select", "xylophone"),
    ("evaluate", "--text", f"very odd thing {ATTACK}", "--details"),
    ("why", "odd", f"odd thing {ATTACK}", "--explain"),
    ("summary",),
    ("summary", "--format", "xml"),
    ("summary", "--format", "markdown"),
    ("inject", f"odd very thing {ATTACK}"),
    ("show", f"no{ATTACK}"),
    ("rank", "odd", "--scorer", f"x{ATTACK}"),
    ("rank", "odd", "--limit", f"x{ATTACK}"),
    (f"x{ATTACK}",),
]
# What rich writes for colours, and nothing else of its kind.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def harmful(text: str) -> set[str]:
    """Return the characters of a text that could act on a terminal."""
    return {
        char
        for char in text
        if (char < " " and char not in "\n\t")
        or "\x7f" <= char <= "\x9f"
        or "\u202a" <= char <= "\u202e"
        or "\u2066" <= char <= "\u2069"
        or "\ud800" <= char <= "\udfff"
    }


@requirement("cli:terminal")
@pytest.mark.parametrize("arguments", COMMANDS)
def test_no_command_prints_what_could_act_on_a_terminal(
    arguments: tuple[str, ...], run: Run, hostile: Path
) -> None:
    answer = run("--root", "hostile", *arguments)
    assert answer.out or answer.err
    assert harmful(answer.out + answer.err) == set()
    drawn = run("--root", "hostile", "--color", "always", *arguments)
    assert harmful(_COLOURS.sub("", drawn.out) + drawn.err) == set()


@requirement("cli:terminal", "cli:json")
@pytest.mark.parametrize("arguments", [c for c in COMMANDS if "--format" not in c or "xml" in c])
def test_json_is_ascii_and_keeps_what_was_there(
    arguments: tuple[str, ...], run: Run, hostile: Path
) -> None:
    answer = run("--root", "hostile", "--json", *arguments)
    if answer.code == 2:
        assert answer.out == ""
        return
    assert answer.out.isascii()
    assert harmful(answer.out) == set()
    assert answer.json["schema"].startswith("skillyard.")


@requirement("cli:terminal")
def test_bench_prints_no_control_character_either(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["\n".join(json.dumps(item) for item in rows) for rows in (BENCH_SKILLS, BENCH_QUERIES)]
    write(tmp_path, {"s.jsonl": lines[0], "q.jsonl": lines[1]})
    files = ("--skills", "s.jsonl", "--queries", "q.jsonl", "--out", "run.json")
    answer = run("bench", "run", *files, "--scorer", "overlap")
    score = run("bench", "score", "--run", "run.json", "--queries", "q.jsonl")
    assert (answer.code, score.code) == (0, 0)
    assert harmful(answer.out + answer.err + score.out + score.err) == set()


def test_json_keeps_the_text_of_a_skill_byte_for_byte(run: Run, hostile: Path) -> None:
    body = run("--root", "hostile", "show", "odd", "--json").json["body"]
    assert "\x1b[2J" in body
    assert "\u202e" in body


def test_every_block_is_cleaned_where_it_is_drawn() -> None:
    blocks = (
        line("a", Span(ATTACK, "name")),
        Table((Column(ATTACK), Column("b", wide=True)), [[ATTACK, Span(ATTACK)]]),
        Tree(line(ATTACK), (Tree(line(ATTACK)),)),
        Text(f"one\n{ATTACK}"),
    )
    for block in blocks:
        text = "\n".join(render(block))
        assert "evil" in text
        assert harmful(text) == set()


def test_one_line_of_output_stays_one_line() -> None:
    assert list(render(line("a\nb\tc"))) == ["a b c"]
    table = Table((Column("x"), Column("y")), [["a\nb", "c"]], head=False)
    assert list(render(table)) == ["a b  c"]


def test_markup_in_a_skill_is_not_read_as_markup(run: Run, hostile: Path) -> None:
    pytest.importorskip("rich")
    shown = run("--root", "hostile", "--color", "always", "show", "odd", "--section", "card").out
    assert "[red]very[/red] | `x` =1+1" in _COLOURS.sub("", shown)
