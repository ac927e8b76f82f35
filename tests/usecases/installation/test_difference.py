"""What ``update`` shows of another version, whatever the two versions hold."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.usecases.installation.difference import (
    FileChange,
    difference_of,
    edited_paths,
)

SKILL = b"---\nname: a\ndescription: A.\nallowed-tools: Read Grep\n---\n\nText.\n"


def installed(folder: Path, files: dict[str, bytes]) -> str:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return str(folder)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """The folder of a skill, with nothing in it."""
    folder = tmp_path / "skill"
    folder.mkdir()
    return folder


def changes(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> dict[str, FileChange]:
    found = difference_of(installed(folder, old), new)
    return {each.path: each for each in found.files}


def test_skill_md_comes_first_and_tools_are_compared(skill: Path) -> None:
    new = {"SKILL.md": SKILL.replace(b"Read Grep", b"Read Bash"), "A.md": b"x"}
    found = difference_of(installed(skill, {"SKILL.md": SKILL}), new)
    assert [each.path for each in found.files] == ["SKILL.md", "A.md"]
    assert (found.tools_added, found.tools_removed) == (("Bash",), ("Grep",))
    assert [each.rule for each in found.findings] == ["tools_too_wide"]


def test_what_has_no_diff_says_why(skill: Path) -> None:
    long = "".join(f"{number}\n" for number in range(1_001)).encode()
    old = {"SKILL.md": SKILL, "bin": b"\0", "latin": b"\xe9", "end": b"a\n", "big": b"a" * 200_000}
    new = {**old, "bin": b"\0\0", "latin": b"\xe8", "end": b"a", "big": b"b", "long": long}
    notes = {path: each.note for path, each in changes(skill, old, new).items()}
    assert notes == {
        "bin": "binary",
        "latin": "binary",
        "end": "only the newline at its end",
        "big": "too large for a diff",
        "long": "too large for a diff",
    }


def test_many_files_are_all_named_and_some_have_a_diff(skill: Path) -> None:
    found = changes(skill, {"SKILL.md": SKILL}, {f"{number:03}": b"x" for number in range(300)})
    assert len(found) == 301
    assert sum(bool(each.diff) for each in found.values()) == 20
    assert found["299"].note == "too many files for a diff"


def test_lines_that_repeat_without_end_take_no_time(skill: Path) -> None:
    """The worst case of difflib: every line of one side is like many of the other."""
    lines = [f"{number % 97}" for number in range(1_000)]
    old, new = "\n".join(lines).encode(), "\n".join(reversed(lines)).encode()
    assert changes(skill, {"SKILL.md": old}, {"SKILL.md": new})["SKILL.md"].diff


PATHS = st.sampled_from(["SKILL.md", "a", "b/c", "b/d"])
VERSIONS = st.dictionaries(PATHS, st.binary(max_size=20), max_size=4)


@given(old=VERSIONS, new=VERSIONS)
def test_a_version_differs_exactly_where_its_files_do(
    old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    with TemporaryDirectory() as folder:
        found = changes(Path(folder), old, new)
        expected = {path for path in {*old, *new} if old.get(path) != new.get(path)}
        assert set(found) == expected
        assert edited_paths(folder, new) == sorted(expected)
        kinds = {path: each.change for path, each in found.items()}
    assert kinds == {
        path: "added" if path not in old else "removed" if path not in new else "changed"
        for path in expected
    }
