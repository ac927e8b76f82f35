"""What ``update`` shows of another version, whatever the two versions hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.base.shapes.installation import FileChange
from skillyard.install.operations.update import difference_of
from skillyard.install.sources.protocol import Package
from tests.parity.trees import write_tree

SKILL = b"---\nname: a\ndescription: A.\nallowed-tools: Read Grep\n---\n\nText.\n"


def installed(folder: Path, files: dict[str, bytes]) -> str:
    return str(write_tree(folder, files))


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """The folder of a skill, with nothing in it."""
    folder = tmp_path / "skill"
    folder.mkdir()
    return folder


def changes(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> dict[str, FileChange]:
    found = difference_of(installed(folder, old), Package(new, "acme/a"))
    return {each.path: each for each in found.files}


def test_what_has_no_diff_says_why(skill: Path) -> None:
    long = "".join(f"{number}\n" for number in range(1_001)).encode()
    old = {"SKILL.md": SKILL, "bin": b"\0", "latin": b"\xe9", "end": b"a\n", "big": b"a" * 200_000}
    new = {**old, "bin": b"\0\0", "latin": b"\xe8", "end": b"a", "big": b"b", "long": long}
    notes = {path: each.note for path, each in changes(skill, old, new).items()}
    assert notes == {
        "bin": "binary",
        "latin": "",
        "end": "only the newline at its end",
        "big": "too large for a diff",
        "long": "too large for a diff",
    }


def test_bytes_that_are_no_utf8_do_not_hide_a_script(skill: Path) -> None:
    """A shell runs both of these, and the scan reads them."""
    old = {"run.sh": b"date\n", "nul.sh": b"date\n", "page": "é".encode("utf-16")}
    new = {"run.sh": b"# \xff\nid\n", "nul.sh": b"# \0\nid\n", "page": "è".encode("utf-16")}
    found = changes(skill, old, new)
    assert found["run.sh"].diff.splitlines()[3:] == ["-date", "+# \\xff", "+id"]
    assert found["nul.sh"].diff.splitlines()[3:] == ["-date", "+# ", "+id"]
    assert found["page"].diff.splitlines()[3:] == ["-é", "+è"]
    (skill / "nul.sh").write_bytes(b"id\n")
    note = changes(skill, {}, {**new, "nul.sh": b"i\0d\n"})["nul.sh"].note
    assert note == "only NUL bytes or the encoding"
