"""What a stopped run leaves of a skill that the lock file does not name yet."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

import pytest

from skillyard.install.copies import lockfile, placement
from skillyard.install.operations.folders import sync_skills
from skillyard.install.operations.project import open_project
from tests.install.copies.placing import place


def test_a_new_skill_that_was_being_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    into = tmp_path / "project/.agents/skills"
    into.mkdir(parents=True)
    (tmp_path / "project/skills-lock.json").write_text('{"version": 1, "skills": {}}')

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(placement, "_write_all", killed)
        stopped.setattr("shutil.rmtree", lambda *_, **__: None)  # a kill ends it earlier
        with pytest.raises(KeyboardInterrupt):
            place({"SKILL.md": b"---\nname: a\n---\n"}, str(into), "a")
    assert any(entry.name.startswith(".skillyard-new-a-") for entry in into.iterdir())
    with monkeypatch.context() as stopped:
        stopped.setattr(placement, "note_installed", killed)
        with pytest.raises(KeyboardInterrupt):
            place({"SKILL.md": b"---\nname: b\n---\n"}, str(into), "b")
    assert (into / "b").exists()
    (into / ".skillyard-swap-cloned").mkdir()

    open_project(str(into)).complete()

    assert [entry.name for entry in into.iterdir()] == [".skillyard-swap-cloned"]


def test_where_no_lock_can_be_made_what_another_run_writes_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    written = tmp_path / "skills/.skillyard-new-a-0badcafe"
    written.mkdir(parents=True)

    def no_locks(*_: object, **__: object) -> None:
        raise OSError("no locks here")

    with monkeypatch.context() as network_drive:
        network_drive.setattr(lockfile, "file_lock", no_locks)
        place({"SKILL.md": b"---\nname: a\n---\n"}, str(tmp_path / "skills"), "a")
    assert written.exists()
    place({"SKILL.md": b"---\nname: a\n---\n"}, str(tmp_path / "skills"), "a")
    assert not written.exists()


def test_sync_says_why_a_stopped_run_cannot_be_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    into = tmp_path / "project/skills"
    (into / ".skillyard-swap-a").mkdir(parents=True)
    entry = '{"source": "acme/a", "sourceType": "github", "computedHash": ""}'
    (tmp_path / "project/skills-lock.json").write_text(
        f'{{"version": 1, "skills": {{"a": {entry}}}}}'
    )

    def full(*_: object, **__: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("skillyard.install.operations.project.complete", full)
    (skill,) = sync_skills(str(into)).skills
    assert skill.state == "interrupted"
    assert skill.problem is not None
    assert "No space left on device" in skill.problem.message
