"""The folders in which the commands of installed skills look, and what the lock may say of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.installation.project import LOCK, NEWER, Project
from tests.cli.installation.project import project as project
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import tree_of

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


class TestFolders:
    def test_links_of_the_installer_are_other_names_for_the_folder(self, project: Project) -> None:
        hosts = project.root / ".claude" / "skills"
        hosts.mkdir(parents=True)
        (hosts / "pdf").symlink_to("../../.agents/skills/pdf")
        assert project.run("verify").code == 0
        shutil.rmtree(project.skills / "pdf")
        assert project.state("sync") == "installed"
        assert (hosts / "pdf" / "SKILL.md").exists()
        document = project.run("remove", "pdf", "--into", ".claude/skills", "--json").json
        assert document["skills"][0]["state"] == "unlinked"
        assert not (hosts / "pdf").is_symlink()
        assert (project.skills / "pdf" / "SKILL.md").exists()
        assert "pdf" in project.lock()["skills"]
        (hosts / "pdf").symlink_to("../../.agents/skills/pdf")
        (document,) = project.run("remove", "pdf", "--json").json["skills"]
        assert document["links"] == [".claude/skills/pdf"]
        assert not os.path.lexists(hosts / "pdf")

    def test_a_link_to_a_folder_of_the_users_own_is_never_followed(self, project: Project) -> None:
        """Even with the very files of the lock: it is what somebody works on."""
        own = project.root / "src" / "pdf"
        own.parent.mkdir()
        (project.skills / "pdf").rename(own)
        (project.skills / "pdf").symlink_to("../../src/pdf")
        project.publish(**{"SKILL.md": NEWER})
        before = project.tree()
        for command in (("sync",), ("update", "--yes"), ("remove", "pdf", "--backup")):
            done = project.run(*command)
            assert (done.code, "is a link to a folder" in done.out) == (1, True)
        assert project.tree() == before
        assert (project.skills / "pdf").is_symlink()

    def test_copies_are_updated_and_removed_together(self, project: Project) -> None:
        assert project.run("add", "pdf", "--into", ".claude/skills").code == 0
        project.publish(**{"SKILL.md": NEWER})
        assert project.state("update", "--yes") == "updated"
        copies = [project.skills / "pdf", project.root / ".claude" / "skills" / "pdf"]
        assert [tree_of(copy) for copy in copies] == [{"SKILL.md": NEWER.encode()}] * 2
        (copies[1] / "mine").write_text("mine")
        assert project.run("remove", "pdf").code == 1
        assert all(copy.exists() for copy in copies)
        (copies[1] / "mine").unlink()
        assert project.run("remove", "pdf").code == 0
        assert not any(copy.exists() for copy in copies)

    def test_nothing_is_written_where_a_link_leads_out(
        self, project: Project, tmp_path: Path
    ) -> None:
        shutil.rmtree(project.skills)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        project.skills.symlink_to(elsewhere)
        done = project.run("sync")
        assert (done.code, "leads out of the project" in done.err) == (2, True)
        assert list(elsewhere.iterdir()) == []
        project.skills.unlink()
        project.skills.mkdir()
        (elsewhere / "pdf").mkdir()
        (project.skills / "pdf").symlink_to(elsewhere / "pdf")
        assert project.state("sync") == "unreadable"
        assert list((elsewhere / "pdf").iterdir()) == []

    def test_two_entries_of_one_folder_are_told(self, project: Project) -> None:
        project.relock(lambda shape: shape["skills"].update(PDF=shape["skills"]["pdf"]))
        assert project.state("verify", name="PDF") == "unreadable"
        assert project.state("verify") == "current"
        assert "fix: `skillyard remove PDF` drops this entry" in project.run("verify").out
        assert project.run("remove", "PDF").code == 0
        assert project.run("verify", "--json").json["differs"] is False

    def test_a_folder_that_was_named_is_remembered_by_the_lock(self, project: Project) -> None:
        assert project.run("remove", "pdf").code == 0
        assert project.run("add", "pdf", "--into", "tools/skills").code == 0
        assert project.lock()["skills"]["pdf"]["into"] == "tools/skills"
        copy = project.root / "tools" / "skills" / "pdf"
        project.publish(**{"SKILL.md": NEWER})
        assert project.state("verify") == "current"
        assert project.state("update", "--yes") == "updated"
        assert (copy / "SKILL.md").read_text() == NEWER
        shutil.rmtree(project.root / "tools")  # as after a clone that does not hold it
        assert project.state("sync") == "installed"
        assert (copy / "SKILL.md").read_text() == NEWER
        assert not (project.skills / "pdf").exists()
        (project.root.parent / "outside").mkdir()
        (project.root / "link").symlink_to(project.root.parent / "outside")
        for outside in ("../outside", str(project.root.parent / "outside"), ".git/hooks", "link"):
            project.relock(lambda shape, into=outside: shape["skills"]["pdf"].update(into=into))  # type: ignore[misc]
            assert project.state("sync") == "installed"
            shutil.rmtree(project.skills / "pdf")
        assert not list((project.root.parent / "outside").iterdir())
        project.relock(lambda shape: shape["skills"]["pdf"].update(into="tools/skills"))
        assert project.run("remove", "pdf").code == 0
        assert not copy.exists()

    def test_a_hint_names_the_skill_as_a_shell_takes_it(self, project: Project) -> None:
        project.relock(lambda shape: shape["skills"].update({"Pd f!": shape["skills"].pop("pdf")}))
        (project.skills / "pd-f").symlink_to(project.root)
        assert "say `skillyard update 'Pd f!'`" in project.run("verify").out

    def test_a_name_that_only_resembles_that_of_a_folder_is_unknown(self, project: Project) -> None:
        before = project.tree()
        for name in ("..pdf", "./pdf", "PDF"):
            for command in ("remove", "update"):
                done = project.run(command, name)
                assert (done.code, "unknown skill of the lock file" in done.err) == (2, True)
        assert project.tree() == before

    @pytest.mark.parametrize("command", ["sync", "update", "outdated", "verify"])
    def test_without_a_lock_it_says_how_to_make_one(self, project: Project, command: str) -> None:
        (project.root / LOCK).unlink()
        done = project.run(command)
        assert (done.code, "skillyard add NAME --into DIR" in done.err) == (2, True)

    def test_what_lies_aside_comes_back_whoever_moved_it(self, project: Project) -> None:
        before = project.tree()
        (project.skills / "pdf").rename(project.skills / ".skillyard-swap-pdf")
        assert project.state("verify") == "interrupted"
        assert project.state("sync") == "current"
        assert project.tree() == before

    def test_names_of_a_hostile_lock_reach_no_terminal_and_no_other_folder(
        self, project: Project, tmp_path: Path
    ) -> None:
        """A lock comes with a clone: its names may be anything."""
        entry = {
            "source": "acme/skills",
            "sourceType": "github",
            "skillPath": "skills/pdf/SKILL.md",
        }
        names = ["\x1b[2Jred\u202e", "../../outside", "/etc/passwd", "a\nb", "", "x" * 5000]
        project.relock(lambda shape: shape["skills"].update(dict.fromkeys(names, entry)))
        for command in ("verify", "sync", "outdated", "update"):
            done = project.run(command)
            assert done.code == 1
            assert not {"\x1b", "\u202e"} & set(done.out + done.err)
        assert project.run("remove", *names).code == 0
        assert {path.name for path in tmp_path.iterdir()} <= {"cache", "config", "project", "state"}
        assert list(project.lock()["skills"]) == ["docx", "pdf"]

    def test_what_a_stopped_run_left_is_told_and_the_next_sync_ends_it(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stopped(*_: object) -> None:
            raise KeyboardInterrupt

        project.publish(**{"SKILL.md": NEWER})
        with monkeypatch.context() as patch:
            patch.setattr("skillyard.install.copies.lockfile.ProjectLock.note", stopped)
            assert project.run("update", "--yes").code == 130
        before = project.tree()
        assert project.state("verify") == "interrupted"
        assert project.run("sync", "--frozen").code == 1
        assert project.run("sync", "--dry-run").code == 1
        assert project.tree() == before
        assert project.run("sync").code == 0
        assert project.run("verify").code == 0
        assert project.state("update", "--yes") == "updated"
        assert (project.skills / "pdf" / "SKILL.md").read_text() == NEWER
