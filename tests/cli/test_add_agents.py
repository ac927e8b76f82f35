"""``add --agent``: where each host looks, one folder and links, and nothing outside the project."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from skillyard.cli.console import Console
from skillyard.engine.discovery.hosts import HOST_TITLES, host_roots
from skillyard.errors import InvalidInput
from skillyard.install.operations.destinations import host_folders, places_of
from tests.cli.conftest import Run
from tests.cli.remotes import text, tree_of
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
PDF = text("pdf", "Fill in PDF forms.")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a skill beside it; the working folder is below its root."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "packages" / "a").mkdir(parents=True)
    source = tmp_path / "library" / "pdf"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text(PDF)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


ADD = ("add", "../library/pdf", "--json")


def test_one_host_gets_the_folder_itself(run: Run, project: Path) -> None:
    shape = run(*ADD, "--agent", "claude-code").json
    assert (shape["folder"], shape["links"]) == (".claude/skills/pdf", [])
    assert (project / ".claude" / "skills" / "pdf" / "SKILL.md").read_text() == PDF
    assert sorted(os.listdir(project)) == [".claude", ".git", "packages", "skills-lock.json"]


def test_several_hosts_share_one_folder_by_links(run: Run, project: Path) -> None:
    agents = ("--agent", "claude-code", "--agent", "codex", "--agent", "junie", "--agent", "cursor")
    shape = run(*ADD, *agents, "--dry-run").json
    assert (shape["dry_run"], sorted(os.listdir(project))) == (True, [".git", "packages"])
    shape = run(*ADD, *agents).json
    assert shape["folder"] == ".agents/skills/pdf"
    assert shape["links"] == [".claude/skills/pdf", ".junie/skills/pdf"]
    for link in shape["links"]:
        assert os.readlink(project / link) == "../../.agents/skills/pdf"
    again = run(*ADD, *agents).json
    assert (again["state"], again["links"]) == ("unchanged", shape["links"])
    one = run(*ADD, "--agent", "claude-code").json  # its link stays one
    assert (one["folder"], one["links"]) == (".agents/skills/pdf", [".claude/skills/pdf"])


def test_copies_are_made_on_request_and_stay_copies(run: Run, project: Path) -> None:
    agents = ("--agent", "claude-code", "--agent", "codex")
    shape = run(*ADD, *agents, "--copy").json
    assert (shape["folder"], shape["copies"]) == (".claude/skills/pdf", [".agents/skills/pdf"])
    (project.parent / "library" / "pdf" / "SKILL.md").write_text(PDF + "newer")
    shape = run(*ADD, *agents).json
    assert (shape["folder"], shape["copies"]) == (".agents/skills/pdf", [".claude/skills/pdf"])
    assert shape["links"] == []
    for folder in (".claude", ".agents"):
        assert (project / folder / "skills" / "pdf" / "SKILL.md").read_text() == PDF + "newer"


def test_what_a_user_wrote_is_replaced_by_no_copy_and_no_link(run: Run, project: Path) -> None:
    mine = project / ".claude" / "skills" / "pdf"
    mine.mkdir(parents=True)
    (mine / "SKILL.md").write_text("mine")
    before = tree_of(project)
    done = run(*ADD, "--agent", "claude-code", "--agent", "codex")
    assert (done.code, "something else" in done.err) == (2, True)
    assert tree_of(project) == before
    (mine / "SKILL.md").unlink()
    mine.rmdir()
    mine.symlink_to(project / "packages")
    before = tree_of(project)
    done = run(*ADD, "--agent", "claude-code", "--agent", "codex")
    assert (done.code, "something else than a link to the skill" in done.err) == (2, True)
    assert os.readlink(mine) == str(project / "packages")
    assert tree_of(project) == before


@for_each("link", [".claude", ".claude/skills", ".agents"])
def test_a_clone_cannot_lead_an_installation_out_of_the_project(
    run: Run, project: Path, link: str
) -> None:
    outside = project.parent / f"outside-{link.replace('/', '-')}"
    (outside / "skills").mkdir(parents=True)
    place = project / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    for other in ("codex", "junie"):
        done = run(*ADD, "--agent", "claude-code", "--agent", other)
        assert (done.code, "a link leads out of the project" in done.err) == (2, True)
    assert [path.name for path in outside.rglob("*")] == ["skills"]
    place.unlink()


def test_the_users_folders_are_those_that_hosts_read(run: Run, project: Path) -> None:
    home = project.parent / "home"
    shape = run(*ADD, "--agent", "claude-code", "--agent", "codex", "--global").json
    assert shape["folder"] == str(home / ".agents" / "skills" / "pdf")
    assert shape["links"] == [str(home / ".claude" / "skills" / "pdf")]
    read = {root.path for root in host_roots(["user"], folder=str(project))}
    assert {str(home / ".agents" / "skills"), str(home / ".claude" / "skills")} <= read


def test_below_a_project_its_root_is_meant(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "packages" / "a")
    assert run("add", "../../../library/pdf", "--agent", "claude-code").code == 0
    assert (project / ".claude" / "skills" / "pdf" / "SKILL.md").is_file()
    assert (project / "skills-lock.json").is_file()
    assert os.listdir(project / "packages" / "a") == []


@for_each("agent", sorted(HOST_TITLES))
def test_every_host_finds_what_is_installed_for_it(agent: str, project: Path) -> None:
    (folder,) = host_folders([agent])
    os.makedirs(folder, exist_ok=True)
    found = {root.path for root in host_roots(["project"], folder=str(project))}
    assert os.path.realpath(folder) in map(os.path.realpath, found)
    assert places_of([folder], "x", copy=False, user=False).copies == (folder,)


@for_each(
    "options",
    [
        ("--agent", "nosuch"),
        ("--agent", "claude-code", "--into", "x"),
        ("--global", "--into", "x"),
        ("--copy", "--into", "x"),
        ("--all", "pdf"),
        ("--global",),
        ("--copy",),
        ("--link",),
        ("--agent", "claude-code", "--copy", "--link"),
        ("--agent", "eve", "--global"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_use(
    run: Run, project: Path, options: tuple[str, ...]
) -> None:
    before = tree_of(project)
    assert run("add", "../library/pdf", *options).code == 2
    assert tree_of(project) == before


def test_only_a_folder_can_be_linked(project: Path) -> None:
    from skillyard.install.operations.add import AddOptions, add_skill

    with pytest.raises(InvalidInput, match="--link needs --into or --agent"):
        add_skill("./x", AddOptions(link=True))


# --- where nobody says where ---


@for_each(
    ("there", "folder"),
    [
        ((), ".agents/skills"),
        ((".claude",), ".claude/skills"),
        ((".codex",), ".agents/skills"),
        ((".claude", ".codex"), ".agents/skills"),
    ],
)
def test_without_a_place_a_skill_goes_where_the_one_agent_looks(
    run: Run, project: Path, there: tuple[str, ...], folder: str
) -> None:
    home = project.parent / "home"
    for agent in home.iterdir():
        agent.rmdir()
    for each in there:
        (home / each).mkdir()
    done = run("add", "../library/pdf", "--json", "--dry-run")
    assert (done.json["folder"], done.json["links"]) == (f"{folder}/pdf", [])
    told = "Claude Code and Codex are here, and nobody was asked for which it is: it goes to"
    assert (told in done.err) == ("add --agent claude-code --agent codex" in done.err)
    assert (told in done.err) == (len(there) == 2)


def test_without_a_place_a_skill_stays_where_it_was_added(run: Run, project: Path) -> None:
    assert run("add", "../library/pdf", "--into", "tools/skills").code == 0
    (project.parent / "home" / ".claude").mkdir()
    (project.parent / "library" / "pdf" / "more.md").write_text("More.")
    done = run("add", "../library/pdf", "--json")
    assert (done.json["folder"], done.json["state"]) == ("tools/skills/pdf", "replaced")
    assert len(list(project.rglob("SKILL.md"))) == 1


def test_a_person_is_asked_for_which_of_several_agents_and_skills(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (".claude", ".codex"):
        (project.parent / "home" / each).mkdir()
    for name in ("docx", "xlsx"):
        other = project.parent / "library" / name
        other.mkdir()
        (other / "SKILL.md").write_text(text(name, f"Writes {name}."))
    monkeypatch.setattr(Console, "can_confirm", True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("1, XLSX\n3\nCodex x\n1\n"))
    done = run("add", "../library")
    assert done.code == 0
    assert "Claude Code, which looks in .claude/skills" in done.out
    assert "'Codex x' is no choice: write numbers from 1 to 2" in done.err
    assert "Writes docx." in done.out
    assert sorted(path.name for path in (project / ".claude/skills").iterdir()) == ["docx", "xlsx"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert run("add", "../library/pdf", "--dry-run").out.count("would be ") == 2


@for_each(
    ("words", "names", "code"),
    [
        (("docx", "pdf"), ["docx", "pdf"], 0),
        (("--all",), ["docx", "pdf"], 0),
        (("docx", "none"), ["docx"], 1),
        ((), [], 2),
    ],
)
def test_several_skills_of_one_source_are_named_or_all(
    run: Run, project: Path, words: tuple[str, ...], names: list[str], code: int
) -> None:
    other = project.parent / "library" / "docx" / "SKILL.md"
    other.parent.mkdir(exist_ok=True)
    other.write_text(text("docx", "Writes letters."))
    into = f"skills-{len(words)}-{len(names)}"
    done = run("add", "../library", *words, "--into", into)
    assert done.code == code
    folder = project / into
    assert sorted(each.name for each in folder.glob("*")) == names
    if not names:
        assert "Writes letters." in done.out
        assert "name one: ../library#docx" in done.err


def test_sync_says_where_no_agent_of_this_machine_looks(run: Run, project: Path) -> None:
    assert run("add", "../library/pdf").code == 0
    assert "no agent of this machine" not in run("sync").out
    (project.parent / "home" / ".claude").mkdir()
    done = run("sync")
    assert "no agent of this machine looks there; `skillyard sync --agent claude-code`" in done.out
    assert run("sync", "--agent", "claude-code").code == 0
    assert "no agent of this machine" not in run("sync").out
