"""What a stopped run leaves of a skill that the lock file does not name yet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.remote.install import journal, placement
from skillyard.remote.install.swap import BESIDE
from skillyard.usecases.installation.project import open_project


def test_a_new_skill_that_was_being_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    into = tmp_path / "project/.agents/skills"
    into.mkdir(parents=True)
    (tmp_path / "project/skills-lock.json").write_text('{"version": 1, "skills": {}}')

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(placement, "_write_all", killed)
        stopped.setattr("shutil.rmtree", lambda *_, **__: None)  # a kill ends it earlier
        with pytest.raises(KeyboardInterrupt):
            placement.place({"SKILL.md": b"---\nname: a\n---\n"}, str(into), "a")
    assert any(entry.name.startswith(f"{BESIDE}a-") for entry in into.iterdir())
    (into / f"{BESIDE}cloned-x7").mkdir()

    def stopped_write(path: str, _: bytes) -> None:
        folder, name = os.path.split(path)
        Path(folder, f".{name}.1-ab.tmp").touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(journal, "atomic_write", stopped_write)
        with pytest.raises(KeyboardInterrupt):
            placement.place({"SKILL.md": b"---\nname: b\n---\n"}, str(into), "b")
    assert any("journal-b" in entry.name for entry in into.iterdir())

    open_project(str(into)).complete()

    assert [entry.name for entry in into.iterdir()] == [f"{BESIDE}cloned-x7"]
