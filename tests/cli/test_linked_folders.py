"""``add --link``: the folder stays the user's own, and a link of a clone leads nowhere else."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.remotes import text
from tests.install.git.home import git_home as git_home

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")

PDF = text("pdf", "Fill in PDF forms.")


@pytest.fixture
def project(git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a user with an empty home; the working folder."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of a skill beside the project."""
    folder = tmp_path / "library"
    (folder / "skills" / "pdf").mkdir(parents=True)
    (folder / "skills" / "pdf" / "SKILL.md").write_text(PDF)
    return folder


def entries(project: Path) -> dict[str, Any]:
    skills: dict[str, Any] = json.loads((project / "skills-lock.json").read_text())["skills"]
    return skills


def test_a_linked_folder_stays_the_users_own(run: Run, project: Path, library: Path) -> None:
    add = ("add", "../library/skills/pdf", "--into", "skills", "--link", "--json")
    assert run(*add, "--dry-run").json["state"] == "linked"
    assert not (project / "skills").exists()
    assert run(*add).json["state"] == "linked"
    place = project / "skills" / "pdf"
    assert os.path.realpath(place) == os.path.realpath(library / "skills" / "pdf")
    assert not os.path.isabs(os.readlink(place))
    assert "digest" not in entries(project)["pdf"]
    (library / "skills" / "pdf" / "SKILL.md").write_text(PDF + "edited")
    assert run(*add).json["state"] == "unchanged"
    assert (library / "skills" / "pdf" / "SKILL.md").read_text() == PDF + "edited"
    done = run("add", "../library/skills/pdf", "--into", "skills")
    assert (done.code, "lies there already" in done.err) == (2, True)
    commands = (("update", "pdf", "--yes"), ("sync",), ("sync", "--frozen"), ("verify",))
    for command in (*commands, ("outdated",)):
        answer = run(*command, "--into", "skills", "--json")
        assert (answer.code, answer.json["skills"][0]["state"]) == (0, "linked")
    assert place.is_symlink()
    assert (library / "skills" / "pdf" / "SKILL.md").read_text() == PDF + "edited"


def test_a_link_to_nothing_is_a_missing_skill(run: Run, project: Path, library: Path) -> None:
    source = library / "skills" / "pdf"
    assert run("add", str(source), "--into", "skills", "--link").code == 0
    shutil.move(source, library / "moved")
    for command in (("verify",), ("sync", "--frozen"), ("sync",), ("sync", "--dry-run")):
        answer = run(*command, "--into", "skills", "--json")
        (skill,) = answer.json["skills"]
        assert (answer.code, skill["state"]) == (1, "missing")
        assert (
            "`skillyard remove --into skills pdf` and add it from where" in skill["problem"]["hint"]
        )
    for asks in ("update", "outdated"):
        assert run(asks, "--into", "skills").code != 0
    source.write_text("a file")
    assert run("verify", "--into", "skills").code == 1
    (removed,) = run("remove", "pdf", "--into", "skills", "--json").json["skills"]
    assert (removed["state"], removed["links"]) == ("removed", ["skills/pdf"])
    assert run("add", str(library / "moved"), "--into", "skills", "--link").code == 0
    assert run("verify", "--into", "skills").code == 0


def test_a_link_out_of_a_clone_is_read_only_if_the_user_added_it(
    run: Run, project: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = library / "skills" / "pdf"
    add = ("add", str(source), "--into", "skills", "--link")
    assert run(*add).code == 0
    (project / "skillyard-policy.toml").write_text('[skills]\ndenied = ["pdf"]\n')
    for checks in ("verify", "outdated"):
        (skill,) = run(checks, "--into", "skills", "--json").json["skills"]
        assert (skill["state"], skill["problem"]["code"]) == ("refused", "refused_by_policy")
    (project / "skillyard-policy.toml").unlink()
    monkeypatch.setenv("SKILLYARD_STATE", str(project.parent / "another-machine"))
    for command in (("verify",), ("sync", "--frozen"), ("sync",), ("update",), ("outdated",)):
        answer = run(*command, "--into", "skills", "--json")
        (skill,) = answer.json["skills"]
        assert (answer.code, skill["state"]) == (1, "refused")
        assert skill["problem"]["code"] == "skill_link_outside"
        hint = f"`skillyard add {os.path.realpath(source)} --into skills --link`"
        assert hint in skill["problem"]["hint"]
    assert run(*add).code == 0
    assert run("verify", "--into", "skills").code == 0
    monkeypatch.setenv("SKILLYARD_STATE", str(project.parent / "a-third-one"))
    assert run("remove", "pdf", "--into", "skills").code == 0
    assert not os.path.lexists(project / "skills" / "pdf")
    assert (source / "SKILL.md").exists()


def test_a_copy_beside_a_link_is_updated_and_removed_with_it(
    run: Run, project: Path, library: Path
) -> None:
    add = ("add", "../library/skills/pdf", "--into")
    assert run(*add, ".agents/skills").code == 0
    assert run(*add, ".claude/skills", "--link").code == 0
    copy, link = project / ".agents" / "skills" / "pdf", project / ".claude" / "skills" / "pdf"
    (library / "skills" / "pdf" / "SKILL.md").write_text(PDF + "edited")
    assert run("outdated").code == 1
    assert run("update", "--yes").code == 0
    assert (copy / "SKILL.md").read_text() == PDF + "edited"
    assert link.is_symlink()
    (planned,) = run("remove", "pdf", "--dry-run", "--json").json["skills"]
    assert link.is_symlink()
    (removed,) = run("remove", "pdf", "--json").json["skills"]
    assert (planned["state"], removed["state"]) == ("planned", "removed")
    for each in (planned, removed):
        assert [folder["folder"] for folder in each["folders"]] == [".agents/skills/pdf"]
        assert each["links"] == [".claude/skills/pdf"]
    assert not copy.exists()
    assert not os.path.lexists(link)
    assert (library / "skills" / "pdf" / "SKILL.md").read_text() == PDF + "edited"
