"""Whatever becomes of one entry of an approved skill, its approval is gone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from skillyard.hosts.hook.admission import NotApproved, approved_content
from skillyard.hosts.hook.skill_content import Unapprovable, content_of
from skillyard.hosts.hook.trust import Project
from tests.requirements import requirement

BELOW = "skills/one/SKILL.md"
NAMES = ["a", "b.py", "c d", ".git", "node_modules", "__pycache__", "x.pyc", "é", "n\nl"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
ENTRIES = st.one_of(
    st.binary(max_size=40),  # a file
    st.none(),  # a folder
    st.sampled_from(["a", "b.py", ".", "../../shared", "../../shared/tool", "gone"]),  # a link
)
CHANGES = ["byte", "end", "remove", "rename", "relink", "link to itself moved", "mode", "add"]


def put(place: Path, entry: bytes | str | None) -> None:
    """Make a file, a link or a folder. Raises OSError where something is in the way."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(entry, bytes):
        with place.open("xb") as file:
            file.write(entry)
    elif isinstance(entry, str):
        place.symlink_to(entry)
    else:
        place.mkdir()


def change(place: Path, how: str, draw: st.DataObject, project: Path) -> None:
    """Change one entry. A change that this entry cannot undergo ends the example."""
    is_file = place.is_file() and not place.is_symlink()
    if how == "byte":
        assume(is_file and place.stat().st_size)
        data = bytearray(place.read_bytes())
        data[draw.draw(st.integers(0, len(data) - 1))] ^= draw.draw(st.integers(1, 255))
        place.write_bytes(data)
    elif how == "end":
        assume(is_file)
        place.write_bytes(place.read_bytes() + draw.draw(st.binary(min_size=1, max_size=3)))
    elif how == "remove":
        shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
    elif how == "rename":
        place.rename(place.with_name("renamed"))
    elif how == "relink":
        assume(place.is_symlink())
        place.unlink()
        place.symlink_to("another")
    elif how == "link to itself moved":  # the same content, reached by a link
        place.rename(project / "moved")
        place.symlink_to(project / "moved")
    elif how == "mode":
        assume(is_file)
        place.chmod(place.stat().st_mode ^ 0o100)
    else:
        folder = place if place.is_dir() and not place.is_symlink() else place.parent
        put(folder / "added", draw.draw(ENTRIES))


@requirement("safety:approval:every-entry")
@given(tree=st.dictionaries(PATHS, ENTRIES, max_size=8), how=st.sampled_from(CHANGES),
       draw=st.data())  # fmt: skip
def test_any_change_of_any_entry_takes_the_approval_away(
    tree: dict[str, bytes | str | None], how: str, draw: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "project"
        skill = root / BELOW
        put(skill, b"---\nname: one\ndescription: d\n---\nDo it.\n")
        put(root / "shared" / "tool", b"a tool")
        for path, entry in tree.items():
            try:
                put(skill.parent / path, entry)
            except OSError:
                continue  # another entry is in its way
        try:
            digest = content_of(str(skill), str(root)).digest
        except Unapprovable:  # a link leads out of the project: there is nothing to take away
            reject()
        approved = Project(str(root), 0.0, {BELOW: digest})
        assert approved_content(approved, str(skill)).digest == digest
        entries = sorted(skill.parent.rglob("*"))
        change(draw.draw(st.sampled_from(entries)), how, draw, root)
        with pytest.raises((NotApproved, OSError)):
            approved_content(approved, str(skill))
