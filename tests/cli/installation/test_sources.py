"""The folder that a skill was added from is its author's: no command touches it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from skillyard.install.copies.folder_hash import folder_hash
from tests.cli.conftest import Run
from tests.cli.remotes import text, tree_of
from tests.install.git.home import git_home as git_home

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")

CLAUDE, COPILOT = ("--agent", "claude-code"), ("--agent", "github-copilot")


class Form(NamedTuple):
    """A skill that is added from a folder in which hosts look."""

    source: str
    add: tuple[str, ...]
    places: tuple[str, ...]
    """What ``add`` writes."""

    @property
    def scope(self) -> tuple[str, ...]:
        return ("--global",) if "--global" in self.add else ()


FORMS = {
    "copy": Form("./skills/pay", CLAUDE, (".claude/skills/pay",)),
    "link": Form("./skills/pay", (*CLAUDE, "--link"), (".claude/skills/pay",)),
    "two hosts": Form(
        "./skills/pay", (*CLAUDE, *COPILOT), (".claude/skills/pay", ".agents/skills/pay")
    ),
    "shared folder": Form("./.agents/skills/pay", CLAUDE, (".claude/skills/pay",)),
    "folder of a host": Form("./.github/skills/pay", CLAUDE, (".claude/skills/pay",)),
    "user": Form("~/.cursor/skills/pay", (*CLAUDE, "--global"), ("~/.claude/skills/pay",)),
}


@pytest.fixture
def project(git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a user with an empty home; the working folder."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def write(folder: str | Path, body: str = "Steps.") -> Path:
    """Write a skill of the user's, and return its folder."""
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    (path / "SKILL.md").write_text(text(path.name, f"Does {path.name}.", body))
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("clone", [False, True])
def test_the_folder_that_a_skill_was_added_from_is_never_touched(
    form: str, clone: bool, run: Run, project: Path, tmp_path: Path
) -> None:
    folder, add, paths = FORMS[form]
    scope = FORMS[form].scope
    source, sibling = write(folder), write(Path(folder).parent / "other")
    places = [Path(path).expanduser() for path in paths]
    assert run("add", folder, *add).code == 0
    if clone and not scope:  # the lock alone says what is what
        shutil.rmtree(tmp_path / "state")

    def state(command: str, *more: str) -> str:
        answer = run(command, *scope, *more, "--json").json
        assert answer.get("extra", []) == [], command
        (skill,) = answer["skills"]
        assert isinstance(skill["state"], str)
        return skill["state"]

    linked = "--link" in add
    write(folder, "Edited steps.")
    (source / "notes.md").write_text("Mine.")
    mine = tree_of(source), tree_of(sibling)
    assert state("verify") == ("linked" if linked else "current")
    assert run("verify", *scope).code == 0
    assert state("outdated") == ("linked" if linked else "outdated")
    assert state("update", "--yes") == ("linked" if linked else "updated")
    assert all(tree_of(place) == mine[0] for place in places)
    assert state("sync") == ("linked" if linked else "current")
    assert state("remove", "pay", "--dry-run") == "planned"
    assert state("remove", "pay", "--backup") == "removed"
    assert (tree_of(source), tree_of(sibling)) == mine
    assert not any(map(os.path.lexists, places))


def test_a_missing_copy_is_not_its_source(run: Run, project: Path) -> None:
    """``sync`` would write to ``.agents/skills``, where the source is."""
    source = write(".agents/skills/pay")
    assert run("add", "./.agents/skills/pay", *CLAUDE).code == 0
    shutil.rmtree(project / ".claude")
    mine = tree_of(source)
    for command in (("sync",), ("update", "--yes"), ("verify",)):
        done = run(*command)
        assert (done.code, "fix: `skillyard remove pay` drops its entry" in done.out) == (1, True)
    assert run("remove", "pay", "--backup").code == 0
    assert tree_of(source) == mine


def test_a_folder_that_only_has_the_name_is_extra_until_it_is_added(
    run: Run, project: Path
) -> None:
    write("lib/pay")
    same, other = project / ".cursor" / "skills" / "pay", write(".windsurf/skills/pay", "Mine.")
    shutil.copytree("lib/pay", same)
    assert run("add", "./lib/pay", *CLAUDE).code == 0
    verified = run("verify", "--json")
    assert (verified.code, verified.json["skills"][0]["state"]) == (1, "current")
    assert verified.json["extra"] == [".cursor/skills/pay", ".windsurf/skills/pay"]
    added = run("add", "./lib/pay", "--into", ".cursor/skills", "--json").json
    assert added["state"] == "unchanged"
    assert run("verify", "--json").json["extra"] == [".windsurf/skills/pay"]
    assert run("remove", "pay").code == 0
    assert (same.exists(), tree_of(other)["SKILL.md"].endswith(b"Mine.\n")) == (False, True)


def test_the_folder_of_skills_that_the_installer_names_holds_the_source(
    run: Run, project: Path
) -> None:
    """``npx skills add ./`` notes the folder of all skills; nothing is noted on this machine."""
    source = write("skills/pay")
    shutil.copytree(source, project / ".claude" / "skills" / "pay")
    entry = {"source": "./", "sourceType": "local", "computedHash": folder_hash(tree_of(source))}
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pay": entry}}))
    (source / "SKILL.md").write_text(text("pay", "Edited."))
    (skill,) = run("verify", "--json").json["skills"]
    assert (skill["state"], skill["folders"]) == ("unpinned", [".claude/skills/pay"])
    assert run("update", "--yes").code == 0
    assert run("remove", "pay").code == 0
    assert list(tree_of(project)) == ["skills-lock.json", "skills/pay/SKILL.md"]
