"""What the hook remembers from one prompt of a session to the next."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from skillyard.hosts.follow_up import Memory
from skillyard.hosts.hook import runner
from skillyard.hosts.hook.choice import HookOptions
from skillyard.hosts.hook.prompt import PromptBudget
from skillyard.hosts.hook.session import MAX_SESSIONS, recall, remember
from skillyard.install.policy.library import open_catalog
from tests.cli.conftest import Run, run
from tests.configuration import configure
from tests.hosts.hook.conftest import PROMPT, add_skill, payload

__all__ = ["run"]

AGAIN = "skillyard: the skill `bisecting` from earlier in this session fits here too"
SPONGE = "bake a sponge cake for the whole family"


def said(prompt: str, session: str = "s", host: str = "claude-code", **fields: str) -> str:
    """Return the answer of the hook, with all that it may say."""
    options = HookOptions(refresh=False, budget_ms=60_000, max_chars=2_000)
    data = payload("/", prompt, session_id=session, **fields)
    return runner.answer(host, options, PromptBudget(options.budget_ms), data)


def test_a_follow_up_names_the_skill_of_its_task_and_sends_nothing_twice(users_skill: Path) -> None:
    first = said(PROMPT)
    assert "Do it." in first
    for prompt in ("yes", "the second one", PROMPT):
        assert AGAIN in said(prompt)
        assert "Do it." not in said(prompt)
        assert str(users_skill) in said(prompt)
    assert said("yes", "another session") == ""
    assert said("yes", agent_id="a subagent") == ""
    assert said(PROMPT, "another session") == first


def test_a_follow_up_that_keeps_the_skill_is_no_request_without_one(
    users_skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    log = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": str(log), "text": True})
    for prompt in (PROMPT, "semicolon", "the second one", SPONGE):
        said(prompt)
    usage = run("usage", "--log", str(log), "--json").json
    assert (usage["decisions"], usage["fired"]) == (2, 1)
    assert [group["requests"] for group in usage["groups"]] == [[SPONGE]]


def test_thanks_pause_a_task_and_another_one_ends_it(users_skill: Path) -> None:
    said(PROMPT)
    assert said("thanks") == ""
    assert AGAIN in said("yes")
    assert said("<system-reminder>cake</system-reminder>") == ""
    assert AGAIN in said("yes")
    assert said(SPONGE) == ""
    assert said("yes") == ""
    assert AGAIN in said(PROMPT)


def test_a_skill_that_changes_or_goes_is_not_taken_for_the_one_before(
    home: Path, users_skill: Path
) -> None:
    said(PROMPT)
    add_skill(users_skill.parent.parent, "bisecting", "Finds the commit that broke.", "Do it well.")
    open_catalog([], scopes=("user",))
    os.utime(users_skill, (1, 1))
    assert f"{AGAIN}; it has changed, so read it again" in said("yes")
    assert f"{AGAIN}. Its file" in said("yes")
    users_skill.unlink()
    assert said("yes") == ""


@pytest.mark.parametrize(
    ("host", "prompt", "is_loaded"),
    [
        ("claude-code", f"/bisecting {PROMPT}", True),
        ("claude-code", f"/plugin:bisecting {PROMPT}", True),
        ("claude-code", f"what does /bisecting do? {PROMPT}", False),
        ("codex", f"{PROMPT} with $bisecting", True),
        ("codex", PROMPT, False),
    ],
)
def test_what_the_host_loads_itself_gets_no_second_copy(
    host: str, prompt: str, is_loaded: bool, home: Path
) -> None:
    folder = home / (".claude" if host == "claude-code" else ".agents") / "skills"
    add_skill(folder, "bisecting", "Finds the commit that broke the build.")
    open_catalog([], scopes=("user",))
    assert bool(said(prompt, host=host)) is not is_loaded
    assert AGAIN in said("yes", host=host)


def test_memories_are_few_private_and_never_in_the_way(tmp_path: Path) -> None:
    memory = Memory("csv", "/a/csv/SKILL.md", 3, ("ab", "cd"))
    for number in range(MAX_SESSIONS + 5):
        remember(f"session {number}", memory)
        assert recall(f"session {number}") == memory
    files = list((tmp_path / "state" / "sessions").iterdir())
    assert len(files) == MAX_SESSIONS
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    for file in files:
        file.write_text('["csv", 5]', encoding="utf-8")
    assert recall(f"session {MAX_SESSIONS}") == Memory()
    assert recall("") == Memory()
