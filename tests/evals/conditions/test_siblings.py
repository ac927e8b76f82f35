"""Files beside a skill: only those listed, only its own, only so many bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.context.budget import TRUNCATED
from skillyard.evals.conditions.arms import Sibling, read_siblings
from tests.property.strategies import few, hostile_text


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


def test_files_come_in_the_order_listed_and_once(folder: Path) -> None:
    result = read_siblings(str(folder), ["references/b.md", "a.md", "./a.md", "references//b.md"])
    assert result.files == (
        Sibling("references/b.md", "Beta.\n", False),
        Sibling("a.md", "Alpha.\n", False),
    )
    assert (result.missing, result.refused, result.left_out) == ((), (), ())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../outside.md", "'..'"),
        ("references/../../outside.md", "'..'"),
        ("/etc/passwd", "absolute"),
        ("~/x.md", "absolute"),
        ("C:x.md", "drive"),
        ("references\\b.md", "backslash"),
        ("%2e%2e/outside.md", "percent"),
        ("", "empty"),
        (".", "the folder itself"),
        ("a.md\n", "control"),
        ("references/deep/c.md", "more than one folder"),
        ("SKILL.md", "the skill itself"),
        ("skill.md", "the skill itself"),
        ("references", "not a regular file"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_with_the_reason(
    folder: Path, name: str, why: str
) -> None:
    result = read_siblings(str(folder), [name, "a.md"])
    ((refused, reason),) = result.refused
    assert refused == name
    assert why in reason
    assert [sibling.name for sibling in result.files] == ["a.md"]


@pytest.mark.parametrize("target", ["../outside.md", "a.md", "/etc/passwd", "nowhere"])
def test_a_link_is_refused_wherever_it_leads(folder: Path, target: str) -> None:
    (folder / "link.md").symlink_to(target)
    (folder / "linked").symlink_to(folder / "references")
    result = read_siblings(str(folder), ["link.md", "linked/b.md"])
    assert (result.files, result.missing) == ((), ())
    assert [name for name, _ in result.refused] == ["link.md", "linked/b.md"]


def test_a_skill_whose_own_folder_is_a_link_has_its_siblings(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folder)
    assert read_siblings(str(tmp_path / "alias"), ["a.md"]).files[0].text == "Alpha.\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_refused_and_nobody_waits_for_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    ((_, why),) = read_siblings(str(folder), ["pipe.md"]).refused
    assert "not a regular file" in why


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"\xff\xfea\x00", "UTF-16"), (b"a\x00b", "NUL"), (b"caf\xe9", "not UTF-8")],
)
def test_what_is_no_text_is_refused_with_the_reason(folder: Path, data: bytes, why: str) -> None:
    (folder / "odd.md").write_bytes(data)
    ((name, reason),) = read_siblings(str(folder), ["odd.md"]).refused
    assert name == "odd.md"
    assert why in reason


def test_a_file_too_large_to_read_is_refused(folder: Path) -> None:
    with (folder / "huge.md").open("wb") as file:
        file.truncate(8 << 30)
    ((_, why),) = read_siblings(str(folder), ["huge.md"]).refused
    assert "larger than" in why


def test_the_file_that_crosses_the_budget_is_cut_and_marked_and_the_rest_left_out(
    folder: Path,
) -> None:
    (folder / "one.md").write_text("x" * 200, encoding="utf-8")
    (folder / "two.md").write_text("é" * 200, encoding="utf-8")
    result = read_siblings(str(folder), ["one.md", "two.md", "a.md", "no.md"], 401)
    assert [sibling.truncated for sibling in result.files] == [False, True]
    assert result.files[1].text == "é" * 100 + "\n" + TRUNCATED
    assert result.left_out == ("a.md", "no.md")


@pytest.mark.parametrize(("remaining", "read"), [(100, 1), (101, 2)])
def test_nothing_is_read_for_a_hundred_bytes(folder: Path, remaining: int, read: int) -> None:
    (folder / "one.md").write_text("x" * 200, encoding="utf-8")
    (folder / "two.md").write_text("y" * 200, encoding="utf-8")
    assert len(read_siblings(str(folder), ["one.md", "two.md"], 200 + remaining).files) == read


@few
@given(st.text(min_size=101, max_size=400), st.integers(101, 300))
def test_a_cut_text_is_the_start_of_the_whole_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory, text: str, budget: int
) -> None:
    folder = tmp_path_factory.mktemp("skill")
    text = text.replace("\0", "").replace("\r", "").lstrip("\ufeff")
    (folder / "x.md").write_text(text, encoding="utf-8", newline="")
    (result,) = read_siblings(str(folder), ["x.md"], budget).files
    prefix = result.text.removesuffix(f"\n{TRUNCATED}") if result.truncated else result.text
    assert text.startswith(prefix)
    assert len(prefix.encode()) <= budget
    assert result.truncated is (len(text.encode()) > budget)


@few
@given(st.lists(hostile_text, max_size=5))
def test_every_distinct_name_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    result = read_siblings(str(tmp_path_factory.mktemp("skill")), names)
    told = [*result.missing, *(name for name, _ in result.refused)]
    assert result.files == ()
    assert set(told) <= set(names)
    assert len(told) == len(set(told))
    assert bool(told) is bool(names)
