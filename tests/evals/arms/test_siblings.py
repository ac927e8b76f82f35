"""Files beside a skill: only those listed, only its own, only so many bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.context.budget import TRUNCATED
from skillyard.evals.arms import MAX_SIBLING_BYTES, read_siblings
from tests.property.strategies import few, hostile_text
from tests.tables import for_each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A skill's folder with files to read, and something outside it not to read."""
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    skill = tmp_path / "skill"
    (skill / "references" / "deep").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: x\n---\n", encoding="utf-8")
    (skill / "a.md").write_text("Alpha.\r\n", encoding="utf-8", newline="")
    (skill / "references" / "b.md").write_text("Beta.\n", encoding="utf-8")
    (skill / "references" / "deep" / "c.md").write_text("Gamma.\n", encoding="utf-8")
    return skill


def read(
    folder: Path, *names: str, limit: int = MAX_SIBLING_BYTES
) -> tuple[dict[str, str], list[str], dict[str, str]]:
    return read_siblings(str(folder), names, limit)


def test_files_come_in_the_order_listed_and_once(folder: Path) -> None:
    files, missing, refused = read(
        folder, "references/b.md", "a.md", "./a.md", "references//b.md", "no.md"
    )
    assert list(files.items()) == [("references/b.md", "Beta.\n"), ("a.md", "Alpha.\n")]
    assert (missing, refused) == (["no.md"], {})


@for_each(
    ("name", "why"),
    [
        ("../outside.md", "'..'"),
        ("/etc/passwd", "absolute"),
        ("C:x.md", "drive"),
        ("references\\b.md", "backslash"),
        ("%2e%2e/outside.md", "percent"),
        ("", "empty"),
        (".", "the folder itself"),
        ("a.md\n", "control"),
        ("references/deep/c.md", "more than one folder"),
        ("skill.md", "the skill itself"),
        ("references", "not a regular file"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_with_the_reason(
    folder: Path, name: str, why: str
) -> None:
    files, _, refused = read(folder, name, "a.md")
    assert list(refused) == [name]
    assert why in refused[name]
    assert list(files) == ["a.md"]


@for_each("target", ["../outside.md", "a.md", "/etc/passwd", "nowhere"])
def test_a_link_is_refused_wherever_it_leads(folder: Path, target: str) -> None:
    for name, to in (("link.md", target), ("linked", str(folder / "references"))):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(to)
    files, missing, refused = read(folder, "link.md", "linked/b.md")
    assert (files, missing) == ({}, [])
    assert list(refused) == ["link.md", "linked/b.md"]


def test_a_skill_whose_own_folder_is_a_link_has_its_siblings(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folder)
    assert read(tmp_path / "alias", "a.md")[0] == {"a.md": "Alpha.\n"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_refused_and_nobody_waits_for_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    assert "not a regular file" in read(folder, "pipe.md")[2]["pipe.md"]


@for_each(
    ("data", "why"),
    [(b"\xff\xfea\x00", "UTF-16"), (b"a\x00b", "NUL"), (b"caf\xe9", "not UTF-8")],
)
def test_what_is_no_text_is_refused_with_the_reason(folder: Path, data: bytes, why: str) -> None:
    (folder / "odd.md").write_bytes(data)
    assert why in read(folder, "odd.md")[2]["odd.md"]


def test_a_file_too_large_to_read_is_refused(folder: Path) -> None:
    with (folder / "huge.md").open("wb") as file:
        file.truncate(8 << 30)
    assert "larger than" in read(folder, "huge.md")[2]["huge.md"]


def test_the_file_that_crosses_the_budget_is_cut_and_marked_and_the_rest_left_out(
    folder: Path,
) -> None:
    (folder / "one.md").write_text("x" * 200, encoding="utf-8")
    (folder / "two.md").write_text("é" * 200, encoding="utf-8")
    files, _, refused = read(folder, "one.md", "two.md", "a.md", limit=401)
    assert list(files.items()) == [("one.md", "x" * 200), ("two.md", "é" * 100 + "\n" + TRUNCATED)]
    assert refused == {"a.md": "it does not fit into max_sibling_bytes"}


@for_each(("remaining", "count"), [(100, 1), (101, 2)])
def test_nothing_is_read_for_a_hundred_bytes(folder: Path, remaining: int, count: int) -> None:
    (folder / "one.md").write_text("x" * 200, encoding="utf-8")
    (folder / "two.md").write_text("y" * 200, encoding="utf-8")
    assert len(read(folder, "one.md", "two.md", limit=200 + remaining)[0]) == count


@few
@given(st.lists(hostile_text, max_size=5))
def test_every_distinct_name_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    files, missing, refused = read(tmp_path_factory.mktemp("skill"), *names)
    assert files == {}
    assert {*missing, *refused} == set(names)
