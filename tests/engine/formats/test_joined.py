"""What was taken apart at its fences is put together again: the same file, or one that says it."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from skillyard import SkillError
from skillyard.engine.catalog import read_catalog
from skillyard.engine.formats.frontmatter import join_document, split, unify_lines
from tests.property.strategies import many
from tests.shared_data import REPOSITORY
from tests.tables import for_each

BLOCK = "name: a\ndescription: b\n"


def of(data: bytes) -> str:
    return sha256(data).hexdigest()


@for_each("start", ["", "\n", "\n\n"])
@for_each("end", ["", "\n", "\n\n"])
@for_each("body", ["Body.", "# A\n\n---\n\nB ü", "\ud83d\ude00"])
def test_the_usual_ways_to_space_a_file_come_back_byte_for_byte(
    start: str, end: str, body: str
) -> None:
    data = f"---\n{BLOCK}---\n{start}{body}{end}".encode("utf-8", "surrogatepass")
    assert join_document(BLOCK, body, of(data)) == data


_lines = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4)


@many
@given(_lines, _lines, st.sampled_from(["", "\n", "\n\n\n", " \n"]))
def test_whatever_was_taken_apart_says_the_same_again(
    block: list[str], body: list[str], gap: str
) -> None:
    text = unify_lines("---\n" + "".join(f"{each}\n" for each in block) + "---\n" + gap)
    text += "\n".join(body)
    try:
        taken = split(text, "x")
    except SkillError:
        return
    for known in ("", of(text.encode())):
        data = join_document(taken.block, taken.body, known)
        again = split(data.decode(), "x")
        assert (again.block, again.body) == (taken.block, taken.body)


def test_a_block_without_a_last_line_end_is_closed() -> None:
    taken = split(join_document("name: a", "Body.", "").decode(), "x")
    assert (taken.block, taken.body) == ("name: a\n", "Body.")


def test_every_file_of_our_own_library_comes_back() -> None:
    skills = list(read_catalog(str(REPOSITORY / "examples" / "skills")))
    assert len(skills) > 5
    for skill in skills:
        assert of(join_document(skill.frontmatter, skill.body or "", skill.hash)) == skill.hash, (
            skill.path
        )
