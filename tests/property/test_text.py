"""Laws of making text safe: what is clean stays clean, what is escaped comes back, frames hold."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.base.invisible import clean, find_hidden, hidden_in_body
from skillyard.base.text import (
    clean_line,
    escape_frame,
    name_fault,
    xml_escape,
)
from skillyard.base.unicode_tables import DEFAULT_IGNORABLE
from skillyard.context import estimate_tokens
from skillyard.engine.context.budget import cut
from tests.frames import unescape_frame
from tests.property.strategies import few, hostile_text, many, tag_soup

INVISIBLE = frozenset(re.findall(f"[{DEFAULT_IGNORABLE}]", "".join(map(chr, range(0x110000)))))
# Characters beside which an invisible one may belong to text, and some of those.
sequences = st.lists(
    st.one_of(
        st.sampled_from(
            "a1#ÄЖبدیकष्رमᠠ\u1100\u1161\u11a8\u20e3葛∩❤\U0001f3f4\U0001f469\U0001f3fd\U0001f1e9"
        ),
        st.sampled_from(
            "\u200c\u200d\ufe0f\ufe0e\ufe00\u00ad\u034f\u115f\u1160\u180b\u180e\u064e\u05b4"
        ),
        st.sampled_from(
            ["\U000e0100", "\U000e0067\U000e0062", "\U000e007f", "\u200b", "\u3164", "\r"]
        ),
        st.sampled_from(sorted(INVISIBLE)),
    ),
    max_size=12,
).map("".join)
any_text = st.one_of(hostile_text, tag_soup, sequences)


def tags(text: str) -> list[int]:
    """Return where frame tags start, found by reading on from every bracket."""
    found = []
    for start, char in enumerate(text):
        if char != "[":
            continue
        rest = (c for c in text[start + 1 :] if not c.isspace() and c not in INVISIBLE)
        seen = "".join(c for c, _ in zip(rest, range(8), strict=False)).casefold()
        seen = seen.removeprefix("/")
        if seen.startswith(("skill]", "skill:")):
            found.append(start)
    return found


@many
@given(any_text)
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert find_hidden(once) is None
    assert clean_line(clean_line(text)) == clean_line(text)
    assert "\n" not in clean_line(text)


@many
@given(
    st.text(st.characters(max_codepoint=0x7E), max_size=30),
    st.sampled_from(sorted(INVISIBLE)),
    st.data(),
)
def test_an_invisible_character_in_ascii_is_found_wherever_it_stands(
    text: str, char: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    given_text = f"{text[:at]}{char}{text[at:]}"
    if char == "\u00ad" and re.search("[A-Za-z]{2}\u00ad[A-Za-z]", given_text):
        return  # a soft hyphen in a word
    if given_text.startswith("\ufeff"):
        given_text = f" {given_text}"  # the mark in front of a file is none
    assert char not in clean(given_text)
    assert find_hidden(given_text) is not None
    assert hidden_in_body(given_text.encode()) is not None


@many
@given(any_text)
def test_hidden_text_found_in_bytes_is_hidden_text_of_that_line(text: str) -> None:
    data = text.encode("utf-8", "replace")
    found = hidden_in_body(data)
    if found is not None:
        line, label = found
        assert label.startswith("U+")
        hidden = find_hidden(data.decode().removeprefix("\ufeff").split("\n")[line - 1])
        assert hidden is not None
        assert hidden.label == label


@many
@given(any_text)
def test_escaping_leaves_no_frame_tag_and_can_be_taken_back(text: str) -> None:
    escaped = escape_frame(text)
    assert tags(escaped) == []
    assert unescape_frame(escaped) == text
    assert unescape_frame(unescape_frame(escape_frame(escaped))) == text


@many
@given(any_text)
def test_escaping_touches_nothing_but_the_tags(text: str) -> None:
    assert len(escape_frame(text)) >= len(text)
    if not tags(text) and "\\" not in text and "ı" not in text and "İ" not in text:
        assert escape_frame(text) == text


@few
@given(any_text, any_text)
def test_no_body_and_no_name_closes_its_frame_at_any_cut(body: str, name: str) -> None:
    skill = sy.Skill(name, "d", body)
    for max_chars in range(len(clean(body)) * 2 + 2):
        block = sy.prompt_block(skill, max_chars=max_chars)
        assert tags(block) == [0, len(block) - len("[/skill]")]
    whole = sy.prompt_block(skill)
    inside = whole.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert unescape_frame(inside) == clean(body.replace("\r\n", "\n").replace("\r", "\n"))


@few
@given(any_text, st.integers(0, 40))
def test_a_token_budget_holds_and_keeps_the_frame(body: str, max_tokens: int) -> None:
    kept = cut(body, max_tokens)
    assert estimate_tokens(kept) <= max_tokens
    block = sy.prompt_block(sy.Skill("n", "d", body), max_tokens=max_tokens)
    assert tags(block) == [0, len(block) - len("[/skill]")]


@many
@given(any_text)
def test_what_is_escaped_for_xml_is_read_back_as_it_was(text: str) -> None:
    shown = "".join(c for c in clean(text) if c not in "\ufffe\uffff")
    root = ElementTree.fromstring(f"<a b='{xml_escape(shown)}'>{xml_escape(shown)}</a>")
    assert (root.text or "") == shown
    assert root.attrib["b"] == shown.replace("\n", " ").replace("\t", " ")


@many
@given(hostile_text)
def test_a_name_that_is_let_through_is_safe_in_a_line_a_path_and_a_frame(name: str) -> None:
    if name_fault(name) is None:
        assert clean(name) == name
        assert not set(name) & set('/\\<>"[]\n\t\0')
        assert name not in {"", ".", ".."}
        assert not name.startswith("-")
