"""What a digest covers: every file of a skill, no file of anybody else, within limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillyard.hosts.hook import skill_content
from skillyard.hosts.hook.skill_content import LIMITS, Unapprovable, content_of
from tests.tables import for_each


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "one" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"---\nname: one\n---\n")
    return path


def digest(skill: Path) -> str:
    return content_of(str(skill), str(skill.parents[1])).digest


def test_the_bytes_that_come_back_are_those_of_the_digest(skill: Path) -> None:
    content = content_of(str(skill), str(skill.parents[1]))
    assert content.data == skill.read_bytes()
    assert len(content.digest) == 64


ENTRIES = [
    *("a.txt", "scripts/a.sh", ".hidden", "a\nb", ".git/HEAD", "node_modules/x/i.js"),
    "scripts/__pycache__/helper.cpython-311.pyc",
]
"""Files that any one of may be run, whatever tools make of their names."""


@for_each("name", ENTRIES)
def test_each_file_counts_by_name_and_content(name: str, skill: Path) -> None:
    before = digest(skill)
    other = skill.parent / name
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("x", encoding="utf-8")
    with_file = digest(skill)
    other.write_text("y", encoding="utf-8")
    changed = digest(skill)
    other.chmod(0o755)
    assert len({before, with_file, changed, digest(skill)}) == 4


def test_a_link_counts_by_where_it_leads_and_what_is_there(skill: Path) -> None:
    shared = skill.parents[1] / "shared" / "lib" / "tool.py"
    shared.parent.mkdir(parents=True)
    shared.write_text("print(1)", encoding="utf-8")
    for leads_to in ("../shared/lib/tool.py", "../shared", "../shared/lib"):
        link = skill.parent / "link"
        link.symlink_to(leads_to)
        before = digest(skill)
        shared.write_text(shared.read_text() + "#", encoding="utf-8")
        changed = digest(skill)
        assert changed != before, leads_to
        link.unlink()
    link.symlink_to("../shared/lib/../lib")  # the same content, another way
    assert digest(skill) not in (before, changed)


def test_links_in_circles_end(skill: Path) -> None:
    (skill.parent / "self").symlink_to(".")
    (skill.parents[1] / "other").mkdir()
    (skill.parents[1] / "other" / "back").symlink_to("../one")
    (skill.parent / "there").symlink_to("../other")
    assert len(digest(skill)) == 64


@pytest.mark.parametrize("leads_to", ["/etc/passwd", "../../outside", "../../not-there"])
def test_a_link_out_of_the_project_cannot_be_approved(leads_to: str, skill: Path) -> None:
    (skill.parents[2] / "outside").write_text("secret", encoding="utf-8")
    (skill.parent / "link").symlink_to(leads_to)
    with pytest.raises(Unapprovable, match="'link' leads out of the project"):
        digest(skill)


@for_each(
    "field",
    ["references: [guide.md]", "references:\n  - guide.md", '"refer\\x65nces": [guide.md]'],
)
def test_a_file_that_a_single_document_names_counts(field: str, skill: Path) -> None:
    document = skill.parents[1] / ".skills" / "two.md"
    document.parent.mkdir(exist_ok=True)
    document.write_text(f"---\nname: two\ndescription: d\n{field}\n---\nx\n", encoding="utf-8")
    guide = document.with_name("guide.md")
    guide.unlink(missing_ok=True)
    missing = digest(document)
    guide.write_text("Read it.", encoding="utf-8")
    there = digest(document)
    guide.write_text("Read it!", encoding="utf-8")
    assert len({missing, there, digest(document)}) == 3


def test_a_pipe_is_refused_and_not_waited_for(skill: Path) -> None:
    os.mkfifo(skill.parent / "pipe")
    with pytest.raises(Unapprovable, match="no regular file"):
        digest(skill)


def test_a_file_of_its_own_that_is_a_link_is_not_read(skill: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    skill.rename(other)
    skill.symlink_to(other)
    with pytest.raises(OSError):  # noqa: PT011 - whichever the system says
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


def test_folders_without_end_are_refused(skill: Path) -> None:
    (skill.parent / Path(*["d"] * 20)).mkdir(parents=True)
    with pytest.raises(Unapprovable, match="nested"):
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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b", "c/d", "c/e"]), st.binary(max_size=3)),
        min_size=2,
        max_size=2,
    )
)
def test_two_contents_have_one_digest_only_when_they_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, both: list[dict[str, bytes]]
) -> None:
    found = []
    for files in both:
        root = tmp_path_factory.mktemp("p")
        path = root / "s" / "SKILL.md"
        path.parent.mkdir()
        path.write_text("x", encoding="utf-8")
        for name, data in files.items():
            (path.parent / name).parent.mkdir(exist_ok=True)
            (path.parent / name).write_bytes(data)
        found.append(content_of(str(path), str(root)).digest)
    assert (found[0] == found[1]) == (both[0] == both[1])
