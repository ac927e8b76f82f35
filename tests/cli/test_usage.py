"""``usage``: what it says of a log and a library, as text, JSON and a page."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import library
from tests.configuration import configure
from tests.hosts.decisions.test_usage import decision

HOSTILE = "<script>alert(1)</script>\x1b[2J"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a log, beside a small library whose files are old."""
    library(tmp_path / "skills")
    for path in (tmp_path / "skills").rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SKILLYARD_CONFIG", raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME", "SKILLYARD_STATE"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    return tmp_path / "log.jsonl"


def write(log: Path, *entries: object) -> None:
    log.write_text("".join(f"{json.dumps(each)}\n" for each in entries), encoding="utf-8")


def test_without_a_log_it_says_how_to_make_one(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("usage", "--root", "skills")
    assert answer.code == 2
    assert "`skillyard setup` makes one; or set file in [log]" in answer.err
    configure(monkeypatch, log.parent, log={"file": str(log)})
    for _ in range(2):
        answer = run("usage", "--root", "skills")
        assert (answer.code, answer.out) == (0, "No decisions\n")
        assert "nothing logged yet" in answer.err
        log.touch()
    assert "the log holds no decision" in run("usage", "--days", "1", "--root", "skills").err
    named = run("usage", "--log", str(log), "--root", "skills").err
    assert named.endswith(f"{log} holds no decision\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_as_log_is_refused_and_nothing_waits(run: Run, log: Path) -> None:
    os.mkfifo(log)
    answer = run("usage", "--log", "log.jsonl", "--root", "skills")
    assert answer.code == 2
    assert "not a regular file" in answer.err


def test_few_decisions_are_no_verdict_and_many_give_an_upper_bound(run: Run, log: Path) -> None:
    write(log, *[decision([("csv-cleaning", 0.9)], [])] * 40)
    few = run("usage", "--log", "log.jsonl", "--root", "skills")
    assert "With fewer than 100 decisions that is no verdict" in few.out
    write(log, *[decision([("csv-cleaning", 0.9)], [])] * 400)
    many = run("usage", "--log", "log.jsonl", "--root", "skills")
    assert "no verdict" not in many.out
    document = run("usage", "--log", "log.jsonl", "--root", "skills", "--json").json
    assert document["schema"] == "skillyard.usage/1"
    unused = {each["slug"]: each for each in document["unused"]}
    assert "csv-cleaning" not in unused
    # 3.84 / (400 + 3.84), the upper end of Wilson's interval for 0 of 400
    assert unused["git-revert"]["high"] == pytest.approx(0.0095, abs=1e-4)
    assert unused["wipe-disk"]["hidden"] is True
    (skill,) = document["skills"]
    assert skill["cost"] == 400 * skill["tokens"] == document["cost"]


def test_a_skill_whose_file_is_newer_was_there_for_fewer_decisions(run: Run, log: Path) -> None:
    write(log, *[decision([("csv-cleaning", 0.9)], [])] * 3)
    (path,) = [each for each in Path("skills").rglob("*.md") if "git-revert" in each.read_text()][
        :1
    ]
    os.utime(path, (1_900_000_000, 1_900_000_000))
    unused = run("usage", "--log", "log.jsonl", "--root", "skills", "--json").json["unused"]
    by_slug = {each["slug"]: each["decisions"] for each in unused}
    assert sorted(set(by_slug.values())) == [0, 3]


def test_abstentions_are_grouped_by_text_and_counted_by_digest_without(run: Run, log: Path) -> None:
    write(log, decision([], [], "bake a cake"), decision([], []), decision([], []))
    shown = run("usage", "--log", "log.jsonl", "--root", "skills").out
    assert "bake a cake" in shown.partition("No skill fired for")[2]
    assert "Of 2 the log has only a digest, 2 of them repeated word for word" in shown


def test_a_request_whose_best_skill_lacks_a_tool_stands_apart(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path("skills/csv-cleaning/SKILL.md")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("---\n", "---\nrequires:\n  tools: Bash\n", 1), encoding="utf-8")
    configure(monkeypatch, log.parent, log={"file": str(log), "text": True})
    asked = ("select", "clean a csv file", "--root", "skills")
    assert run(*asked, "--tool", "Read").code == 1
    given = ("usage", "--root", "skills")
    usage = run(*given, "--json").json
    (lack,) = usage["lacks"]
    assert (lack["slug"], lack["count"]) == ("csv-cleaning", 1)
    assert "the tool Bash" in lack["because"]
    assert (usage["abstained"], usage["groups"], usage["without_text"]) == (1, [], 0)
    shown = run(*given).out
    assert "Fits, but lacked a tool" in shown
    assert "No skill fired for" not in shown


def test_callers_have_a_table_where_the_log_names_some(run: Run, log: Path) -> None:
    write(log, decision([("csv-cleaning", 0.9)], []))
    given = ("usage", "--log", "log.jsonl", "--root", "skills")
    assert "caller" not in run(*given).out
    assert "callers" not in run(*given, "--json").json
    named = [decision([], [], caller=name) for name in ("b", "a", HOSTILE)]
    write(log, decision([("csv-cleaning", 0.9)], [], caller="b"), *named)
    text = run(*given).out
    assert "By caller" in text
    assert "\x1b[2J" not in text
    callers = run(*given, "--json").json["callers"]
    assert callers[:2] == [
        {"caller": "b", "fired": 1, "abstained": 1},
        {"caller": HOSTILE, "fired": 0, "abstained": 1},
    ]


def test_the_period_ends_now(run: Run, log: Path) -> None:
    hours = [(datetime.now(UTC) - timedelta(hours=each)).isoformat() for each in (1, 25, 49)]
    write(log, *[decision([("a", 0.9)], [], time=each) for each in hours])
    given = ("usage", "--log", "log.jsonl", "--root", "skills", "--json")
    assert run(*given).json["decisions"] == 3
    assert run(*given, "--days", "2").json["decisions"] == 2
    assert run(*given, "--days", "1").json["decisions"] == 1


def test_no_text_of_a_log_reaches_the_terminal(run: Run, log: Path) -> None:
    write(
        log,
        *[decision([(HOSTILE, 0.9), (f"{HOSTILE}2", 0.9)], [], HOSTILE)] * 2,
        decision([], [(HOSTILE, 0.5)], f"{HOSTILE} cake"),
        {"schema": "skillyard.hook-event/1", "time": "2026-11-20T09:30:00Z", "event": HOSTILE},
    )
    answer = run("usage", "--log", "log.jsonl", "--root", "skills")
    assert answer.code == 0
    assert "\x1b" not in answer.out
