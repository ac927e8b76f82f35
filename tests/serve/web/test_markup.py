"""HTML is put together in one place, and nothing gets past it unescaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.invisible import clean
from skillyard.serve.web.markup import Markup, concat, escape_text, outward, tag
from tests.serve.web.page_parser import harm, read
from tests.tables import for_each

texts = st.text(max_size=60) | st.sampled_from(
    [
        "<script>alert(1)</script>", "'\" onmouseover=alert(1) x='", "</pre></textarea></title>",
        "<!--", "--><img src=x onerror=alert(1)>", "&lt;b&gt;", "&amp", "\u202eevil\u2066",
        "a\u200bb", "\ud800", "\x00\x1b[2J", "]]>", "\r\n<b>", "{{7*7}}${7*7}",
    ]
)  # fmt: skip


def shown(text: str) -> str:
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


@given(texts, texts)
def test_any_text_stays_text_between_tags_and_in_attributes(content: str, value: str) -> None:
    for name in ("p", "pre", "textarea", "title", "option", "code"):
        page = read(tag(name, content, title=value, data_copy=value))
        (element,) = page.elements
        assert harm(page) == []
        assert "".join(element.text) == shown(content)
        assert element.attributes == {"title": shown(value), "data-copy": shown(value)}


@given(st.lists(texts, max_size=5))
def test_parts_stand_one_after_the_other_and_nothing_is_escaped_twice(parts: list[str]) -> None:
    once = concat(*parts)
    assert concat(once) == once
    assert tag("p", [parts, [None]]) == tag("p", concat(*map(escape_text, parts)))


def test_only_text_that_is_html_already_is_taken_as_html() -> None:
    assert tag("p", Markup("<b>"), "<b>", 7, None) == "<p><b>&lt;b&gt;7</p>"


def test_what_cannot_be_seen_is_written_out() -> None:
    assert tag("p", "a\u202eb\u200b\x1b") == "<p>a\\u{202e}b\\u{200b}\\x1b</p>"
    assert tag("p", "one\r\ntwo\rthree") == "<p>one\ntwo\nthree</p>"


def test_the_first_line_of_a_text_is_kept_where_browsers_would_drop_it() -> None:
    assert tag("pre", "\nx") == "<pre>\n\nx</pre>"
    assert tag("textarea", "x") == "<textarea>x</textarea>"


def test_attributes_that_are_false_or_none_are_left_out() -> None:
    made = tag("input", type="checkbox", checked=True, hidden=False, value=None, tabindex=0)
    assert made == '<input type="checkbox" checked tabindex="0">'


@for_each(
    ("name", "attributes"),
    [
        ("iframe", {}), ("img", {"src": "/x"}), ("p", {"onclick": "x"}), ("p", {"style": "x"}),
        ("a", {"href": "javascript:alert(1)"}), ("a", {"href": "//evil.example"}),
        ("a", {"href": "/\\evil.example"}), ("a", {"href": "data:text/html,x"}),
        ("a", {"href": " https://a.example"}), ("a", {"href": "page"}), ("a", {"href": ""}),
        ("a", {"href": "/a\nb"}), ("form", {"action": "javascript:x"}),
        ("button", {"formaction": "/x"}), ("p", {"a b": "x"}), ("p", {"x>": "y"}),
    ],
)  # fmt: skip
def test_what_no_page_has_is_refused(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no page"):
        tag(name, **attributes)


@for_each(
    ("address", "good"),
    [
        ("https://a.example/b?c=d#e", True), ("http://a.example", True), (None, False), ("", False),
        ("javascript:alert(1)", False), ("JAVASCRIPT:alert(1)", False), ("data:text/html,x", False),
        ("//a.example", False), ("/etc", False), ("https://a.example/\n", False),
        ("https://a.example/ b", False), ("https://a.example/<b>", False), ("vbscript:x", False),
        ("https://ä.example", False), ("file:///etc/passwd", False), ("https://", False),
        ("https://a.example/" + "x" * 3_000, False),
    ],
)  # fmt: skip
def test_pages_link_to_plain_web_addresses_only(address: str | None, good: bool) -> None:
    assert (outward(address) is not None) is good


@given(texts)
def test_an_address_that_is_let_through_can_stand_in_a_link(text: str) -> None:
    address = outward(text)
    if address is not None:
        assert harm(read(tag("a", "x", href=address))) == []
