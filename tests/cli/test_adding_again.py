"""``add`` over what is there: the lock pins, nothing of the user's is lost, stopped runs end."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.copies import placement
from skillyard.install.copies.folder_hash import folder_hash
from skillyard.install.copies.installed import Installed, InstallRefused
from skillyard.install.copies.lockfile import read_project_lock
from skillyard.install.copies.placement import take_aside
from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.install.copies.placing import place
from tests.remote_answers import forget_remote_answers
from tests.requirements import requirement
from tests.shared_data import PACKAGES

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

NEWER = text("pdf", "Fill in PDF forms, newer.")
MINE = b"what I wrote"


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """The skills of a project, whose lock lies above them."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project" / "skills"


def move_on(run: Run, remotes: FakeServers) -> None:
    """Let the skill's repository have another version."""
    remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": NEWER})
    forget_remote_answers()


def write(path: Path, data: bytes = MINE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


USERS: dict[str, Callable[[Path], None]] = {
    "a repository": lambda folder: write(folder / ".git" / "HEAD"),
    "node_modules": lambda folder: write(folder / "scripts" / "node_modules" / "x" / "index.js"),
    "a link": lambda folder: (folder / "notes").symlink_to("../notes"),
    "a link in a folder": lambda folder: (folder / "references" / "n").symlink_to("/etc/passwd"),
    "an empty folder": lambda folder: (folder / "empty").mkdir(),
    "an ignored file": lambda folder: write(folder / ".gitignore"),
    "a file beside compiled ones": lambda folder: write(folder / "__pycache__" / "notes.md"),
    "a file": lambda folder: write(folder / "SKILL.md"),
}


@requirement("safety:add:every-entry")
@pytest.mark.parametrize("locked_by", ["skillyard", "the installer"])
def test_whatever_the_user_put_into_the_folder_stays(
    run: Run, remotes: FakeServers, tmp_path: Path, locked_by: str, subtests: pytest.Subtests
) -> None:
    for number, (what, put) in enumerate(USERS.items()):
        with subtests.test(what):
            project = tmp_path / str(number)
            folder = project / "skills" / "pdf"
            (project / ".git").mkdir(parents=True)
            lock = Path(run("add", "pdf", "--into", str(folder.parent), "--json").json["lock"])
            if locked_by == "the installer":
                shape = json.loads(lock.read_text())
                del shape["skills"]["pdf"]["commit"], shape["skills"]["pdf"]["digest"]
                lock.write_text(json.dumps(shape))
            put(folder)
            before = sorted((p, p.is_symlink() or p.is_dir() or p.read_bytes())
                            for p in folder.rglob("*"))  # fmt: skip
            remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": f"{NEWER}{number}"})
            forget_remote_answers()
            done = run("add", "pdf", "--into", str(folder.parent))
            assert (done.code, "keep your changes elsewhere" in done.err) == (2, True)
            after = sorted((p, p.is_symlink() or p.is_dir() or p.read_bytes())
                           for p in folder.rglob("*"))  # fmt: skip
            assert after == before
            remotes.add_repository(
                "acme/skills",
                {
                    "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
                    "skills/pdf/references/forms.md": "Forms.",
                    "skills/pdf/scripts/fill.py": "print()",
                },
            )
            forget_remote_answers()


@requirement("safety:add:concurrent-edits")
def test_a_file_saved_between_check_and_rename_stays(
    run: Run, remotes: FakeServers, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "pdf", "--into", str(into))
    move_on(run, remotes)
    real = take_aside

    def saved_before(folder: str, name: str, there: Any, **digests: str) -> None:
        write(into / "pdf" / "SKILL.md")
        real(folder, name, there, **digests)

    monkeypatch.setattr(placement, "take_aside", saved_before)
    done = run("add", "pdf", "--into", str(into))
    assert (done.code, "was changed meanwhile" in done.err) == (2, True)
    assert (into / "pdf" / "SKILL.md").read_bytes() == MINE
    assert [entry.name for entry in into.iterdir()] == ["pdf"]


@requirement("safety:lock:pins")
def test_a_locked_skill_whose_folder_is_gone_comes_back_as_it_was(
    run: Run, remotes: FakeServers, into: Path
) -> None:
    first = run("add", "pdf", "--into", str(into), "--json").json
    locked, files = Path(first["lock"]).read_bytes(), tree_of(into)
    shutil.rmtree(into)
    move_on(run, remotes)
    again = run("add", "pdf", "--into", str(into), "--json").json
    assert (again["state"], again["digest"]) == ("added", first["digest"])
    assert tree_of(into) == files
    assert Path(first["lock"]).read_bytes() == locked
    assert run("add", "pdf", "--into", str(into), "--json").json["state"] == "replaced"
    assert (into / "pdf" / "SKILL.md").read_text() == NEWER


@requirement("safety:lock:pins")
def test_what_is_not_what_the_lock_pins_is_not_written(
    run: Run, remotes: FakeServers, into: Path
) -> None:
    lock = Path(run("add", "pdf", "--into", str(into), "--json").json["lock"])
    shutil.rmtree(into)
    shape = json.loads(lock.read_text())
    shape["skills"]["pdf"]["digest"] = f"sha256:{'0' * 64}"
    lock.write_text(json.dumps(shape))
    before = lock.read_bytes()
    done = run("add", "pdf", "--into", str(into))
    assert (done.code, "not what the lock pins" in done.err) == (2, True)
    assert not (into / "pdf").exists()
    shape["skills"]["pdf"]["source"] = "somebody/else"
    lock.write_text(json.dumps(shape))
    done = run("add", "pdf", "--into", str(into))
    assert (done.code, "from somebody/else" in done.err) == (2, True)
    assert not (into / "pdf").exists()
    assert before != lock.read_bytes()


@requirement("safety:add:completed")
def test_a_run_killed_between_rename_and_lock_is_undone_by_the_next(
    run: Run, remotes: FakeServers, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "pdf", "--into", str(into))
    move_on(run, remotes)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skillyard.install.copies.lockfile.ProjectLock.note", killed)
        run("add", "pdf", "--into", str(into))
    assert (into / "pdf" / "SKILL.md").read_text() == NEWER
    remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "The third.")})
    forget_remote_answers()
    done = run("add", "pdf", "--into", str(into), "--json")
    assert done.json["state"] == "replaced"
    (locked,) = read_project_lock(done.json["lock"]).skills
    assert locked.digest == done.json["digest"]
    assert [entry.name for entry in into.iterdir()] == ["pdf"]


