"""Another description in a skill's file, and every other byte as before."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from skillyard.catalog import read_catalog
from skillyard.errors import InvalidInput
from skillyard.validation.description_edit import plan_description, replace_description
from skillyard.validation.fix_plan import write_plan
from skillyard.validation.fixes import Place
from tests.tables import for_each

PLACE = Place("a/SKILL.md", "a")
HEAD, TAIL = (
    b"---\n# first\nname:  a\n",
    b"\nlicense: MIT # of the code\n---\n\n# A  \n\ndescription: old\n",
)


def document(description: bytes) -> bytes:
    return HEAD + description + TAIL


@for_each(
    ("before", "text", "after"),
    [
        (b"description: old", "New one.", b"description: New one."),
        (b"description:   old  # why", "New.", b"description:   New.  # why"),
        (b"description: old", "A: b", b"description: 'A: b'"),
        (b"description: old", "It's #1: x", b"description: 'It''s #1: x'"),
        (b"description: old", "yes", b"description: yes"),
        (b"description: 'old'", "New.", b"description: 'New.'"),
        (b'description: "old"', 'Say "x"', b'description: "Say \\"x\\""'),
        (b'"description": "old"', "New.", b'"description": "New."'),
        (b"description: >-\n  old\n  text", "New.", b"description: New."),
        (b"description: |\n  old\n\n  text\n", "New.", b"description: New.\n"),
        (b"description: old\n  text", "New.", b"description: New."),
        ("description: \u00fcber".encode(), "\u00c4: b", "description: '\u00c4: b'".encode()),
    ],
)
def test_only_the_description_changes(before: bytes, text: str, after: bytes) -> None:
    assert replace_description(document(before), PLACE, text) == document(after)


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    before, after = (
        b"\xef\xbb\xbf" + document(each).replace(b"\n", b"\r\n")
        for each in (b"description: old", b"description: New.")
    )
    assert replace_description(before, PLACE, "New.") == after


@for_each(
    "data",
    [
        b"# no frontmatter\n",
        b"---\nname: a\n---\nbody\n",
        b"---\nname: a\ndescription: [old]\n---\nbody\n",
        b"---\nname: a\ndescription: old: text\n---\nbody\n",
        b"---\nname: a\ndescription: &x old\ntitle: *x\n---\nbody\n",
        b"---\r\nname: a\ndescription: old\n---\nbody\n",
        b"---\nname: a\ndescription: \xff\n---\nbody\n",
    ],
)
def test_what_cannot_be_replaced_alone_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"a/SKILL\.md is not written"):
        replace_description(data, PLACE, "New.")


def test_the_file_is_written_with_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a" / "SKILL.md"
    path.parent.mkdir()
    path.write_bytes(document(b"description: old"))
    path.chmod(0o640)
    catalog = read_catalog(tmp_path)
    write_plan(plan_description(catalog, catalog.get("a"), "New."))
    assert path.read_bytes() == document(b"description: New.")
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_file_behind_a_link_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "real.txt").write_bytes(document(b"description: old"))
    (folder / "SKILL.md").symlink_to("real.txt")
    catalog = read_catalog(tmp_path)
    with pytest.raises(InvalidInput, match="reached by a link"):
        plan_description(catalog, catalog.get("a"), "New.")
