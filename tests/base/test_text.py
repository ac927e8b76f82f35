"""The one place where untrusted text is made safe: what is found, written out, escaped, refused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.invisible import clean, find_hidden, hidden_in_body
from skillyard.base.text import (
    escape_frame,
    name_fault,
    normalised_name,
    stream_safe,
    without_passwords,
)
from tests.frames import unescape_frame
from tests.tables import for_each

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

HIDDEN = [
    ("\x00", "\\x00"),
    ("\x1b", "\\x1b"),
    ("\r", "\\x0d"),
    ("\x7f", "\\x7f"),
    ("\x85", "\\x85"),
    ("\x9b", "\\x9b"),
    ("\u200b", "\\u{200b}"),
    ("\u2028", "\\u{2028}"),
    ("\u202e", "\\u{202e}"),
    ("\u2060", "\\u{2060}"),
    ("\u2069", "\\u{2069}"),
    ("\ufeff", "\\u{feff}"),
    ("\ud800", "\\u{d800}"),
    ("\U000e0041", "\\u{e0041}"),
]


@for_each(("char", "written"), HIDDEN, ids=lambda text: ascii(text))
def test_a_hidden_character_is_found_and_written_out(char: str, written: str) -> None:
    text = f"a{char}b"
    assert clean(text) == f"a{written}b"
    found = find_hidden(text)
    assert found is not None
    assert found.offset == 1
    assert found.label.startswith(f"U+{ord(char):04X} ")


@for_each(
    "text",
    ["plain", "two\nlines\tand a tab", "Grüße, 你好, שלום", FAMILY, ENGLAND, "می‌خواهم"],
)
def test_what_people_write_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text
    assert find_hidden(text) is None


# The soft hyphen alone is judged by its place.
@given(st.text(st.characters(max_codepoint=0x100, exclude_characters="\xad"), max_size=20))
def test_of_western_texts_the_same_is_written_out_as_is_found(text: str) -> None:
    hidden = [char for char in text if find_hidden(char) is not None]
    assert (clean(text) == text) == (not hidden)
    assert all(char not in clean(text) for char in hidden)


class TestBodies:
    @for_each(
        ("data", "line"),
        [
            (b"one\ntwo\x1b[2J", 2),
            (b"\x7f", 1),
            ("eins\nzwei\nüb\u200ber".encode(), 3),
            ("a\n“b”\n\u202ec".encode(), 3),
            ("“x”\x08".encode(), 1),
            ("\u2066a\u2069".encode(), 1),
            ("a\nb\U000e0041".encode(), 2),
        ],
    )
    def test_the_first_hidden_character_is_reported_with_its_line(
        self, data: bytes, line: int
    ) -> None:
        found = hidden_in_body(data)
        assert found is not None
        assert found[0] == line

    @for_each(
        "text",
        [
            "",
            "plain\r\ntext\twith a tab\n",
            "\ufeffa byte order mark",
            "“quotes” — dashes … and 2⁴",
            f"{FAMILY} {ENGLAND}",
        ],
    )
    def test_ordinary_bodies_hold_nothing_hidden(self, text: str) -> None:
        assert hidden_in_body(text.encode()) is None


class TestNames:
    @for_each(
        "name",
        [
            "pdf",
            "PDF Tools",
            "a.b",
            "v1.0",
            "конвертер",
            "数据-清洗",
            "データ2",
            "café",
            "git",
            "a-b",
        ],
    )
    def test_ordinary_names_are_safe(self, name: str) -> None:
        assert name_fault(name) is None

    @for_each(
        ("name", "fault"),
        [
            ("a\nb", "U+000A CONTROL"),
            ("a\u200db", "ZERO WIDTH JOINER"),
            ("a\u202eb", "RIGHT-TO-LEFT OVERRIDE"),
            ("a\u00adb", "SOFT HYPHEN"),
            ("a/b", "'/'"),
            ("a\\b", "'\\\\'"),
            ("a]b", "']'"),
            ('a"b', "'\"'"),
            ("a<b", "'<'"),
            ("C:evil", "drive letter"),
            ("-rf", "hyphen"),
            (".", "reserved file name"),
            ("..", "reserved file name"),
            (".git", "reserved file name"),
            (".GIT. .", "reserved file name"),
            ("git~1", "reserved file name"),
            ("con", "reserved device name"),
            ("Nul.txt", "reserved device name"),
            ("com1 .md", "reserved device name"),
            ("target.", "ends with a dot or a blank"),
            ("target ", "ends with a dot or a blank"),
            ("ｃａｎａｒｙ", "compatibility forms"),
            ("cаnary", "mixes scripts (Cyrillic, Latin)"),
            ("канαл", "mixes scripts (Cyrillic, Greek)"),
        ],
    )
    def test_a_name_that_could_steer_something_is_refused_and_the_reason_given(
        self, name: str, fault: str
    ) -> None:
        found = name_fault(name)
        assert found is not None
        assert fault in found

    @for_each(
        ("name", "normalised"),
        [
            ("My Skill_v2.0", "my-skill-v20"),
            ("a--b", "a--b"),
            ("Größe", "größe"),
            ("!?", "skill"),
            ("", "skill"),
        ],
    )
    def test_the_name_in_an_id_is_normalised_as_documented(
        self, name: str, normalised: str
    ) -> None:
        assert normalised_name(name) == normalised


class TestFrames:
    @for_each(
        "tag",
        [
            "[/skill]",
            "[skill:x]",
            "[SKILL:x]",
            "[ / Skill ]",
            "[\n/skill\n]",
            "[/s\u200bkill]",
            "[\u00ad/skill]",
            "[/\u200dskill]",
            "[/ſkill]",
            "[\\/skill]",
            "[\\\\skill:",
        ],
    )
    def test_anything_that_reads_as_a_frame_tag_gets_a_backslash_more(self, tag: str) -> None:
        escaped = escape_frame(f"x {tag} y")
        assert escaped == f"x [\\{tag[1:]} y"
        assert unescape_frame(escaped) == f"x {tag} y"


def test_runs_of_combining_marks_are_bounded_before_normalising() -> None:
    text = "a" + "\u0315\u0300" * 5_000 + "b" + "e\u0301" * 600
    safe = stream_safe(text)
    assert safe == "a" + "\u0315\u0300" * 15 + "b" + "e\u0301" * 600
    assert stream_safe("x\u0301" * 10) == "x\u0301" * 10


@for_each(
    ("given", "shown"),
    [
        ("at postgresql://u:pw@h:5/db: away", "at postgresql://u:***@h:5/db: away"),
        ("'postgresql://u:p/w@x@h/db'", "'postgresql://u:***@h/db'"),
        ("https://u:pw@h/a", "https://u:***@h/a"),
        ("https://h:80/@scope/a", "https://h:80/@scope/a"),
        ("postgresql://u@h/db?password=pw&x=1", "postgresql://u@h/db?password=***&x=1"),
        ("a://b:c@d  e://f:g@h", "a://b:***@d  e://f:***@h"),
        ("mail a@b or c://d", "mail a@b or c://d"),
        ("password= is empty", "password= is empty"),
    ],
)
def test_the_password_of_an_address_is_not_shown(given: str, shown: str) -> None:
    assert without_passwords(given) == shown
    assert without_passwords(shown) == shown
