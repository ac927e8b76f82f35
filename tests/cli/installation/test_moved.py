"""Skills whose source moved, renamed or deleted them, in a git repository and on GitHub."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.install.git.home import git_home as git_home
from tests.install.git.servers import Upstream
from tests.remote_answers import forget_remote_answers

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

PDF, DOCX = text("pdf", "Fill in PDF forms."), text("docx", "Write Word documents.")
NOTES = "skills/pdf/notes.md"
OLD = {"skills/pdf/SKILL.md": PDF, NOTES: "Notes.", "skills/docx/SKILL.md": DOCX}
DELETED = {"skills/docx/SKILL.md": DOCX}
HERE = Path(".agents/skills/pdf")
Publish = Callable[[Mapping[str, str]], str]


@pytest.fixture(params=["git", "github"])
def publish(
    request: pytest.FixtureRequest,
    git_home: Path,
    remotes: FakeServers,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Publish:
    """Install ``pdf`` from a repository; return what publishes its next commit."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    upstream = Upstream(tmp_path / "skills.git")

    def next_commit(files: Mapping[str, str]) -> str:
        if request.param == "git":
            return upstream.publish(files)
        commit = remotes.add_repository("acme/more", files).commit
        forget_remote_answers()
        return commit

    next_commit(OLD)
    source = "acme/more/pdf" if request.param == "github" else f"file://{upstream.folder}#@pdf"
    assert run("add", source, "--into", ".agents/skills").code == 0
    return next_commit


def entry() -> Any:
    return json.loads(Path("skills-lock.json").read_text())["skills"]["pdf"]


def state(run: Run, *command: str) -> tuple[int, Any]:
    done = run(*command, "--json")
    (skill,) = done.json["skills"]
    return done.code, skill


@pytest.mark.parametrize(
    ("folder", "body"),
    [
        ("tools/office/pdf", PDF),
        ("tools/office/pdf", text("pdf", "Fill in forms.", "More.")),
        ("skills/pdf-forms", text("pdf", "Fill in forms.", "More.")),
    ],
    ids=["moved folder", "moved and changed", "renamed folder"],
)
def test_a_skill_that_moved_is_taken_from_there(
    folder: str, body: str, run: Run, publish: Publish
) -> None:
    before = entry()
    commit = publish({f"{folder}/SKILL.md": body, f"{folder}/notes.md": "Notes.", **DELETED})
    code, told = state(run, "outdated")
    assert (code, told["state"], told["newest"]) == (1, "moved", commit)
    assert told["problem"]["message"] == f"moved to {folder}"
    assert told["problem"]["hint"] == "`skillyard update pdf` takes it from there"

    asked = run("update")
    assert (asked.code, f"moved to {folder}" in asked.out) == (1, True)
    assert (entry(), tree_of(HERE)["SKILL.md"]) == (before, PDF.encode())

    code, taken = state(run, "update", "--yes")
    assert (code, taken["state"]) == (0, "pinned" if body == PDF else "updated")
    assert entry() == {
        **before,
        **{key: entry()[key] for key in ("computedHash", "digest")},
        "skillPath": f"{folder}/SKILL.md",
        "commit": commit,
    }
    assert tree_of(HERE) == {"SKILL.md": body.encode(), "notes.md": b"Notes."}
    assert state(run, "outdated")[1]["state"] == "current"


@pytest.mark.parametrize(
    ("more", "named"),
    [({}, ""), ({"a/pdf/SKILL.md": PDF, "b/pdf/SKILL.md": PDF}, "a/pdf, b/pdf")],
    ids=["deleted", "in two places"],
)
def test_a_skill_that_is_gone_stays_installed_until_it_is_removed(
    more: Mapping[str, str], named: str, run: Run, publish: Publish
) -> None:
    before, files = entry(), tree_of(HERE)
    commit = publish({**DELETED, **more})
    for command in (("outdated",), ("update", "--yes")):
        code, told = state(run, *command)
        assert (code, told["state"]) == (1, "gone")
        since = f"between the commits {before['commit'][:12]} and {commit[:12]}"
        assert since in told["problem"]["message"]
        assert "`skillyard remove pdf` drops it" in told["problem"]["hint"]
        assert told["problem"]["hint"].endswith(named)
    assert (entry(), tree_of(HERE)) == (before, files)
    shutil.rmtree(HERE)
    assert state(run, "sync")[1]["state"] == "installed"
    assert tree_of(HERE) == files
    assert run("remove", "pdf").code == 0


def test_a_repository_that_cannot_be_found_is_not_called_gone(
    run: Run, publish: Publish, tmp_path: Path
) -> None:
    shape = json.loads(Path("skills-lock.json").read_text())
    pdf = shape["skills"]["pdf"]
    pdf["source"] = pdf["source"].replace("acme/more", "acme/none")
    Path("skills-lock.json").write_text(json.dumps(shape))
    shutil.rmtree(tmp_path / "skills.git")
    for command in ("outdated", "update"):
        code, told = state(run, command)
        assert (code, told["state"]) == (1, "refused")
        assert "if it is gone, `skillyard remove pdf` drops" in told["problem"]["hint"]


@pytest.mark.parametrize("publish", ["github"], indirect=True)
def test_a_renamed_repository_is_followed(run: Run, publish: Publish, remotes: FakeServers) -> None:
    before = entry()
    remotes.add_repository("acme/newer", OLD)
    remotes.add_repository("acme/more", OLD, renamed_to="acme/newer")
    forget_remote_answers()
    code, told = state(run, "outdated")
    assert (code, told["state"]) == (1, "moved")
    assert told["problem"]["message"] == "moved to acme/newer, skills/pdf"
    code, taken = state(run, "update", "--yes")
    assert (code, taken["state"]) == (0, "pinned")
    assert entry() == {**before, "source": "acme/newer", "commit": entry()["commit"]}
    assert state(run, "outdated")[1]["state"] == "current"
