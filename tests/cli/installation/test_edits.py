"""What counts as an edit of an installed skill, and what a command says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.installation.project import NEWER, OLD, Project
from tests.cli.installation.project import project as project
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import tree_of
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
LITTER = ("scripts/__pycache__/fill.cpython-311.pyc", ".DS_Store", "Thumbs.db", "._SKILL.md")


def problem_of(project: Project, command: str, *more: str) -> dict[str, Any]:
    document = project.run(command, *more, "--json").json
    (skill,) = (each for each in document["skills"] if each["name"] == "pdf")
    assert isinstance(skill["problem"], dict)
    return skill["problem"]


def by_installer(project: Project, skill: dict[str, str], source: dict[str, str]) -> None:
    """Let ``pdf`` be as ``npx skills`` leaves it that copied ``skill`` and hashed ``source``."""
    project.publish(**source)
    assert project.run("update", "pdf", "--yes").code == 0
    for path in project.skills.joinpath("pdf").rglob("*"):
        if path.is_file():
            path.unlink()
    for name, content in skill.items():
        (project.skills / "pdf" / name).write_text(content)

    def unpinned(shape: dict[str, Any]) -> None:
        for key in ("commit", "digest", "executableDigest"):
            shape["skills"]["pdf"].pop(key, None)

    project.relock(unpinned)
    for noted in project.root.parent.joinpath("state", "installed").iterdir():
        noted.unlink()  # of no run of skillyard


def test_what_python_and_file_managers_leave_is_no_edit_and_goes_with_the_skill(
    project: Project,
) -> None:
    for path in LITTER:
        file = project.skills / "pdf" / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"\0")
    for command in (("verify",), ("sync", "--frozen"), ("update", "--yes"), ("outdated",)):
        assert (project.run(*command).code, project.state(*command)) == (0, "current"), command
    project.publish(**{"SKILL.md": NEWER})
    assert project.state("update", "pdf", "--yes") == "updated"
    assert tree_of(project.skills / "pdf") == {"SKILL.md": NEWER.encode()}
    (project.skills / "pdf" / ".DS_Store").write_bytes(b"\0")
    assert project.run("remove", "pdf").code == 0
    assert not (project.skills / "pdf").exists()


@for_each("path", ["__pycache__/notes.md", "._notes.md", "notes.pyc", "Thumbs.db/notes.md"])
def test_a_file_of_the_users_with_such_a_name_is_an_edit(path: str, project: Project) -> None:
    notes = project.skills / "pdf" / path
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("mine")
    assert path in str(problem_of(project, "verify"))
    assert project.run("remove", "pdf").code == 1
    notes.unlink()
    if notes.parent.name != "pdf":
        notes.parent.rmdir()


@for_each("command", [("verify",), ("sync",), ("update", "--yes"), ("remove", "pdf")])
def test_every_command_names_the_edited_files(command: tuple[str, ...], project: Project) -> None:
    folder = project.skills / "pdf"
    (folder / "SKILL.md").write_text("mine")
    (folder / "notes").write_text("mine")
    (folder / "references" / "forms.md").unlink()
    before = project.tree()
    named = problem_of(project, *command)
    assert [(each["path"], each["change"]) for each in named["files"]] == [
        ("SKILL.md", "changed"), ("notes", "added"), ("references/forms.md", "removed"),
    ]  # fmt: skip
    done = project.run(*command)
    told = "'SKILL.md', 'notes' (added), 'references/forms.md' (missing)"
    assert (done.code, told in done.out) == (1, True)
    assert project.tree() == before
    for path, content in OLD.items():
        (project.skills.parent / path).write_text(content)
    (folder / "notes").unlink()


def test_an_update_of_a_clone_compares_with_the_version_of_the_lock(project: Project) -> None:
    for noted in project.root.parent.joinpath("state", "installed").iterdir():
        noted.unlink()
    (project.skills / "pdf" / "SKILL.md").write_text("mine")
    before = project.tree()
    named = problem_of(project, "update", "--yes")
    assert [(each["path"], each["change"]) for each in named["files"]] == [("SKILL.md", "changed")]
    assert "'SKILL.md'" in named["message"]
    assert project.tree() == before


def test_line_ends_that_git_changed_are_no_edit(project: Project) -> None:
    file = project.skills / "pdf" / "SKILL.md"
    old = file.read_bytes()
    for state in ("with", "without a record"):
        file.write_bytes(old.replace(b"\n", b"\r\n"))
        if state != "with":
            for noted in project.root.parent.joinpath("state", "installed").iterdir():
                noted.unlink()
        for command in (("verify",), ("sync", "--frozen"), ("update", "--yes")):
            assert project.state(*command) == "current", (state, command)
    (project.skills / "pdf" / "references" / "forms.md").write_text("mine")
    assert project.state("verify") == "edited"
    (project.skills / "pdf" / "references" / "forms.md").write_text(
        OLD["skills/pdf/references/forms.md"]
    )
    project.publish(**{"SKILL.md": NEWER})
    assert project.state("update", "pdf", "--yes") == "updated"
    assert file.read_text() == NEWER
    file.write_bytes(NEWER.encode().replace(b"\n", b"\r\n"))
    assert project.run("remove", "pdf").code == 0


class TestNotComparable:
    def test_update_pins_what_the_installer_copied_without_metadata(self, project: Project) -> None:
        source = {"SKILL.md": NEWER, "AGENTS.md": "a", "metadata.json": "{}"}
        copied = {"SKILL.md": NEWER, "AGENTS.md": "a", "CLAUDE.md": "a"}  # the last was a link
        by_installer(project, copied, source)
        assert project.state("verify") == "not_comparable"
        assert project.run("verify").code == 1
        assert (project.run("sync").code, project.run("sync", "--frozen").code) == (0, 1)
        assert (project.run("outdated").code, project.run("remove", "pdf").code) == (0, 1)
        assert "`skillyard update pdf`" in problem_of(project, "remove", "pdf")["hint"]
        assert project.state("update", "--yes") == "updated"
        assert project.state("verify") == "current"
        assert set(tree_of(project.skills / "pdf")) == set(source)
        assert not project.root.joinpath(".agents", "skills-kept").exists()

    def test_what_comes_from_an_unknown_version_is_moved_to_a_backup(
        self, project: Project
    ) -> None:
        by_installer(project, {"SKILL.md": "mine"}, {"SKILL.md": NEWER + "1", "a": ""})
        project.publish(**{"SKILL.md": NEWER})
        before = project.tree()
        assert project.state("update") == "available"
        assert project.tree() == before
        assert "skills-kept/pdf" in problem_of(project, "update", "--yes")["message"]
        kept = project.root / ".agents" / "skills-kept" / "pdf" / "SKILL.md"
        assert kept.read_text() == "mine"
        assert project.state("verify") == "current"
