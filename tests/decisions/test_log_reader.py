"""A log is shown and asked again; whatever else stands in the file is passed over and counted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillyard.decisions.log_reader import read_log
from skillyard.errors import InvalidInput
from tests.cli.conftest import Run, plain_surroundings, run
from tests.cli.making import library
from tests.tables import for_each

__all__ = ["plain_surroundings", "run"]

REQUEST = "find the commit that broke the build"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of this process, beside a small library in ``skills``."""
    library(tmp_path / "skills")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLYARD_LOG", "log.jsonl")
    monkeypatch.delenv("SKILLYARD_LOG_TEXT", raising=False)
    return tmp_path / "log.jsonl"


def lines(*numbers: int) -> str:
    return "".join(
        json.dumps({"schema": "skillyard.decision/1", "n": number}) + "\n" for number in numbers
    )


def test_the_last_entries_are_shown_with_those_of_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "log"
    (tmp_path / "log.1").write_text(lines(*range(3_000)), encoding="utf-8")
    path.write_text(lines(3_000, 3_001), encoding="utf-8")
    shown = read_log(str(path), 3)
    assert [each["n"] for each in shown.entries] == [2_999, 3_000, 3_001]
    assert (shown.total, shown.unreadable) == (3_002, 0)
    assert read_log(str(path), 0).entries == ()


@for_each("line", [b"x", b"{", b"[]", b'{"schema": 3}', b'{"a": 1}', b"\xff", b"[" * 99_999])
def test_lines_that_are_no_entries_are_passed_over(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(lines(1).encode() + line + b"\n\n" + lines(2).encode())
    shown = read_log(str(path), 10)
    assert ([each["n"] for each in shown.entries], shown.unreadable) == ([1, 2], 1)


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing"):
        read_log(str(tmp_path / "nothing"), 10)


def test_the_commands_select_and_inject_write_it_and_log_show_prints_it(
    run: Run, log: Path
) -> None:
    run("select", REQUEST, "--root", "skills")
    run("inject", REQUEST, "--root", "skills")
    run("select", "xylophone", "--root", "skills")
    shown = run("log", "show")
    assert shown.code == 0
    first, second, third = shown.out.splitlines()
    assert "select" in first
    assert "git-bisect" in first
    assert "inject" in second
    assert "abstained" in third
    document = run("log", "show", str(log), "--limit", "1", "--json").json
    assert document["schema"] == "skillyard.log-show/1"
    assert (len(document["entries"]), document["total"]) == (1, 3)


def test_without_a_log_both_commands_say_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SKILLYARD_LOG", raising=False)
    for command in ("show", "replay"):
        answer = run("log", command)
        assert answer.code == 2
        assert "SKILLYARD_LOG" in answer.err


def test_entries_with_any_fields_are_shown_and_reach_no_terminal(run: Run, log: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"selected": 3, "query": [], "time": {}, "use": None},
        {"selected": [3, {}, {"slug": "\x1b[2J", "score": "x"}], "query": {"text": "\x9b31m"}},
        {"schema": "skillyard.hook-event/1", "message": "\x1b]0;x\x07"},
    ]
    log.write_text(
        "".join(json.dumps({"schema": "skillyard.decision/1", **each}) + "\n" for each in odd),
        encoding="utf-8",
    )
    answer = run("log", "show")
    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert "\x9b" not in answer.out


def test_a_log_with_text_is_asked_again(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_LOG_TEXT", "1")
    run("select", REQUEST, "--root", "skills", "--top-k", "1", "--not-tag", "data")
    monkeypatch.delenv("SKILLYARD_LOG_TEXT")
    run("select", REQUEST, "--root", "skills")
    monkeypatch.delenv("SKILLYARD_LOG")
    same = run("log", "replay", str(log), "--root", "skills")
    assert same.code == 0
    assert "nothing moved" in same.out
    assert "passed over 1 entry" in same.err
    path = Path("skills/git-bisect/SKILL.md")
    path.write_text(path.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
    moved = run("log", "replay", str(log), "--root", "skills", "--json")
    assert moved.code == 1
    assert moved.json["schema"] == "skillyard.log-replay/1"
    assert (moved.json["queries"], moved.json["skipped"]) == (1, 1)
    assert [one["what"] for one in moved.json["moved"]] == ["changed"]
    again = run("bench", "replay", str(log), "--root", "skills", "--json")
    assert again.json["moved"] == moved.json["moved"]


def test_a_log_of_digests_cannot_be_asked_again_and_says_why(run: Run, log: Path) -> None:
    run("select", REQUEST, "--root", "skills")
    answer = run("log", "replay", "--root", "skills")
    assert answer.code == 2
    assert "SKILLYARD_LOG_TEXT=1" in answer.err


def test_a_fallback_and_tags_are_asked_again_as_they_were(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_LOG_TEXT", "yes")
    run("select", "xylophone", "--root", "skills", "--fallback", "fallback")
    run("select", REQUEST, "--root", "skills", "--tag", "git", "--not-tag", "debugging")
    monkeypatch.delenv("SKILLYARD_LOG")
    assert run("log", "replay", str(log), "--root", "skills").code == 0
    assert os.path.exists(log)
