"""The hook counts the user's feedback, and answers without it when its file cannot be read."""

from __future__ import annotations

from pathlib import Path

from skillyard.hosts.decisions.files import feedback_path
from tests.hosts.hook.conftest import Hook, payload


def test_a_broken_file_of_feedback_does_not_fail_the_hook(
    hook: Hook, users_skill: Path, tmp_path: Path
) -> None:
    before = hook(payload(tmp_path))
    Path(feedback_path()).parent.mkdir(parents=True, exist_ok=True)
    Path(feedback_path()).mkdir()
    after = hook(payload(tmp_path))
    assert (after.code, after.context) == (0, before.context)
    assert after.skill == "bisecting"
