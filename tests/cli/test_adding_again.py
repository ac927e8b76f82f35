"""``add`` over what is there: the lock pins, nothing of the user's is lost, stopped runs end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.copies import placement
from skillyard.install.copies.placement import take_aside
from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers
from tests.requirements import requirement

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
def test_what_a_stopped_run_had_moved_aside_is_put_back_and_said(
    run: Run, remotes: FakeServers, into: Path
) -> None:
    run("add", "pdf", "--into", str(into))
    (into / "pdf").rename(into / ".skillyard-swap-pdf")
    assert run("add", "pdf", "--into", str(into), "--json").json["state"] == "unchanged"
    assert [entry.name for entry in into.iterdir()] == ["pdf"]