@requirement("safety:add:completed")
def test_what_a_stopped_run_had_moved_aside_is_put_back_and_said(
    run: Run, remotes: FakeServers, into: Path
) -> None:
    run("add", "pdf", "--into", str(into))
    (into / "pdf").rename(into / ".skillyard-swap-pdf")
    assert run("add", "pdf", "--into", str(into), "--json").json["state"] == "restored"
    assert [entry.name for entry in into.iterdir()] == ["pdf"]


VERSIONS = [{"SKILL.md": f"---\nname: a\ndescription: v{n}\n---\n".encode(), f"f{n}": b"x" * 99}
            for n in range(3)]  # fmt: skip

_ADDING = """
import sys
from skillyard.install.copies.installed import Installed
from tests.cli.test_adding_again import VERSIONS
from tests.install.copies.placing import place
from skillyard.install.copies.folder_hash import folder_hash
print(flush=True)
place(VERSIONS[1], sys.argv[1], "a", installed=Installed(folder_hash(VERSIONS[0])))
"""
RUNS = 200 if os.environ.get("SKILLYARD_SOAK") else 20


@pytest.mark.slow
@requirement("safety:add:concurrent-edits")
def test_random_kills_lose_nothing(tmp_path: Path) -> None:
    """A process is killed at a random moment while somebody edits; the edit is there afterwards."""
    seed = random.randrange(1 << 30) if os.environ.get("SKILLYARD_SOAK") else 17
    chance = random.Random(seed)
    for number in range(RUNS):
        into = tmp_path / str(number)
        place(VERSIONS[0], str(into), "a")
        edited = chance.random() < 0.5
        process = subprocess.Popen(
            [sys.executable, "-c", _ADDING, str(into)], stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{os.getcwd()}"},
        )  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()  # it has loaded everything
        end = time.perf_counter() + chance.random() * 0.05
        while time.perf_counter() < end:
            pass
        saved = not edited
        while not saved:
            with suppress(FileNotFoundError):  # the folder was moved aside at that moment
                write(into / "a" / "mine")
                saved = True
        process.send_signal(signal.SIGKILL)
        process.communicate()
        held = VERSIONS[1] if (into / "a" / "f1").exists() else VERSIONS[0]
        for _ in range(2):  # the next run mends, and refuses where something was edited
            try:
                place(VERSIONS[2], str(into), "a",
                      installed=Installed(folder_hash(held)))  # fmt: skip
            except InstallRefused:
                assert edited, seed
        mine = [path for path in into.rglob("mine") if path.read_bytes() == MINE]
        assert len(mine) == edited, (seed, number)
        kept = tree_of(into / "a")
        kept.pop("mine", None)
        backup = tmp_path / f"{number}-kept" / "a"  # the file was saved while nothing was there
        assert (kept or tree_of(backup)) in VERSIONS, (seed, number)


@pytest.mark.slow
@requirement("safety:add:concurrent-edits")
def test_random_edits_are_never_lost(tmp_path: Path) -> None:
    """A thread saves a file at a random moment of a replacement."""
    chance = random.Random(7)
    for number in range(RUNS):
        into = tmp_path / str(number)
        held = place(VERSIONS[0], str(into), "a")
        pause = chance.random() * 0.02

        def save(into: Path = into, pause: float = pause) -> None:
            end = time.perf_counter() + pause
            while time.perf_counter() < end:
                pass
            while True:
                try:
                    (into / "a" / "SKILL.md").write_bytes(MINE)
                except FileNotFoundError:  # between two renames
                    continue
                return

        thread = threading.Thread(target=save)
        thread.start()
        try:
            place(VERSIONS[1], str(into), "a", installed=Installed(held.hash))
        except InstallRefused:
            pass
        thread.join()
        saved = [p for p in into.rglob("SKILL.md") if p.read_bytes() == MINE]
        assert len(saved) == 1, number
