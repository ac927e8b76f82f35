"""``add`` where the common installer has a skill of the same name for this user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.copies.lockfile import read_project_lock
from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

TREE = "5a" * 20
COMMIT = "c0ffee" + "0" * 34


class TestInstalledForUser:
    """What the common installer put there for the user stays its own, and its lock is not ours."""

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A home with one skill that the installer put there, and its lock."""
        home = tmp_path / "home"
        monkeypatch.setenv("HOME", str(home))
        for name in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.chdir(tmp_path)
        (home / ".agents" / "skills" / "pdf").mkdir(parents=True)
        (home / ".agents" / "skills" / "pdf" / "SKILL.md").write_text(text("pdf", "Theirs."))
        self.locked(home)
        return home

    def locked(self, home: Path, name: str = "pdf", **fields: Any) -> Path:
        """Write the user's lock with one entry, as the installer does."""
        entry = {
            "source": "acme/skills",
            "sourceType": "github",
            "sourceUrl": "https://github.com/acme/skills.git",
            "skillPath": "skills/pdf/SKILL.md",
            "skillFolderHash": TREE,
            "installedAt": "2026-03-01T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
            "pluginName": "documents",
            **fields,
        }
        path = home / ".agents" / ".skill-lock.json"
        document = {"version": 3, "skills": {name: entry}, "dismissed": {"x": True}}
        path.write_text(json.dumps(document, indent=2))
        return path

    def test_it_is_said_who_installed_it_and_nothing_is_overwritten(
        self, run: Run, remotes: FakeServers, home: Path
    ) -> None:
        lock = home / ".agents" / ".skill-lock.json"
        before = tree_of(home)
        done = run("add", "pdf", "--into", str(home / ".agents" / "skills"), "--yes")
        assert done.code == 2
        said = f"installed by npx skills from acme/skills at tree {TREE[:12]}, 2026-03-02"
        assert said in done.err
        assert "npx skills update pdf" in done.err
        assert tree_of(home) == before
        assert lock.read_bytes() == before[".agents/.skill-lock.json"]

    @pytest.mark.parametrize("link", ["folder", "skill"])
    def test_a_link_to_it_is_it(
        self, run: Run, remotes: FakeServers, home: Path, link: str
    ) -> None:
        into = home / ".claude" / "skills"
        into.parent.mkdir()
        if link == "folder":
            into.symlink_to(home / ".agents" / "skills")
        else:
            into.mkdir()
            (into / "pdf").symlink_to(home / ".agents" / "skills" / "pdf")
        before = tree_of(home)
        done = run("add", "pdf", "--into", str(into))
        assert (done.code, "installed by npx skills" in done.err) == (2, True)
        assert tree_of(home) == before

    def test_the_same_content_stays_theirs(
        self, run: Run, remotes: FakeServers, home: Path
    ) -> None:
        """A lock of ours beside it would let the next run replace it."""
        into = home / ".agents" / "skills"
        remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Theirs.")})
        before = tree_of(home)
        shape = run("add", "pdf", "--into", str(into), "--json").json
        assert (shape["state"], shape["lock"]) == ("unchanged", None)
        assert (shape["installed"]["tool"], shape["installed"]["source"]) == (
            "npx skills",
            "acme/skills",
        )
        assert tree_of(home) == before
        assert not Path("skills-lock.json").exists()
        assert (
            "left as it is  installed by npx skills" in run("add", "pdf", "--into", str(into)).out
        )
        remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Newer.")})
        forget_remote_answers()
        assert run("add", "pdf", "--into", str(into)).code == 2
        assert tree_of(home) == before

    def test_a_project_gets_its_own_and_is_told_of_the_other(
        self, run: Run, remotes: FakeServers, home: Path, tmp_path: Path
    ) -> None:
        before = tree_of(home)
        done = run("add", "pdf", "--into", str(tmp_path / "project" / "skills"))
        assert done.code == 0
        assert "for this user  installed by npx skills from acme/skills" in done.out
        assert (tmp_path / "project" / "skills" / "pdf" / "SKILL.md").is_file()
        assert tree_of(home) == before

    def test_what_the_installer_does_not_name_is_added_beside_it(
        self, run: Run, remotes: FakeServers, home: Path
    ) -> None:
        lock = home / ".agents" / ".skill-lock.json"
        before = lock.read_bytes()
        shape = run("add", "docx", "--into", str(home / ".agents" / "skills"), "--json").json
        assert (shape["state"], shape["installed"]) == ("added", None)
        assert lock.read_bytes() == before
        remotes.add_repository("acme/skills", {"skills/docx/SKILL.md": text("docx", "Newer.")})
        forget_remote_answers()
        again = run("add", "docx", "--into", str(home / ".agents" / "skills"), "--json").json
        assert again["state"] == "replaced"

    def test_an_entry_whose_folder_is_gone_is_said(
        self, run: Run, remotes: FakeServers, home: Path
    ) -> None:
        into = home / ".agents" / "skills"
        (into / "pdf" / "SKILL.md").unlink()
        (into / "pdf").rmdir()
        done = run("add", "pdf", "--into", str(into))
        assert (done.code, "installed by npx skills" in done.out) == (0, True)

    def test_the_state_folder_is_where_the_variable_says(
        self,
        run: Run,
        remotes: FakeServers,
        home: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "state" / "skills").mkdir(parents=True)
        (home / ".agents" / ".skill-lock.json").rename(
            tmp_path / "state" / "skills" / ".skill-lock.json"
        )
        into = str(home / ".agents" / "skills")
        assert "installed by" not in run("add", "pdf", "--into", into).err
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        assert "installed by" in run("add", "pdf", "--into", into).err

    @pytest.mark.parametrize(
        "content",
        [b"\xff", b'{"version":4,"skills":{}}',
         b'{"version":3,"skills":{"pdf":{"source":1,"sourceType":"github"}}}'],
    )  # fmt: skip
    def test_a_lock_that_cannot_be_read_costs_nothing_and_is_left(
        self, run: Run, remotes: FakeServers, home: Path, content: bytes
    ) -> None:
        lock = home / ".agents" / ".skill-lock.json"
        lock.write_bytes(content)
        into = str(home / ".agents" / "skills")
        assert run("add", "docx", "--into", into).code == 0
        done = run("add", "pdf", "--into", into)
        assert (done.code, "is not replaced" in done.err) == (2, False)
        remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Theirs.")})
        forget_remote_answers()
        done = run("add", "pdf", "--into", into)
        assert (done.code, "what npx skills installed is not known" in done.out) == (0, True)
        assert "pdf" not in (skill.name for skill in read_project_lock("skills-lock.json").skills)
        assert lock.read_bytes() == content

    def test_what_a_hostile_lock_says_is_cleaned_and_short(
        self, run: Run, remotes: FakeServers, home: Path
    ) -> None:
        loud = "\x1b]0;owned\x07\u202e" + "x" * 50_000 + "\nskillyard: all is well"
        self.locked(home, name="; rm -rf pdf", source=loud, ref=loud, commit=loud, updatedAt=loud)
        (home / ".agents" / "skills" / "rm-rf-pdf").mkdir()
        remotes.add_repository("acme/evil", {"SKILL.md": text("rm-rf-pdf", "Odd.")})
        done = run("add", "acme/evil", "--into", str(home / ".agents" / "skills"))
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert len(done.err) < 1_500
        assert not {"\x1b", "\x07", "\u202e"} & set(done.err)
        assert "npx skills update rm-rf-pdf`" in done.err
