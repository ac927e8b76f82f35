"""``--global``: the skills of a user, in the lock file of the common installer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.installation.project import NEWER, OLD
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers
from tests.shared_data import PACKAGES
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
AGENTS = ("--agent", "claude-code", "--agent", "codex", "--global")


class User:
    """A home with ``pdf``, as the installer leaves it: folder, link, and entry."""

    def __init__(self, home: Path, run: Run, remotes: FakeServers) -> None:
        self.home = home
        self.remotes = remotes
        self.skills = home / ".agents" / "skills"
        self.claude = home / ".claude" / "skills"
        self.lock = home / ".agents" / ".skill-lock.json"
        self._run = run
        for path, content in OLD.items():
            if path.startswith("skills/pdf/"):
                file = self.skills.parent / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
        self.claude.mkdir(parents=True)
        (self.claude / "pdf").symlink_to("../../.agents/skills/pdf")
        self.entry = {
            "source": "acme/skills",
            "sourceType": "github",
            "sourceUrl": "https://github.com/acme/skills.git",
            "skillPath": "skills/pdf/SKILL.md",
            "skillFolderHash": self.publish(OLD),
            "installedAt": "2026-03-01T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
            "pluginName": "documents",
            "more": {"z": [1.5, None]},
        }
        self.write({"pdf": self.entry})

    def run(self, command: str, *arguments: str) -> Any:
        """Run a command with ``--global``."""
        return self._run(command, *arguments, "--global")

    def publish(self, files: dict[str, str], name: str = "pdf") -> str:
        """Let the repository have these files; return what GitHub calls the folder of a skill."""
        head = self.remotes.add_repository("acme/skills", files).head
        assert head is not None
        folder = head.entry(f"skills/{name}")
        forget_remote_answers()
        return folder.sha if folder is not None else ""

    def write(self, entries: dict[str, Any]) -> bytes:
        """Write the lock as the installer does; return its bytes."""
        shape = {"version": 3, "skills": entries, "dismissed": {"findSkillsPrompt": True}}
        self.lock.write_text(json.dumps(shape, indent=2, ensure_ascii=False))
        return self.lock.read_bytes()

    def entries(self) -> dict[str, Any]:
        entries: dict[str, Any] = json.loads(self.lock.read_text())["skills"]
        return entries

    def states(self, command: str, *arguments: str) -> dict[str, str]:
        """Return the state that a command reports of each skill."""
        document = self.run(command, *arguments, "--json").json
        return {each["name"]: each["state"] for each in document["skills"]}


@pytest.fixture
def user(tmp_path: Path, run: Run, remotes: FakeServers, monkeypatch: pytest.MonkeyPatch) -> User:
    home = tmp_path / "home"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return User(home, run, remotes)


def test_a_skill_lives_from_add_to_remove_in_the_one_lock(user: User) -> None:
    assert user.run("add", "docx", *AGENTS[:-1]).code == 0
    head = user.remotes.add_repository("acme/skills", OLD).head
    assert head is not None
    docx = head.entry("skills/docx")
    entry = user.entries()["docx"]
    assert docx is not None
    assert (entry["skillFolderHash"], "computedHash" in entry) == (docx.sha, False)
    assert entry["installedAt"] == entry["updatedAt"]
    assert user.states("verify") == {"docx": "current", "pdf": "unpinned"}
    newer = text("docx", "Write Word documents, newer.")
    docx_sha = user.publish({**OLD, "skills/docx/SKILL.md": newer}, "docx")
    assert user.states("outdated") == {"docx": "outdated", "pdf": "current"}
    assert user.states("update", "docx", "--yes") == {"docx": "updated"}
    assert user.entries()["docx"]["skillFolderHash"] == docx_sha
    assert (user.claude / "docx" / "SKILL.md").read_text() == newer
    shutil.rmtree(user.skills / "docx")
    assert user.states("sync") == {"docx": "installed", "pdf": "current"}
    (user.skills / "docx" / "SKILL.md").write_text("mine")
    assert user.run("sync", "--frozen").code == 1
    assert user.run("remove", "docx").code == 1
    assert user.run("remove", "docx", "--backup").code == 0
    assert (user.home / ".agents" / "skills-kept" / "docx" / "SKILL.md").read_text() == "mine"
    assert sorted(os.listdir(user.claude)) == ["pdf"]
    assert user.entries() == {"pdf": user.entry}
    assert sorted(os.listdir(user.home / ".agents")) == [
        ".skill-lock.json", "skills", "skills-kept",
    ]  # fmt: skip
    assert os.listdir() == []


def test_what_the_installer_wrote_stays_to_the_byte_beside_a_change(user: User) -> None:
    before = user.write({"zebra": {**user.entry, "more": "\u00e9 \U0001f600"}, "pdf": user.entry})
    assert user.run("add", "docx", *AGENTS[:-1]).code == 0
    assert list(user.entries()) == ["zebra", "pdf", "docx"]
    assert user.run("remove", "docx").code == 0
    assert user.lock.read_bytes() == before


class TestInstallersEntries:
    def test_one_of_github_is_compared_updated_and_pinned(self, user: User) -> None:
        locked = user.lock.read_bytes()
        assert user.states("verify") == {"pdf": "unpinned"}
        assert user.states("sync") == {"pdf": "current"}
        assert user.states("outdated") == {"pdf": "current"}
        assert user.lock.read_bytes() == locked
        sha = user.publish({"skills/pdf/SKILL.md": NEWER})
        assert user.states("outdated") == {"pdf": "outdated"}
        assert user.states("update", "--yes") == {"pdf": "updated"}
        entry = user.entries()["pdf"]
        assert {key: entry[key] for key in user.entry} == {
            **user.entry,
            "skillFolderHash": sha,
            "updatedAt": entry["updatedAt"],
        }
        assert entry["updatedAt"] > user.entry["updatedAt"]
        assert user.states("verify") == {"pdf": "current"}
        assert tree_of(user.claude / "pdf") == {"SKILL.md": NEWER.encode()}

    def test_an_edited_file_is_kept(self, user: User) -> None:
        (user.skills / "pdf" / "scripts" / "fill.py").write_text("print(1)")
        assert user.states("verify") == {"pdf": "not_comparable"}
        done = user.run("remove", "pdf")
        assert (done.code, "--backup" in done.out) == (1, True)
        (skill,) = user.run("update", "--yes", "--json").json["skills"]
        assert (skill["state"], "skills-kept" in skill["problem"]["message"]) == ("updated", True)
        backup = user.skills.with_name("skills-kept") / "pdf" / "scripts" / "fill.py"
        assert backup.read_text() == "print(1)"

    def test_a_missing_one_comes_only_as_it_was(self, user: User) -> None:
        before = tree_of(user.skills)
        shutil.rmtree(user.skills / "pdf")
        assert user.states("sync") == {"pdf": "installed"}
        assert tree_of(user.skills) == before
        shutil.rmtree(user.skills / "pdf")
        user.publish({"skills/pdf/SKILL.md": NEWER})
        done = user.run("sync")
        assert (done.code, "`skillyard update --global pdf`" in done.out) == (1, True)
        assert not (user.skills / "pdf").exists()
        assert user.states("update", "--yes") == {"pdf": "updated"}

    def test_what_is_not_enough_is_said_and_stops_no_other(self, user: User) -> None:
        entries = {
            "pdf": user.entry,
            "notes": {**user.entry, "skillFolderHash": ""},
            "bun": {**user.entry, "sourceType": "mintlify"},
        }
        shutil.copytree(user.skills / "pdf", user.skills / "notes")
        locked = user.write(entries)
        states = {"bun": "refused", "notes": "not_comparable", "pdf": "current"}
        assert user.states("sync") == states
        assert user.states("update", "--dry-run") == {
            **states, "notes": "available", "pdf": "available",
        }  # fmt: skip
        assert user.states("outdated") == {**states, "bun": "unsupported"}
        out = user.run("sync").out
        assert "the lock has no digest, and no hash" in out
        assert "`skillyard update --global notes`" in out
        assert "'mintlify', which is not supported" in out
        assert user.lock.read_bytes() == locked
        done = user.run("remove", "notes")
        assert (done.code, "say --backup" in done.out) == (1, True)
        assert user.states("update", "notes", "--yes") == {"notes": "pinned"}
        assert user.states("verify")["notes"] == "current"
        user.write(entries)
        assert user.run("remove", "notes", "bun", "--backup").code == 0
        assert (user.home / ".agents" / "skills-kept" / "notes" / "SKILL.md").is_file()
        assert user.entries() == {"pdf": user.entry}

    def test_add_takes_it_over_with_its_times(self, user: User) -> None:
        user.publish({**OLD, "skills/pdf/SKILL.md": NEWER})
        document = user.run("add", "pdf", *AGENTS[:-1], "--json").json
        assert document["state"] == "replaced"
        assert document["lock"] == str(user.lock)
        entry = user.entries()["pdf"]
        assert entry["digest"] == document["digest"]
        for key in ("installedAt", "pluginName", "more"):
            assert entry[key] == user.entry[key]


@pytest.mark.parametrize("gone", ["pdf", ""])
def test_links_to_nothing_go_with_the_entry(user: User, gone: str) -> None:
    shutil.rmtree(user.skills / gone)
    other = user.home / ".cursor" / "skills"
    other.mkdir(parents=True)
    (other / "pdf").symlink_to(user.skills / "pdf")
    (other / "mine").symlink_to(user.skills / "gone")
    (removed,) = user.run("remove", "pdf", "--json").json["skills"]
    assert set(removed["links"]) == {str(user.claude / "pdf"), str(other / "pdf")}
    assert list(user.claude.iterdir()) == []
    assert os.listdir(other) == ["mine"]
    assert user.entries() == {}


def test_an_agent_that_does_not_find_a_skill_gets_a_link(user: User) -> None:
    (user.claude / "pdf").unlink()
    done = user.run("sync", "--frozen", "--agent", "claude-code")
    assert (done.code, "`skillyard sync --global --agent claude-code`" in done.out) == (1, True)
    assert user.states("sync", "--agent", "claude-code") == {"pdf": "installed"}
    assert os.readlink(user.claude / "pdf") == "../../.agents/skills/pdf"


def test_folders_and_the_lock_may_be_links_of_the_users_own(user: User, tmp_path: Path) -> None:
    files = tmp_path / "dotfiles"
    files.mkdir()
    for path in (user.skills, user.lock):
        path.rename(files / path.name)
        path.symlink_to(files / path.name)
    assert user.run("add", "docx", *AGENTS[:-1]).code == 0
    assert user.states("verify") == {"docx": "current", "pdf": "unpinned"}
    assert (files / "skills" / "docx" / "SKILL.md").is_file()
    assert user.run("remove", "docx").code == 0
    assert user.lock.is_symlink()
    assert "docx" not in (files / user.lock.name).read_text()


def test_a_folder_of_this_machine_is_linked_or_copied(user: User, tmp_path: Path) -> None:
    for name in ("linked", "copied"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text(name, "Mine."))
    assert user.run("add", "../linked", *AGENTS[:2], "--link").code == 0
    assert user.run("add", "../copied", *AGENTS[:2]).code == 0
    assert user.entries()["copied"]["source"] == str(tmp_path / "copied")
    states = {"copied": "current", "linked": "linked", "pdf": "unpinned"}
    assert user.states("verify") == states
    (tmp_path / "copied" / "SKILL.md").write_text(text("copied", "Mine, newer."))
    assert user.states("outdated") == {**states, "copied": "outdated", "pdf": "current"}
    assert user.states("update", "copied", "--yes") == {"copied": "updated"}
    assert user.run("remove", "copied", "linked").code == 0
    assert os.listdir(user.claude) == ["pdf"]
    assert (tmp_path / "linked" / "SKILL.md").is_file()


def test_what_is_said_of_a_folder_that_nobody_added_is_about_the_user(
    user: User, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "SKILL.md").write_text(text("mine", "Mine."))
    user.write({"mine": {**user.entry, "source": str(folder), "sourceType": "local"}})
    (skill,) = user.run("sync", "--json").json["skills"]
    assert skill["state"] == "refused"
    add = f"skillyard add {folder} --agent HOST --global"
    assert f"`{add}`" in skill["problem"]["hint"]
    assert "repository" not in skill["problem"]["message"]
    said = add.replace("HOST", "claude-code").split()[1:-1]
    assert user.run(*said).code == 0
    assert user.states("verify") == {"mine": "current"}


COMMANDS = (
    ("sync",),
    ("update", "--yes"),
    ("outdated",),
    ("verify",),
    ("remove", "pdf"),
    ("add", "docx", *AGENTS[:-1]),
)


@for_each(
    "content",
    [
        b"\xff",
        b'{"version": 2, "skills": {}}',
        b'{"version": 3, "skills": []}',
        b'{"version": 3, "skills": {"pdf": {"source": 1, "sourceType": "github"}}}',
        b'{"version": 3, "skills": {"\\u001b[1m": {"sourceType": "github"}}}',
    ],
)
def test_a_lock_that_cannot_be_read_is_refused_and_left(content: bytes, user: User) -> None:
    user.lock.write_bytes(content)
    before = tree_of(user.home)
    for command in COMMANDS:
        done = user.run(*command)
        assert (done.code, "the lock file is refused" in done.err) == (2, True), command
        assert "\x1b" not in done.err
    assert tree_of(user.home) == before


def test_without_a_lock_it_is_said_how_to_get_one(user: User) -> None:
    user.lock.unlink()
    for command in COMMANDS[:-1]:
        done = user.run(*command)
        assert (done.code, "--agent HOST --global` writes one" in done.err) == (2, True)
    assert user.run(*COMMANDS[-1]).code == 0
    assert list(json.loads(user.lock.read_text())) == ["version", "skills"]


def test_a_folder_and_the_user_are_not_both_meant(user: User) -> None:
    for command in COMMANDS[:-1]:
        assert user.run(*command, "--into", str(user.skills)).code == 2


BESIDE = """
import json, os, sys
lock, moment, *arguments = sys.argv[1:]
with open(lock, encoding="utf-8") as file:  # as the installer: no lock, no rename, one early look
    shape = json.load(file)
shape["skills"]["theirs"] = {"source": "a/b", "sourceType": "github"}
text, left = json.dumps(shape, indent=2), int(moment)

def beside(event, given):
    global left
    path = given[0] if event == "open" else ""
    if isinstance(path, str) and os.path.realpath(path) == lock:
        left -= 1
        if left == -1:
            with open(lock, "w", encoding="utf-8") as file:
                file.write(text)

from skillyard.cli import main
sys.addaudithook(beside)
code = main(arguments)
sys.exit(code if left < 0 else 100)
"""


def test_no_entry_is_lost_when_the_installer_writes_before_our_last_look(user: User) -> None:
    """Before each opening of the lock: the last one is right before the rename."""
    lock = os.path.realpath(user.lock)
    environ = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    for moment in range(100):
        user.write({"pdf": user.entry})
        words = ("add", "docx", *AGENTS)
        command = [sys.executable, "-c", BESIDE, lock, str(moment), *words]
        done = subprocess.run(command, env=environ, capture_output=True, check=False)
        if done.returncode == 100:
            break
        assert done.returncode == 0, done.stderr
        assert {*user.entries()} == {"pdf", "docx", "theirs"}, moment
    assert moment > 3
