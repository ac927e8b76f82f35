"""Which skill ``add`` takes of several, by which name, and what its folder is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Answer, Run
from tests.cli.origins import FILES, PDF, pack
from tests.cli.origins import library as library
from tests.cli.origins import project as project
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import site as site
from tests.cli.remotes import text
from tests.install.git.home import git_home as git_home
from tests.install.git.home import server_of as server_of
from tests.install.git.servers import Upstream
from tests.parity.trees import write_tree
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


def test_a_repository_with_several_skills_says_how_to_name_one(
    run: Run, project: Path, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "skills.git")
    upstream.publish(FILES, tag="v1")
    url = f"file://{upstream.folder}"
    done = run("add", f"{url}#v1")
    assert (done.code, f"name one: {url}#v1@docx, {url}#v1@pdf" in done.err) == (2, True)
    done = run("add", f"{url}#pdf")
    assert (done.code, "has no branch or tag 'pdf'" in done.err) == (2, True)
    assert run("add", f"{url}#v1@docx", "--json").json["skill"]["name"] == "docx"


def published(
    origin: str, files: dict[str, str | bytes], tmp_path: Path, site: tuple[Path, str]
) -> str:
    """Return where a folder, a git repository or an archive with these files is."""
    if origin == "git":
        upstream = Upstream(tmp_path / "skills.git")
        upstream.publish(files)
        return f"file://{upstream.folder}"
    if origin == "archive":
        pack(site[0] / "skills.zip", files)
        return f"{site[1]}/skills.zip"
    write_tree(tmp_path / "library", {path: str(data) for path, data in files.items()})
    return str(tmp_path / "library")


@for_each("origin", ["folder", "git", "archive"])
def test_a_skill_md_in_small_letters_is_installed_as_every_host_loads_it(
    run: Run, project: Path, tmp_path: Path, site: tuple[Path, str], origin: str
) -> None:
    files: dict[str, str | bytes] = {"skills/pdf/skill.md": PDF, "skills/pdf/run.py": "print()"}
    target = published(origin, files, tmp_path, site)
    done = run("add", target, "--into", f"skills-{origin}", "--json")
    assert (done.code, done.err) == (0, "")
    shape = done.json
    assert shape["files"] == ["SKILL.md", "run.py"]
    assert (project / f"skills-{origin}" / "pdf" / "SKILL.md").read_text() == PDF
    for command in ("verify", "outdated"):
        assert run(command, "--into", f"skills-{origin}").code == 0
    (project / "skills-lock.json").unlink()


@for_each("origin", ["folder", "git", "archive", "github"])
def test_the_name_in_the_frontmatter_is_found_and_goes_before_that_of_a_folder(
    run: Run,
    project: Path,
    tmp_path: Path,
    remotes: FakeServers,
    site: tuple[Path, str],  # after the remotes, whose settings it changes
    origin: str,
) -> None:
    files: dict[str, str | bytes] = {
        "skills/forms/SKILL.md": text("acme-pdf", "Fills in forms."),
        "skills/acme-pdf/SKILL.md": text("old forms", "Filled in forms."),
        "a/notes/SKILL.md": text("notes", "Takes notes."),
        "b/notes/SKILL.md": text("notes", "Reads notes."),
        "a/first/SKILL.md": text("minutes", "Writes minutes."),
        "b/second/SKILL.md": text("minutes", "Reads minutes."),
    }
    remotes.add_repository("acme/names", files)
    github = origin == "github"
    source = "acme/names" if github else published(origin, files, tmp_path, site)

    def add(name: str) -> Answer:
        target = f"{source}#{'@' * (origin == 'git')}{name}"
        return run("add", target, "--into", "skills", "--dry-run", "--json")

    for name, expected in (
        ("acme-pdf", "acme-pdf"),
        ("forms", "acme-pdf"),
        ("Acme-PDF", "acme-pdf"),
        ("old forms", "old forms"),
    ):
        done = add(name)
        assert done.code == 0, done.err
        assert done.json["skill"]["name"] == expected
    done = add("nothing")
    assert done.code != 0
    assert all(name in done.err for name in ("acme-pdf", "old forms", "notes"))
    assert all(each in add("Minutes").err for each in ("a/first", "b/second"))


def test_an_invalid_skill_of_the_users_own_is_named_by_its_path(
    run: Run, project: Path, library: Path
) -> None:
    for broken in ("no frontmatter", "---\nname: pdf\n---\n"):
        (library / "skills" / "pdf" / "SKILL.md").write_text(broken)
        done = run("add", "../library/skills/pdf", "--into", "skills")
        assert (done.code, "library/skills/pdf/SKILL.md" in done.err) == (2, True)
        assert "author" not in done.err
    assert "cannot read ../nowhere" in run("add", "../nowhere", "--into", "skills").err


def test_names_without_ascii_letters_have_folders_of_their_own(run: Run, project: Path) -> None:
    names = ("发票", "合同")
    for name in names:
        source = project / "sources" / name
        source.mkdir(parents=True)
        (source / "SKILL.md").write_text(text(name, "Reads them."), encoding="utf-8")
        assert run("add", f"./sources/{name}", "--into", "skills").code == 0
    assert len(list((project / "skills").iterdir())) == 2
    assert run("verify", "--into", "skills").code == 0
    assert run("remove", "unnamed-skill-a1523656").code == 0
    (left,) = (project / "skills").glob("*/SKILL.md")
    assert names[1] in left.read_text(encoding="utf-8")
    assert run("remove", names[1]).code == 0
    assert not list((project / "skills").iterdir())


def test_an_internal_skill_is_hidden_until_it_is_named(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = text("release", "Release the tool.").replace(
        "\n---\n\n", "\nmetadata:\n  internal: true\n---\n\n"
    )
    write_tree(tmp_path / "library", {"a/release/SKILL.md": hidden, "b/pdf/SKILL.md": PDF})
    library = ("--root", str(tmp_path / "library"))
    cards = run("list", *library, "--json").json["skills"]
    assert [(card["name"], card["hidden"]) for card in cards] == [("pdf", False), ("release", True)]
    assert "internal" in run("list", *library).out
    assert run("select", "release the tool", *library).code == 1
    assert run("select", "@release the tool", *library).code == 0
    assert "release" not in run("summary", *library).out
    add = ("--into", "skills", "--dry-run", "--json")
    assert run("add", f"{library[1]}", *add).json["skill"]["name"] == "pdf"
    assert run("add", f"{library[1]}#release", *add).json["skill"]["name"] == "release"
    monkeypatch.setenv("INSTALL_INTERNAL_SKILLS", "1")
    assert "#release" in run("add", library[1], *add).err
