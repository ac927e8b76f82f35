"""What a stopped run leaves of a skill that the lock file does not name yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.install.copies import placement
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
