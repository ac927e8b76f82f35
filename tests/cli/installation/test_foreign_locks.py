"""Lock files and folders that a stranger made: what is refused, and what goes on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from skillyard.base.text import folder_name
from tests.cli.installation.project import OLD, Project
from tests.cli.installation.project import project as project
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


@for_each(
    "source",
    [
        {"source": "https://[::1/", "sourceType": "well-known"},
        {"source": "https://host:99999/x", "sourceType": "well-known"},
        {"source": "\0/x", "sourceType": "local"},
        {"source": "\ud800", "sourceType": "local"},
        {"source": "\ud800", "sourceType": "node_modules"},
        {"source": "https://[", "sourceType": "download"},
        {"source": "..", "sourceType": "well-known"},
        {"source": f"https://{'a' * 64}.invalid/x.git", "sourceType": "git"},
        {"source": "https://a..invalid/x.zip", "sourceType": "download"},
        {"source": "acme/skills", "sourceType": "github", "ref": "\ud800"},
        {"source": "acme/skills", "sourceType": "github", "commit": "--upload-pack=x"},
        *(
            {"source": "acme/skills", "sourceType": kind, "skillPath": path}
            for kind in ("github", "local")
            for path in ("../x/SKILL.md", "a/../../SKILL.md", "/etc/SKILL.md", "C:\\x\\SKILL.md",
                         "..\\SKILL.md", "a\0/SKILL.md", "~/SKILL.md", "file:///etc/SKILL.md",
                         ".git/SKILL.md", "a/" * 500 + "b")
        ),
    ],
)  # fmt: skip
def test_an_entry_with_an_impossible_source_stops_no_other(
    source: dict[str, str], project: Project
) -> None:
    project.relock(lambda shape: shape["skills"].__setitem__("bad", {**source, "digest": "x"}))
    shutil.rmtree(project.skills / "pdf")
    done = project.run("sync", "--json")
    states = {each["name"]: each["state"] for each in done.json["skills"]}
    assert (states["pdf"], states["docx"]) == ("installed", "current")
    assert states["bad"] in ("refused", "unreachable")
    assert "internal error" not in done.err
    assert "internal error" not in project.run("outdated").err
    link = project.skills / "bad"
    link.symlink_to("nowhere")
    assert "internal error" not in project.run("verify").err
    link.unlink()
    assert project.run("remove", "bad").code == 0
    assert project.run("verify").code == 0


def test_other_files_with_the_same_hash_of_the_installer_are_another_version(
    project: Project,
) -> None:
    project.publish(**{"SKILL.md": OLD["skills/pdf/SKILL.md"], "a": "bc"})
    assert project.run("update", "pdf", "--yes").code == 0
    project.publish(**{"SKILL.md": OLD["skills/pdf/SKILL.md"], "ab": "c"})
    assert project.run("update", "pdf", "--yes").code == 0
    assert (project.skills / "pdf" / "ab").read_text() == "c"
    assert not (project.skills / "pdf" / "a").exists()
    assert project.run("verify").code == 0


def test_a_skill_keeps_its_folders_dist_and_build(project: Project) -> None:
    files = {"SKILL.md": OLD["skills/pdf/SKILL.md"], "build/run.sh": "echo", "dist/a.js": "1"}
    project.publish(**files)
    assert project.run("update", "pdf", "--yes").code == 0
    assert (project.skills / "pdf" / "build" / "run.sh").read_text() == "echo"
    assert (project.skills / "pdf" / "dist" / "a.js").read_text() == "1"
    assert project.run("sync", "--frozen").code == 0


def test_extra_skills_are_found_in_every_folder_of_a_host(project: Project) -> None:
    for place in (".agents/skills/PDF!", ".agents/skills/Pdf", ".claude/skills/other"):
        folder = project.root / place
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text("pdf", "Another one."))
    done = project.run("sync", "--frozen", "--json")
    assert (done.code, len(done.json["extra"])) == (1, 3)
    assert project.run("verify").code == 1


@for_each("link", [False, True])
def test_a_lock_leads_to_no_folder_outside_of_the_project_that_nobody_added(
    project: Project, link: bool
) -> None:
    private = project.root.parent / f"private {link}"
    private.mkdir()
    (private / "SKILL.md").write_text(text("mine", "A secret of this machine."))
    source = f"../{private.name}"
    if link:  # which a clone may hold
        (project.root / "vendor").symlink_to(private)
        source = "./vendor"
    entry = {"source": source, "sourceType": "local", "computedHash": "0" * 64}
    project.relock(lambda shape: shape["skills"].update({"mine": entry}))
    for command in ("update", "sync", "outdated"):
        done = project.run(command)
        assert (done.code, "secret" in done.out + done.err) == (1, False)
        assert f"`skillyard add '{private}' --into DIR`" in done.out
        assert project.state(command, name="mine") == "refused"
        assert project.state(command, name="docx") == "current"
    assert not (project.skills / "mine").exists()
    if link:  # the entry of the link is not that of the folder
        project.relock(lambda shape: shape["skills"].pop("mine"))
    assert project.run("add", str(private), "--into", ".agents/skills").code == 0
    (private / "SKILL.md").write_text(text("mine", "Another secret."))
    assert "Another secret" in project.run("update", "mine", "--dry-run").out
    assert project.run("remove", "mine").code == 0
    shutil.rmtree(project.root.parent / "state" / "sources")


@for_each("folder", ["skills/mine", "packages/other-name"])
def test_what_the_installer_wrote_from_a_local_collection_is_added_and_kept(
    project: Project, folder: str
) -> None:
    collection = project.root.parent / folder.replace("/", "-")
    source, copy = collection / folder, project.skills / "mine"
    for place in (source, copy, collection / "skills" / "more"):
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(text("mine", "Draws."))
    entry = {"source": str(collection), "sourceType": "local", "computedHash": "0" * 64}
    project.relock(lambda shape: shape["skills"].update({"mine": entry}))
    add = ("add", str(source), "--into", ".agents/skills")
    if folder == "skills/mine":
        assert f"`skillyard add {source} --into DIR`" in project.run("update", "mine").out
        (copy / "more.md").write_text("mine")
        assert project.run(*add).code != 0  # and yet the user named the folder
        assert "more.md" in project.run("update", "mine").out
        (copy / "more.md").unlink()
    done = project.run(*add)
    assert (done.code, done.err) == (0, "")
    for command in ("update", "outdated", "sync"):
        assert project.state(command, name="mine") == "current"
    (source / "SKILL.md").write_text(text("mine", "Draws again."))
    assert project.state("outdated", name="mine") == "outdated"
    assert project.run("update", "mine", "--yes").code == 0
    assert "Draws again." in (copy / "SKILL.md").read_text()
    (copy / "SKILL.md").write_text("edited")
    assert project.state("verify", name="mine") == "edited"
    (copy / "SKILL.md").write_bytes((source / "SKILL.md").read_bytes())
    (collection / "mine").mkdir()  # a pinned source stays the one it is
    (collection / "mine" / "SKILL.md").write_text(text("mine", "Another."))
    other = project.run("add", str(collection / "mine"), "--into", ".agents/skills")
    assert "the lock has mine from" in other.err
    assert project.run("remove", "mine").code == 0
    assert (source.exists(), copy.exists()) == (True, False)


def test_a_command_in_a_hint_is_safe_in_a_shell_whatever_an_entry_is_called(
    project: Project, tmp_path: Path
) -> None:
    names = ["$(touch x)", "a b", "-rf", "`id`", "'; touch y; '", "$HOME"]
    entry = {"source": "acme/skills", "sourceType": "github", "computedHash": "0" * 64}
    project.relock(lambda shape: shape["skills"].update(dict.fromkeys(names, entry)))
    for name in names:
        folder = Path("skills") / folder_name(name)
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text("other", "Another one."))
    out = project.run("verify", "--into", "skills").out
    hints = re.findall("fix: `(skillyard update .*)` compares", out)
    assert len(hints) == len(names)
    empty = tmp_path / "empty"
    empty.mkdir()
    shown = set()
    for hint in hints:
        script = f"skillyard() {{ printf '%s\\n' \"$@\"; }}\n{hint}"
        done = subprocess.run(["sh", "-c", script], cwd=empty, capture_output=True, check=True)
        command, into, place, name = done.stdout.decode().splitlines()
        assert (command, into, place) == ("update", "--into", "skills")
        shown.add(name)
    assert shown == {"rf" if name == "-rf" else name for name in names}
    assert not list(empty.iterdir())
