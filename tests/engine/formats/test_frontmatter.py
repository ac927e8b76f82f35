"""Bytes to text, and the fences: where frontmatter starts, where it ends, what the body is."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.formats.frontmatter import decode, split, unify_lines
from tests.tables import for_each


class TestDecode:
    @for_each(
        ("data", "code", "line", "message"),
        [
            ("a\nb".encode("utf-16"), "encoding_not_utf8", 1, "UTF-16"),
            ("a\nb".encode("utf-16-be").join([b"\xfe\xff", b""]), "encoding_not_utf8", 1, "UTF-16"),
            (b"\0", "binary_file", 1, "NUL"),
            (b"a\nb\n\0c", "binary_file", 3, "NUL"),
            (b"a\n\xe9b", "encoding_not_utf8", 2, "byte 2"),
            (b"\xc0\xaf", "encoding_not_utf8", 1, "byte 0"),
            (b"\n\n\xed\xa0\x80", "encoding_not_utf8", 3, "byte 2"),
        ],
    )
    def test_bytes_that_are_no_text_are_refused_with_their_line(
        self, data: bytes, code: str, line: int, message: str
    ) -> None:
        with pytest.raises(sy.SkillIoError, match=message) as caught:
            decode(data, "a/SKILL.md")
        assert (caught.value.code, caught.value.line) == (code, line)
        assert caught.value.path == "a/SKILL.md"


def test_line_ends_and_the_byte_order_mark_are_made_uniform() -> None:
    assert unify_lines("\ufeffa\r\nb\rc\n") == "a\nb\rc\n"
    assert unify_lines("a\n") == "a\n"


class TestSplit:
    @for_each(
        ("text", "block", "body"),
        [
            ("---\na: b\n---\nBody.\n", "a: b\n", "Body."),
            ("--- \t\na: b\n---  \nBody.", "a: b\n", "Body."),
            ("---\na: b\n---", "a: b\n", ""),
            ("---\n---\nBody.", "", "Body."),
            ("---\na: x --- y\n----\n ---\n--- z\n---\nB", "a: x --- y\n----\n ---\n--- z\n", "B"),
            ("---\na: b\n---\nB\n---\nc: d\n---\n", "a: b\n", "B\n---\nc: d\n---"),
            ("---\na: b\n---\xa0\n---\x0c\n---\nB", "a: b\n---\xa0\n---\x0c\n", "B"),
            ("---\na: |\n  ---\nb: c\n---\n\n\n  B  \n", "a: |\n  ---\nb: c\n", "B"),
        ],
    )
    def test_a_fence_is_a_line_of_exactly_three_hyphens_at_its_start(
        self, text: str, block: str, body: str
    ) -> None:
        found = split(text, "p")
        assert (found.block, found.body, found.block_line) == (block, body, 2)

    @for_each(
        ("text", "hint"),
        [
            ("", "start the file"),
            ("Body only.", "start the file"),
            ("----\na: b\n---\n", "start the file"),
            ("---\ra: b\r---\rBody", "CR alone"),
            ("  ---\na: b\n---\n", "blanks before"),
            ("\n---\na: b\n---\n", "what stands before"),
            ("+++\na = 1\n+++\n", "TOML"),
        ],
    )
    def test_a_missing_fence_is_explained_by_what_stands_there(self, text: str, hint: str) -> None:
        with pytest.raises(sy.InvalidFrontmatter) as caught:
            split(text, "a/SKILL.md")
        error = caught.value
        assert (error.code, error.path, error.line) == ("frontmatter_missing", "a/SKILL.md", 1)
        assert hint in error.hint

    @for_each(("char", "fits"), [("a", 20), ("é", 10)])
    def test_the_size_of_a_block_is_counted_in_bytes(self, char: str, fits: int) -> None:
        limits = sy.files.DEFAULT_LIMITS._replace(frontmatter_bytes=21)
        assert split(f"---\n{char * fits}\n---\n", "p", limits).block == char * fits + "\n"
        with pytest.raises(sy.InvalidFrontmatter) as caught:
            split(f"---\n{char * (fits + 1)}\n---\n", "p", limits)
        assert caught.value.code == "frontmatter_too_large"
