"""A skill against what it was: from a folder, and from a commit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from skillyard.evals.storage import part_of_run
from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project

OLD = "HEATTHEWATER"


def edit(workspace: Project) -> str:
    """Change one of the skills; return the folder of what they were."""
    old = workspace.folder / "old"
    shutil.copytree(workspace.folder / "skills", old)
    path = old / "tea-brewing/SKILL.md"
    path.write_text(path.read_text("utf-8").replace("Heat the water", OLD), "utf-8")
    return str(old)


def judged(workspace: Project) -> set[tuple[str, str]]:
    return {(case["skill_name"], case["comparison"]) for case in workspace.envelope()["cases"]}


def test_a_changed_skill_is_judged_against_a_folder(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    done = run("effectiveness", "--old-version", edit(workspace))
    assert done.code == 0, done.err
    assert judged(workspace) == {("tea-brewing", "enhanced/old")}
    envelope = workspace.envelope()
    entry = envelope["summary"]["tea-brewing"]
    assert set(entry["comparisons"]) == {"enhanced/old"}
    assert "baseline" not in str(entry["conditions"])
    systems = [call.body["system"] for call in fake.log.calls if call.kind == "generation"]
    assert len(systems) == 4
    assert sum(OLD in system for system in systems) == 2
    assert "--old-version" in part_of_run(envelope["meta"]), "it cannot become a baseline"


def test_a_changed_skill_is_judged_against_a_commit(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed: a commit cannot be made")
    skills = workspace.folder / "skills"
    path = skills / "tea-brewing/SKILL.md"
    new = path.read_text("utf-8")
    path.write_text(new.replace("Heat the water", OLD), "utf-8")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "old")):
        subprocess.run(["git", *arguments], cwd=skills, check=True, capture_output=True)
    path.write_text(new, "utf-8")
    done = run("effectiveness", "--old-version", "HEAD")
    assert done.code == 0, done.err
    assert judged(workspace) == {("tea-brewing", "enhanced/old")}
    assert any(OLD in str(call.body["system"]) for call in fake.log.calls)


@pytest.mark.parametrize("place", ["no-such-commit", "--all", "skills"])
def test_an_old_version_that_is_none_is_wrong_use(
    place: str, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    where = str(workspace.folder / place) if Path(workspace.folder / place).is_dir() else place
    done = run("effectiveness", f"--old-version={where}")
    assert done.code == 2
    assert where in done.err
    assert not fake.log.calls
