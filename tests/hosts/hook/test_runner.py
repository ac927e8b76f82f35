"""One answer in this process: the clock, bugs of ours, what is logged, and nothing ever raised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.hosts.hook import runner
from skillyard.hosts.hook.choice import HookOptions
from skillyard.hosts.hook.index_refresh import bring_up_to_date
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.prompt import PromptBudget
from skillyard.install.policy.library import open_catalog
from tests.configuration import configure
from tests.engine.embedding.letters import Letters, install
from tests.hosts.hook.conftest import PROMPT, add_skill, approve_project, payload
from tests.shared_data import PACKAGES, REPOSITORY

Events = Callable[[], list[dict[str, str]]]
QUIET = HookOptions(refresh=False)
PATIENT = replace(QUIET, budget_ms=60_000)


def answer(options: HookOptions, folder: Path | str = "/") -> str:
    """Return what Codex gets for the prompt."""
    return runner.answer(
        "codex", options, PromptBudget(options.budget_ms), payload(folder, session_id="s")
    )


STEPS = ("opening the index", "ranking", "looking at the skill")


@pytest.mark.parametrize("step", STEPS)
def test_whichever_step_uses_the_time_up_there_is_no_answer(
    step: str, users_skill: Path, events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, tmp_path, log={"file": str(tmp_path / "log.jsonl")})
    times = chain([0.0] * (1 + STEPS.index(step)), repeat(0.2))
    monkeypatch.setattr("skillyard.hosts.hook.prompt.monotonic", lambda: next(times))
    assert answer(replace(QUIET, budget_ms=100)) == ""
    (event,) = events()
    assert event["event"] == "breach"
    assert event["host"] == "codex"
    assert event["message"] == f"{step} ended after 200 ms of 100"
    assert not (tmp_path / "log.jsonl").exists(), "nobody saw that a skill fired"


def test_what_perhaps_fits_is_named_and_nothing_of_it_shown(
    users_skill: Path, events: Events
) -> None:
    (match,) = sy.rank(sy.load_catalog(users_skill.parent.parent), PROMPT)
    odds = match.score / (1 - match.score)
    dear = replace(PATIENT, wrong_cost=odds * 2, max_chars=2_000)
    shown = answer(dear)
    assert f"perhaps the skill `bisecting` ({match.score:.2f})" in shown
    assert str(users_skill) in shown
    assert "Do it." not in shown
    assert answer(replace(dear, perhaps=False)) == ""
    assert answer(replace(dear, wrong_cost=odds * 7)) == ""
    assert events() == []


@pytest.mark.parametrize("is_sure", [True, False])
def test_another_skill_that_comes_near_is_named_with_its_file(
    is_sure: bool, users_skill: Path
) -> None:
    skills = users_skill.parent.parent
    other = add_skill(skills, "bisect-sites", "Finds the commit that broke the build of a site.")
    open_catalog([], scopes=("user",))
    best, second = sy.rank(catalog := sy.load_catalog(skills), PROMPT)
    assert 1 > best.score > second.score
    assert [match.skill for match in sy.select(catalog, PROMPT).close] == [second.skill]
    assert sy.select(catalog, f"{PROMPT}, do not deploy it").close == ()
    shown = answer(replace(PATIENT, min_score=best.score if is_sure else 1.0))
    names = f"`{best.skill.name}` ({best.score:.2f}) or `{second.skill.name}`"
    assert (names in shown) is not is_sure
    assert ("close to it" in shown) is is_sure
    assert str(users_skill) in shown
    assert str(other) in shown


@pytest.mark.parametrize(
    "error", [RuntimeError("my secret"), RecursionError(), MemoryError(), OSError(5, "my secret")]
)
def test_a_bug_of_ours_is_logged_by_its_place_and_never_raised(
    error: Exception, users_skill: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr(runner, "choose", broken)
    assert answer(PATIENT) == ""
    (event,) = events()
    assert event["event"] == "error"
    assert event["message"].startswith(f"{type(error).__name__} in test_runner.py:")
    assert "secret" not in json.dumps(event)


def test_standard_input_that_nobody_closes_is_not_waited_for(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    with open(read, "rb") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert runner.answer("codex", QUIET, PromptBudget(1)) == ""
    os.close(write)
    assert [event["event"] for event in events()] == ["breach"]


def test_more_than_is_taken_is_read_to_its_end_and_refused(
    events: Events, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "much"
    path.write_bytes(b"x" * 6_000_000)
    with path.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert runner.answer("codex", PATIENT, PromptBudget(60_000)) == ""
        assert stream.read() == b""
    assert "bytes" in events()[0]["message"]


def test_what_is_offered_is_in_the_decision_log_once(
    users_skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": str(log)})
    assert answer(PATIENT)
    (entry,) = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    assert entry["use"] == "hook"
    assert entry["policy"]["top_k"] == 1
    assert [match["name"] for match in entry["selected"]] == ["bisecting"]
    assert PROMPT not in json.dumps(entry)


def test_a_skill_that_is_not_approved_is_logged_as_not_chosen_and_why(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve_project(str(project))
    (skill,) = project.rglob("SKILL.md")
    skill.write_text(skill.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    log = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": str(log)})
    assert answer(PATIENT, project) == ""
    entry = json.loads(log.read_text(encoding="utf-8"))
    assert (entry["selected"], entry["abstained"]) == ([], True)
    assert entry["runners_up"][0]["rejected_because"] == "not approved"


def test_the_default_scorer_chooses_once_its_vectors_are_there(
    home: Path, users_skill: Path, events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook never computes them; the process that updates the index does."""
    letters = Letters()
    install(monkeypatch, letters)
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    assert "bisecting" in answer(PATIENT)
    (event,) = events()
    assert event["event"] == "scorer"
    assert event["message"].startswith("hybrid ranks instead: embedder hybrid+letters: 0 of 1")
    assert letters.asked == letters.queries == []
    bring_up_to_date(library_place((), None))
    assert len(letters.asked) == 1
    assert "bisecting" in answer(PATIENT)
    assert len(letters.queries) == 1
    assert len(events()) == 1


PROGRAM = """
import sys, threading
from skillyard.engine.embedding import protocol
from skillyard.hosts.hook import prompt, runner
from skillyard.hosts.hook.choice import HookOptions
from tests.engine.embedding.letters import Letters

class Endless(Letters):
    def embed(self, texts, *, query=False):
        if query:
            threading.Event().wait()
        return super().embed(texts, query=query)

protocol._entry_points = lambda: {"letters": Endless}
prompt.monotonic = lambda: 0.0  # a busy machine exceeds no limit
sys.exit(runner.run("codex", HookOptions(refresh=False, budget_ms=200)))
"""


def test_a_process_whose_embedder_never_ends_answers_and_ends(
    home: Path, users_skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Letters())
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    bring_up_to_date(library_place((), None))
    paths = os.pathsep.join([str(REPOSITORY), str(PACKAGES)])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=payload("/"),
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"bisecting" in ended.stdout
