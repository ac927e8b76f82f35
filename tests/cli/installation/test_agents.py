"""``sync --agent``: what a clone lacks where a host looks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from skillyard_testkit import FakeServers
from tests.cli.installation.project import NEWER, Project
from tests.cli.installation.project import project as project
from tests.cli.remotes import remotes as remotes

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
CLAUDE = ("--agent", "claude-code")


def test_a_clone_of_the_lock_alone_gets_the_folders_that_add_makes(project: Project) -> None:
    shutil.rmtree(project.skills.parent)
    before = project.tree()
    assert project.run("sync", "--frozen", *CLAUDE).code == 1
    assert project.run("sync", "--dry-run", *CLAUDE).code == 0
    assert project.tree() == before
    done = project.run("sync", *CLAUDE)
    assert (done.code, "installed  pdf  .claude/skills/pdf" in done.out) == (0, True)
    assert (project.root / ".claude" / "skills" / "pdf" / "SKILL.md").is_file()
    assert not project.skills.exists()
    for command in (("sync", "--frozen", *CLAUDE), ("sync", "--frozen"), ("verify",)):
        assert project.run(*command).code == 0


def test_a_skill_that_lies_elsewhere_gets_a_link_without_a_network(
    project: Project, remotes: FakeServers
) -> None:
    requests, before = len(remotes.requests), project.tree()
    assert project.run("sync", "--frozen").code == 0
    done = project.run("sync", "--frozen", *CLAUDE)
    assert (done.code, "fix: `skillyard sync --agent claude-code`" in done.out) == (1, True)
    (_, pdf) = project.run("sync", "--dry-run", *CLAUDE, "--json").json["skills"]
    assert (pdf["state"], pdf["links"]) == ("planned", [".claude/skills/pdf"])
    assert project.tree() == before
    assert not (project.root / ".claude").exists()
    assert project.state("sync", *CLAUDE) == "installed"
    assert (project.root / ".claude" / "skills" / "pdf" / "SKILL.md").is_file()
    assert project.run("sync", "--frozen", *CLAUDE).code == 0
    assert project.state("sync", *CLAUDE) == "current"
    assert project.run("sync", "--agent", "cursor").code == 0  # it reads .agents/skills
    assert sorted(os.listdir(project.root)) == [".agents", ".claude", ".git", "skills-lock.json"]
    assert len(remotes.requests) == requests
    assert project.run("remove", "pdf", "docx").code == 0
    assert list((project.root / ".claude" / "skills").iterdir()) == []


def test_add_goes_through_such_a_link_to_the_folder(project: Project) -> None:
    shutil.rmtree(project.skills.parent)
    assert project.run("sync", *CLAUDE).code == 0
    assert project.run("sync", "--agent", "codex").code == 0
    assert (project.skills / "pdf").is_symlink()
    project.publish(**{"SKILL.md": NEWER})
    document = project.run("add", "pdf", "--agent", "codex", "--json").json
    assert (document["state"], document["folder"]) == ("replaced", ".claude/skills/pdf")
    assert (project.skills / "pdf").is_symlink()
    assert (project.skills / "pdf" / "SKILL.md").read_text() == NEWER


def test_what_is_in_the_place_of_a_link_stays_and_stops_no_other(project: Project) -> None:
    place = project.root / ".claude" / "skills"
    place.mkdir(parents=True)
    (place / "pdf").symlink_to(project.root / ".git")
    done = project.run("sync", *CLAUDE, "--json")
    states = {each["name"]: each["state"] for each in done.json["skills"]}
    assert (done.code, states["docx"], states["pdf"]) == (1, "installed", "refused")
    assert os.readlink(place / "pdf") == str(project.root / ".git")
    (place / "pdf").unlink()
    (place / "docx").unlink()
    (place / "docx").write_text("mine")
    done = project.run("sync", *CLAUDE, "--json")
    states = {each["name"]: each["state"] for each in done.json["skills"]}
    assert (done.code, states["docx"], states["pdf"]) == (1, "refused", "installed")
    assert (place / "docx").read_text() == "mine"


def test_a_clone_leads_no_link_out_of_the_project(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.root / ".claude").symlink_to(outside)
    done = project.run("sync", *CLAUDE)
    assert (done.code, "a link leads out of the project" in done.err) == (2, True)
    assert list(outside.iterdir()) == []


def test_it_says_which_agents_there_are_and_takes_one_place(project: Project) -> None:
    assert project.run("sync", "--agent", "nosuch").code == 2
    assert project.run("sync", *CLAUDE, "--into", ".agents/skills").code == 2


def test_a_folder_that_was_deleted_comes_back_where_it_was(project: Project) -> None:
    assert project.run("add", "acme/skills/pdf", *CLAUDE, "--agent", "codex", "--copy").code == 0
    claude = project.root / ".claude" / "skills" / "pdf"
    shutil.rmtree(project.skills / "pdf")
    shutil.rmtree(claude)
    assert project.run("verify").code == 1
    assert project.run("sync").code == 0
    for place in (project.skills / "pdf", claude):
        assert (place / "SKILL.md").is_file()


def test_a_backup_is_no_skill_of_the_project(project: Project) -> None:
    (project.skills / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: Mine.\n---\nx")
    assert project.run("remove", "pdf", "--backup").code == 0
    assert (project.root / ".agents" / "skills-kept" / "pdf" / "SKILL.md").is_file()
    listed = project.run("list", str(project.root), "--json").json["skills"]
    assert "pdf" not in {skill["name"] for skill in listed}
