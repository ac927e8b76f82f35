"""What a digest covers: every file of a skill, no file of anybody else, within limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.hosts.hook import skill_content
from skillyard.hosts.hook.skill_content import LIMITS, Unapprovable, content_of


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "one" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"---\nname: one\n---\n")
    return path


def digest(skill: Path) -> str:
    return content_of(str(skill), str(skill.parents[1])).digest


@pytest.mark.parametrize("leads_to", ["/etc/passwd", "../../outside", "../../not-there"])
def test_a_link_out_of_the_project_cannot_be_approved(leads_to: str, skill: Path) -> None:
    (skill.parents[2] / "outside").write_text("secret", encoding="utf-8")
    (skill.parent / "link").symlink_to(leads_to)
    with pytest.raises(Unapprovable, match="'link' leads out of the project"):
        digest(skill)


def test_a_pipe_is_refused_and_not_waited_for(skill: Path) -> None:
    os.mkfifo(skill.parent / "pipe")
    with pytest.raises(Unapprovable, match="no regular file"):
        digest(skill)


@pytest.mark.parametrize(("limit", "what"), [("entries", "files"), ("bytes", "bytes")])
def test_a_skill_that_is_larger_than_anybody_looks_through_is_refused(
    limit: str, what: str, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (skill.parent / f"{number}").write_bytes(b"x" * 20)
    assert digest(skill)
    smaller = LIMITS._replace(**{limit: 4 if limit == "entries" else 60})
    monkeypatch.setattr(skill_content, "LIMITS", smaller)
    with pytest.raises(Unapprovable, match=what):
        digest(skill)


def test_of_a_skill_at_the_root_only_its_own_folders_count(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "scripts").mkdir(parents=True)
    path = root / "SKILL.md"
    path.write_text("x", encoding="utf-8")

    def now() -> str:
        return content_of(str(path), str(root)).digest

    before = now()
    (root / "main.py").write_text("x", encoding="utf-8")
    assert now() == before
    (root / "scripts" / "a.sh").write_text("x", encoding="utf-8")
    assert now() != before
