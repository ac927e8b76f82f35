"""``add`` to a folder of the user in which another installer put skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one skill that somebody else put there."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (home / ".agents" / "skills" / "pdf").mkdir(parents=True)
    (home / ".agents" / "skills" / "pdf" / "SKILL.md").write_text(text("pdf", "Theirs."))
    return home


@pytest.mark.parametrize("link", ["none", "folder", "skill"])
def test_nothing_of_it_is_overwritten(
    link: str, run: Run, remotes: FakeServers, home: Path
) -> None:
    into = home / ".claude" / "skills"
    into.parent.mkdir()
    if link == "none":
        into = home / ".agents" / "skills"
    elif link == "folder":
        into.symlink_to(home / ".agents" / "skills")
    else:
        into.mkdir()
        (into / "pdf").symlink_to(home / ".agents" / "skills" / "pdf")
    before = tree_of(home)
    assert run("add", "pdf", "--into", str(into), "--yes").code == 2
    assert tree_of(home) == before
    assert run("add", "docx", "--into", str(into), "--json").json["state"] == "added"


def test_the_same_content_stays_theirs(run: Run, remotes: FakeServers, home: Path) -> None:
    """A lock of ours beside it would let the next run replace it."""
    into = home / ".agents" / "skills"
    remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Theirs.")})
    before = tree_of(home)
    shape = run("add", "pdf", "--into", str(into), "--json").json
    assert (shape["state"], shape["lock"]) == ("unchanged", None)
    assert tree_of(home) == before
    assert not Path("skills-lock.json").exists()
    remotes.add_repository("acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Newer.")})
    forget_remote_answers()
    assert run("add", "pdf", "--into", str(into)).code == 2
    assert tree_of(home) == before
