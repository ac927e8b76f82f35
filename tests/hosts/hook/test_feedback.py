"""The hook counts the user's feedback, and answers without it when its file cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard.engine.ranking.hybrid.constants import FEEDBACK_POINTS
from skillyard.hosts.decisions.feedback_file import add_feedback, feedback_path
from tests.configuration import configure
from tests.hosts.hook.conftest import PROMPT, Hook, payload


def test_feedback_is_among_the_signals_of_a_decision(
    hook: Hook, users_skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": str(log)})
    add_feedback("bisecting", PROMPT, right=False)
    assert hook(payload(tmp_path)).code == 0
    entry = json.loads(log.read_text(encoding="utf-8"))
    match = (entry["selected"] + entry["runners_up"])[0]
    assert match["signals"]["feedback"] == -FEEDBACK_POINTS


def test_a_broken_file_of_feedback_does_not_fail_the_hook(
    hook: Hook, users_skill: Path, tmp_path: Path
) -> None:
    before = hook(payload(tmp_path))
    Path(feedback_path()).parent.mkdir(parents=True, exist_ok=True)
    Path(feedback_path()).mkdir()
    after = hook(payload(tmp_path))
    assert (after.code, after.context) == (0, before.context)
    assert after.skill == "bisecting"
