"""Which files of a skill may be executed is pinned too: what changes it is told and kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text
from tests.configuration import configure

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no executable bits")

RUN, HELP = Path("scripts/run.sh"), Path("scripts/help.sh")


class Kit:
    """A skill ``kit`` in a folder of the project, and its copy for agents."""

    def __init__(self, root: Path, run: Run) -> None:
        self.run = run
        self.lock = root / "skills-lock.json"
        self.source = root / "kit"
        self.folder = root / ".agents" / "skills" / "kit"

    def state(self, command: str, *more: str) -> tuple[str, str]:
        """Return the state that a command reports, and its problem."""
        (skill,) = self.run(command, *more, "--json").json["skills"]
        return skill["state"], (skill["problem"] or {"message": ""})["message"]


@pytest.fixture
def kit(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    kit = Kit(root, run)
    (kit.source / "scripts").mkdir(parents=True)
    (kit.source / "SKILL.md").write_text(text("kit", "Runs a tool."))
    for path in (RUN, HELP):
        (kit.source / path).write_text("date\n")
    (kit.source / RUN).chmod(0o755)
    assert run("add", "./kit", "--into", ".agents/skills").code == 0
    return kit


def test_a_bit_that_was_lost_or_gained_is_an_edit_and_stays(kit: Kit) -> None:
    assert kit.state("verify") == ("current", "")
    for path, mode, now in ((RUN, 0o644, "no longer"), (HELP, 0o755, "now")):
        (kit.folder / path).chmod(mode)
        edited = f"the folder is not what was installed: '{path}' ({now} executable)"
        assert kit.state("verify") == ("edited", edited)
        assert kit.state("sync", "--frozen") == ("edited", edited)
        assert kit.state("update", "--yes") == ("edited", edited)
        assert kit.run("remove", "kit").code == 1
        (kit.source / "SKILL.md").write_text(text("kit", f"Runs a tool in {path}."))
        done = kit.run("add", "./kit", "--into", ".agents/skills")
        assert (done.code, f"{now} executable" in done.err) == (2, True)
        assert (kit.folder / path).stat().st_mode & 0o777 == mode
        (kit.source / "SKILL.md").write_text(text("kit", "Runs a tool."))
        (kit.folder / path).chmod(0o755 if path == RUN else 0o644)
    assert kit.state("verify") == ("current", "")


def test_a_version_that_only_changes_bits_is_shown_and_taken(kit: Kit) -> None:
    (kit.source / HELP).chmod(0o755)
    assert kit.state("outdated")[0] == "outdated"
    done = kit.run("update", "--dry-run")
    assert "changed  scripts/help.sh (now executable)" in done.out
    assert kit.state("update", "--yes")[0] == "updated"
    assert os.access(kit.folder / HELP, os.X_OK)
    assert (kit.state("verify")[0], kit.state("outdated")[0]) == ("current", "current")


def test_sync_installs_no_other_bits_than_the_lock_pins(kit: Kit) -> None:
    shutil.rmtree(kit.folder)
    (kit.source / HELP).chmod(0o755)
    state, problem = kit.state("sync")
    assert (state, "is not what the lock pins" in problem) == ("refused", True)
    assert not kit.folder.exists()
    (kit.source / HELP).chmod(0o644)
    assert kit.state("sync")[0] == "installed"
    assert kit.state("verify")[0] == "current"


def test_a_bit_of_an_older_version_is_an_edit_too(kit: Kit) -> None:
    """The lock came from version control, and names another version."""
    (kit.source / "SKILL.md").write_text(text("kit", "Runs a newer tool."))
    (kit.folder / RUN).chmod(0o644)
    shape = json.loads(kit.lock.read_text())
    shape["skills"]["kit"]["digest"] = "sha256:0"
    kit.lock.write_text(json.dumps(shape))
    assert kit.state("verify")[0] == "edited"
    (kit.folder / RUN).chmod(0o755)
    assert kit.state("verify")[0] == "behind"


def test_an_entry_that_pins_no_bits_holds_as_before(kit: Kit) -> None:
    shape = json.loads(kit.lock.read_text())
    del shape["skills"]["kit"]["executableDigest"]
    kit.lock.write_text(json.dumps(shape))
    (kit.folder / RUN).chmod(0o644)
    for command in ("verify", "outdated", "update"):
        assert kit.state(command)[0] == "current"
    assert kit.run("add", "./kit", "--into", ".agents/skills").code == 0
    assert os.access(kit.folder / RUN, os.X_OK)
    (kit.folder / RUN).chmod(0o644)
    assert kit.state("verify")[0] == "edited"


def test_a_file_system_without_bits_is_no_edit(kit: Kit) -> None:
    for path in ("SKILL.md", RUN, HELP):  # as it shows them
        (kit.folder / path).chmod(0o755)
    assert kit.state("verify")[0] == "current"


def test_a_source_that_reports_no_bits_pins_none(
    tmp_path: Path, run: Run, remotes: FakeServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot of skills.sh is text alone; GitHub has the bits once it answers again."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    nowhere = f"{remotes.skills_sh}/nothing"
    configure(monkeypatch, tmp_path, sources={"github_api_url": nowhere})
    assert run("add", "pdf", "--into", "skills").code == 0
    lock = Path("skills-lock.json")
    (entry,) = json.loads(lock.read_text())["skills"].values()
    assert ("commit" in entry, "executableDigest" in entry) == (False, False)
    script = Path("skills/pdf/scripts/fill.py")
    script.chmod(0o755)  # as it is upstream
    assert run("verify", "--into", "skills").code == 0
    shape = run("add", "pdf", "--into", "skills", "--json").json
    assert (shape["state"], os.access(script, os.X_OK)) == ("unchanged", True)
    configure(monkeypatch, tmp_path, sources=remotes.sources())
    assert run("outdated", "--into", "skills").code == 0
