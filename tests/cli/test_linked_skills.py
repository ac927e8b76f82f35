"""Skills behind links, as dotfiles, nix, installers and clones make them: read, or named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.remotes import text
from tests.install.git.home import git_home as git_home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")


@pytest.fixture
def project(git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of a user with an empty home; the working folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    return folder


def skill(folder: Path, name: str = "") -> Path:
    folder.mkdir(parents=True)
    name = name or folder.name
    (folder / "SKILL.md").write_text(text(name, f"Use for work with {name} files."))
    return folder


def link(place: Path, goal: Path | str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(goal)


def listed(run: Run, *arguments: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of the skills, and the codes of the diagnostics with the last folder."""
    document: dict[str, Any] = run("list", *arguments, "--json").json
    told = [(each["code"], each["path"]) for each in document["diagnostics"]]
    return sorted(each["name"] for each in document["skills"]), sorted(told)


def test_links_of_a_user_are_followed_wherever_they_lead(
    run: Run, project: Path, git_home: Path, tmp_path: Path
) -> None:
    skills, elsewhere = git_home / ".claude" / "skills", tmp_path / "elsewhere"
    link(skills / "ledger", skill(elsewhere / "ledger"))
    real = skill(elsewhere / "dotfiles" / "invoice")
    (real / "references").mkdir()
    (real / "references" / "rates.md").write_text("# Rates\n")
    link(skills / "invoice" / "SKILL.md", real / "SKILL.md")
    store = skill(elsewhere / "store" / "receipt") / "SKILL.md"
    link(skills / "receipt" / "SKILL.md", store.rename(elsewhere / "store" / "a1b2-SKILL.md"))
    (elsewhere / "store" / "secret.md").write_text("not of this skill")
    link(skills / "gone", elsewhere / "gone")
    link(skills / "all", git_home)
    names, told = listed(run, "--root", str(skill(project / "x")), "--scope", "user")
    assert names == ["invoice", "ledger", "receipt", "x"]
    assert told == [
        ("link_broken", f"{skills}/gone"),
        ("link_loop", f"{skills}/all"),
    ]
    shown = ("--root", "x", "--scope", "user", "--json")
    assert run("select", "work with invoice files", *shown).json["selected"][0]["name"] == "invoice"
    files = run("show", "invoice", "--references", *shown).json
    assert "references/rates.md" in str(files)
    assert "secret.md" not in run("show", "receipt", "--references", *shown).out


def test_no_link_in_a_skill_of_a_user_shows_other_files_of_the_user(
    run: Run, project: Path, git_home: Path, tmp_path: Path
) -> None:
    private = skill(tmp_path / "private")
    key = tmp_path / "netrc"
    key.write_text("machine example.org password hunter2\n")
    cloned = skill(git_home / ".claude" / "skills" / "cloned")
    link(cloned / "folder", private)
    link(cloned / "file" / "SKILL.md", private / "SKILL.md")
    link(cloned.parent / "key" / "SKILL.md", key)
    names, told = listed(run, "--root", str(skill(project / "x")), "--scope", "user")
    assert names == ["cloned", "x"]
    assert told == [
        ("link_outside", f"{cloned}/file/SKILL.md"),
        ("link_outside", f"{cloned}/folder"),
        ("link_outside", f"{cloned.parent}/key/SKILL.md"),
    ]


def test_links_of_a_project_stay_in_its_repository_or_lead_to_what_the_user_added(
    run: Run, project: Path, tmp_path: Path
) -> None:
    pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
    skills = project / ".claude" / "skills"
    skill(project / "packages" / "ledger")
    link(skills / "ledger", "../../packages/ledger")
    skill(project / "packages" / "invoice")
    link(skills / "invoice" / "SKILL.md", "../../../packages/invoice/SKILL.md")
    strange, known = skill(tmp_path / "strange"), skill(tmp_path / "known")
    link(skills / "strange", strange)
    link(skills / "strange-file" / "SKILL.md", strange / "SKILL.md")
    link(skills / "broken" / "SKILL.md", "../../../gone/SKILL.md")
    added = run("add", str(known), "--agent", "claude-code", "--link", "--json").json
    assert added["state"] == "linked"
    names, told = listed(run, "--root", str(skill(project / "x")), "--scope", "project")
    assert names == ["invoice", "known", "ledger", "x"]
    assert [(code, path.partition("skills/")[2]) for code, path in told] == [
        ("link_broken", "broken/SKILL.md"),
        ("link_outside", "strange"),
        ("link_outside", "strange-file/SKILL.md"),
    ]


def test_a_skill_file_that_git_wrote_as_the_text_of_a_link_is_named_as_one(
    run: Run, project: Path
) -> None:
    skill(project / "a")
    (project / "b").mkdir()
    (project / "b" / "SKILL.md").write_text("../a/SKILL.md")
    names, told = listed(run, "--root", ".")
    assert (names, [code for code, _ in told]) == (["a"], ["link_as_text"])


def test_a_worktree_in_its_repository_is_not_entered_unless_it_is_named(
    run: Run, project: Path
) -> None:
    skill(project / "skills" / "ledger")
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
    tree = project / ".claude" / "worktrees" / "fix"
    subprocess.run([*git, "worktree", "add", "-q", "-b", "fix", str(tree)], check=True)
    names, told = listed(run, "--root", ".")
    assert names == ["ledger"]
    assert told == [("linked_worktree", ".claude/worktrees/fix")]
    assert listed(run, "--root", str(tree)) == (["ledger"], [])


def test_what_a_listing_of_a_folder_shows_can_be_added_from_it_by_name(
    run: Run, project: Path, git_home: Path, tmp_path: Path
) -> None:
    library = project / "library"
    skill(library / "plain" / "ledger", "Ledger of 2026")
    link(library / "linked", skill(project / "other" / "invoice"))
    link(library / "stow" / "SKILL.md", skill(project / "store" / "receipt") / "SKILL.md")
    skill(library / "build", "paint")
    link(library / "secret" / "SKILL.md", skill(tmp_path / "elsewhere" / "secret") / "SKILL.md")
    names, _ = listed(run, "--root", "library")
    assert names == ["Ledger of 2026", "invoice", "paint", "receipt"]
    for name in names:
        done = run("add", f"./library#{name}", "--into", "skills", "--json")
        assert (done.code, done.json["skill"]["title"]) == (0, name), done.err
    assert not (project / "skills" / "receipt" / "SKILL.md").is_symlink()
    assert run("verify", "--into", "skills").code == 0
    for target in ("./library#secret", "./library/secret"):
        assert run("add", target, "--into", "skills").code == 2
    store = skill(tmp_path / "elsewhere" / "voucher") / "SKILL.md"
    link(git_home / ".claude" / "skills" / "voucher" / "SKILL.md", store)
    assert run("add", "~/.claude/skills/voucher", "--into", "skills").code == 0
    assert (project / "skills" / "voucher" / "SKILL.md").read_text() == store.read_text()
