"""How a run ends: interrupts, bugs, refused input, remarks on standard error."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NoReturn

import pytest

from skillyard.cli import main
from skillyard.cli.commands import selection
from tests.cli.conftest import Run
from tests.cli.making import write
from tests.engine.embedding.letters import Letters, install
from tests.tables import for_each


def interrupted(*_: object, **_more: object) -> NoReturn:
    """What a native module makes of an interrupt while it loads."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error


def faulty(*_: object) -> NoReturn:
    raise ZeroDivisionError("seven")


def test_an_interrupt_while_an_encoder_loads_is_130_and_one_line(
    run: Run, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Letters, "embed", interrupted)
    install(monkeypatch, Letters())
    answer = run("rank", "commit", "--root", "skills", "--scorer", "hybrid+letters", "--quiet")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == "skillyard: interrupted\n"


def test_a_bug_is_one_line_that_asks_for_a_report(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # bugs raise in the other tests
    monkeypatch.setattr(selection, "ranking_inputs", faulty)
    answer = run("rank", "x")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert "ZeroDivisionError: seven" in answer.err
    assert f"in {__file__}:" in answer.err


def test_a_closed_standard_output_is_no_error(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(["list", "--root", "skills"]) == 0


def test_files_that_do_not_load_are_counted_with_the_way_on(run: Run, skills: Path) -> None:
    for arguments in (("list",), ("rank", "commit"), ("select", "commit")):
        said = run(*arguments, "--root", "skills").err
        assert said == "1 file did not load: skillyard check skills says why\n"
    assert run("rank", "commit", "--root", "skills", "--quiet").err == ""
    assert run("rank", "commit", "--root", "skills", "--json").err == ""


def test_the_way_on_can_be_pasted_into_a_shell(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path / "my skills", {"bad/SKILL.md": "no frontmatter"})
    assert f"skillyard check '{root}' says why" in run("list", str(root)).err


def test_a_name_of_several_skills_is_refused_with_their_ids(run: Run, skills: Path) -> None:
    twin = "---\nname: git-bisect\ndescription: Another.\n---\nOther.\n"
    write(skills, {"other/SKILL.md": twin})
    answer = run("show", "git-bisect", "--root", "skills")
    assert answer.code == 2
    ids = [word.strip(",;") for word in answer.err.split() if word.startswith("git-bisect-")]
    assert len(ids) == 2
    assert run("show", ids[0], "--root", "skills").code == 0


def test_no_request_and_a_blank_one_are_wrong_use(run: Run, skills: Path) -> None:
    for words in (("rank",), ("select",), ("why", "git-bisect")):
        answer = run(*words, "--root", "skills")
        assert (answer.code, "no request: write it as words" in answer.err) == (2, True)
        assert run(*words, " ", "--root", "skills") == answer
        assert run(*words, "--files", "a.csv", "-s", "confidence", "--root", "skills").code != 2
    assert run("evaluate", "--text", "", "--root", "skills").code == 1


@for_each("words", ["list", "rank commit", "select commit", "why git-bisect commit", "select x"])
def test_a_tag_that_no_skill_has_is_named_with_those_there_are(
    words: str, run: Run, skills: Path
) -> None:
    option = "--fallback" if words.endswith("x") else "--tag"
    answer = run(*words.split(), option, "nosuch", "--root", "skills")
    assert (answer.code, answer.out) == (2, "")
    told = "no skill has the tag nosuch (tags: data, debugging, etl, fallback, git)"
    assert told in answer.err


@for_each("scorer", ["hybrid", "confidence"])
def test_files_that_no_skill_has_patterns_for_are_noted(
    scorer: str, run: Run, skills: Path
) -> None:
    words = ("rank", "commit", "--files", "a.csv", "-s", scorer, "--root")
    assert "--files" not in run(*words, "skills").err
    note = "--files finds nothing: no skill has file patterns"
    assert note in run(*words, "skills/git-bisect").err
    assert run("rank", "commit", "--files", "a.csv", "-s", "overlap").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "x", "--limit", "-1"),
        ("rank", "x", "--limit", "1.5"),
        ("rank", "x", "--limit", "٣"),
        ("select", "x", "--min-score", "nan"),
        ("select", "x", "--min-score", "inf"),
        ("evaluate", "--text", "x", "--threshold", "much"),
        ("inject", "x", "--max-chars", "-2"),
        ("summary", "--budget-tokens", "9999999999"),
    ],
)
def test_a_number_out_of_range_is_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert f"skillyard {arguments[0]}: " in answer.err


@pytest.mark.parametrize("word", ["select", "inject"])
@pytest.mark.parametrize(
    "more", [("0",), ("2", "--min-score", "0.5"), ("2", "--scorer", "overlap")]
)
def test_a_cost_that_sets_no_floor_is_wrong_use(
    run: Run, skills: Path, word: str, more: tuple[str, ...]
) -> None:
    answer = run(word, "commit", "--root", "skills", "--wrong-cost", *more)
    assert (answer.code, answer.out) == (2, "")
    assert "wrong_cost" in answer.err


def test_a_prompt_file_is_read_with_its_line_ends_unified(
    run: Run, skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(b"\xef\xbb\xbfThe commit\r\nthat broke the build\r\n")
    answer = run("inject", "--file", str(path), "--root", "skills", "--quiet")
    assert answer.out.endswith("[/skill]\n\nThe commit\nthat broke the build\n")
    assert answer.err == ""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert run("inject", "--file", "-", "--root", "skills").out == answer.out


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_prompt_that_cannot_be_read_is_said(
    run: Run, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "prompt.txt"
    if content is not None:
        path.write_bytes(content)
    answer = run("inject", "--file", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert "prompt.txt" in answer.err


def test_a_prompt_in_two_parts_chooses_by_the_words_and_keeps_the_file(
    run: Run, skills: Path, tmp_path: Path
) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Do it today.", encoding="utf-8")
    shown = run(
        "inject",
        "undo the commit that broke the build",
        "--file",
        str(path),
        "--root",
        "skills",
        "--json",
    )
    assert shown.json["match"]["name"] == "git-revert"
    assert shown.json["prompt"].endswith("\n\nDo it today.")


def test_inject_obeys_tags_and_the_floor(run: Run, skills: Path) -> None:
    words = ("inject", "commit that broke the build", "--root", "skills", "--json")
    assert run(*words, "--tag", "debugging").json["match"]["name"] == "git-bisect"
    assert run(*words, "--not-tag", "git").json["match"] is None
    assert run(*words, "--min-score", "99").json["injected"] is False
    assert run(*words, "--min-score", "99", "--fallback", "fallback").json["injected"] is True
