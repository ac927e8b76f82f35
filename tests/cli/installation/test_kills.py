"""Real processes killed at random moments, and pairs that run at once: nothing is lost or torn."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skillyard.base.io.folder_manifest import manifest_of
from skillyard.install.copies.folder_hash import is_folder_hash_of
from skillyard.install.copies.installed import LIMITS
from skillyard.install.copies.lockfile import read_project_lock
from skillyard_testkit import FakeServers
from tests.cli.installation.forks import Forks
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers
from tests.requirements import requirement

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no child can be forked")

ADDED, UPDATED, MISSING, REMOVED, OWN = "docx", "pdf", "one", "archive", "own"
FOLDERS = (".agents/skills", ".claude/skills")
SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
MINE = b"what I wrote"
COMMANDS = (
    ("add", ADDED, "--into", FOLDERS[0]),
    ("update", UPDATED, OWN, "--yes"),
    ("sync",),
    ("remove", REMOVED),
    ("remove", OWN),
)
SOURCE = Path(".github/skills") / OWN
SOURCE_FILES = {"SKILL.md": text(OWN, "Mine, edited.").encode(), "x.md": b"More."}
OTHERS = {"source": "x/y", "sourceType": "gitlab", "mine": {"z": [1.5, None]}}


class Scene(NamedTuple):
    """A project before a command: what is outdated, missing, to be added and to be removed."""

    before: Path
    """It is copied for each run."""
    forks: Forks

    def lasts_s(self, command: tuple[str, ...]) -> float:
        project = _copied(self.before, self.before.with_name(f"timed-{command[:2]}"))
        start = time.perf_counter()
        assert self.forks.run(project, *command) in (0, 1)
        return time.perf_counter() - start


@pytest.fixture
def scene(tmp_path: Path, remotes: FakeServers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    before = tmp_path / "before"
    (before / ".git").mkdir(parents=True)
    remotes.add_repository(
        "acme/archive", {"SKILL.md": text(REMOVED, "To be removed."), "a/b": "c"}
    )
    with Forks(before) as one:
        for folder in FOLDERS:
            assert one.run(before, "add", "acme/skills/pdf", "--into", folder) == 0
        for name in ("acme/one", "acme/archive"):
            assert one.run(before, "add", name, "--into", FOLDERS[0]) == 0
        (before / SOURCE).mkdir(parents=True)
        (before / SOURCE / "SKILL.md").write_text(text(OWN, "Mine."))
        assert one.run(before, "add", f"./{SOURCE}", "--into", FOLDERS[0]) == 0
        for path, data in SOURCE_FILES.items():
            (before / SOURCE / path).write_bytes(data)
        lock = before / "skills-lock.json"
        shape = json.loads(lock.read_text())
        shape["skills"]["theirs"] = OTHERS
        lock.write_text(json.dumps(shape))
        shutil.rmtree(before / FOLDERS[0] / MISSING)
        remotes.add_repository(
            "acme/skills",
            {
                "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms, newer."),
                "skills/docx/SKILL.md": text("docx", "Write Word documents."),
                "skills/docx/references/x.md": "More.",
            },
        )
        forget_remote_answers()
        yield Scene(before, one)


def _copied(before: Path, project: Path) -> Path:
    shutil.copytree(before, project)
    return project


def _check(project: Path, seed: object) -> None:
    """Every entry has its folders as it says, nothing has no entry, and no run left anything."""
    lock = read_project_lock(str(project / "skills-lock.json"))
    locked = {skill.name: skill for skill in lock.skills}
    theirs: dict[str, Any] = locked.pop("theirs").to_json()
    assert theirs == OTHERS, seed
    for into in map(project.joinpath, FOLDERS):
        names = {entry.name for entry in into.iterdir()} if into.is_dir() else set()
        assert names <= set(locked), (seed, names)
        for name in names:
            folder, expected = str(into / name), locked[name].computed_hash or ""
            assert is_folder_hash_of(expected, folder, manifest_of(folder, LIMITS)), (seed, name)
    for name in locked:
        assert (project / FOLDERS[0] / name / "SKILL.md").is_file(), (seed, name)
    assert {entry.name for entry in project.iterdir()} <= {
        ".git",
        ".agents",
        ".claude",
        ".github",
        "skills-lock.json",
    }, seed
    assert tree_of(project / SOURCE) == SOURCE_FILES, seed


@requirement("safety:add:completed", "safety:installed:kills")
@pytest.mark.parametrize("kills", [12, pytest.param(200 if SOAK else 30, marks=pytest.mark.slow)])
def test_random_kills_end_before_or_after(kills: int, scene: Scene, tmp_path: Path) -> None:
    """After a kill the next ``sync`` makes lock and folders one again."""
    chance = random.Random(kills)
    lasts_s = {command: scene.lasts_s(command) for command in COMMANDS}
    killed = 0
    for number in range(kills):
        command = COMMANDS[number % len(COMMANDS)]
        project = _copied(scene.before, tmp_path / f"kill-{number}")
        after_s = chance.random() * lasts_s[command]
        killed += scene.forks.kill(project, after_s, *command)
        assert scene.forks.run(project, "sync") == 1, number  # that of another kind is refused
        _check(project, (number, command, after_s))
        assert scene.forks.run(project, *command) in (0, 1, 2), number
        _check(project, (number, command, after_s))
        shutil.rmtree(project)
    assert killed >= kills // 4  # later runs may be faster than the one that was timed


@requirement("safety:installed:kills")
@pytest.mark.parametrize(
    ("commands", "step"),
    [
        pytest.param((COMMANDS[1], COMMANDS[4]), 47, id="some"),
        *(
            pytest.param([each], 1 if SOAK else 8, id=" ".join(each), marks=pytest.mark.slow)
            for each in COMMANDS
        ),
    ],
)
def test_a_kill_before_any_change_of_a_file_ends_before_or_after(
    commands: Sequence[tuple[str, ...]], step: int, scene: Scene, tmp_path: Path
) -> None:
    for number, command in enumerate(commands):
        change = 1 + number % step
        while True:
            # A folder of its own: what earlier runs noted on one would hide what is lost.
            project = _copied(scene.before, tmp_path / f"killed-{number}-{change}")
            killed = scene.forks.kill_at(project, change, *command)
            assert scene.forks.run(project, "sync") == 1, (command, change)
            _check(project, (command, change))
            assert scene.forks.run(project, *command) in (0, 1, 2), (command, change)
            _check(project, (command, change))
            shutil.rmtree(project)
            if not killed:
                break
            change += step
        assert change > step, command


@requirement("safety:add:concurrent-edits", "safety:installed:kills")
@pytest.mark.parametrize("kills", [8, pytest.param(60 if SOAK else 20, marks=pytest.mark.slow)])
def test_an_edit_at_the_moment_of_a_kill_is_never_lost(
    kills: int, scene: Scene, tmp_path: Path
) -> None:
    chance = random.Random(kills + 1)
    lasts_s = {command: scene.lasts_s(command) for command in (COMMANDS[1], COMMANDS[3])}
    for number in range(kills):
        command, name = (COMMANDS[1], UPDATED) if number % 2 else (COMMANDS[3], REMOVED)
        project = _copied(scene.before, tmp_path / f"edit-{number}")
        after_s = chance.random() * lasts_s[command]
        scene.forks.kill(project, after_s, *command)
        try:
            (project / FOLDERS[0] / name / "mine").write_bytes(MINE)
        except FileNotFoundError:  # it is aside, or gone
            continue
        for again in (("sync",), command, ("sync",)):
            assert scene.forks.run(project, *again) in (0, 1), (number, again)
        mine = [path for path in project.rglob("mine") if path.read_bytes() == MINE]
        assert len(mine) == 1, (number, tree_of(project))


@requirement("safety:installed:pairs")
@pytest.mark.parametrize("pairs", [6, pytest.param(50 if SOAK else 16, marks=pytest.mark.slow)])
def test_pairs_that_run_at_once_leave_one_state(pairs: int, scene: Scene, tmp_path: Path) -> None:
    chance = random.Random(pairs)
    with Forks(tmp_path) as other:
        for number in range(pairs):
            commands = chance.choices(COMMANDS, k=2)
            project = _copied(scene.before, tmp_path / f"pair-{number}")
            scene.forks.start(project, *commands[0])
            other.start(project, *commands[1])
            codes = scene.forks.end(), other.end()
            assert set(codes) <= {0, 1, 2}, (number, commands, codes)
            assert scene.forks.run(project, "sync") == 1, number
            _check(project, (number, commands))
            shutil.rmtree(project)
