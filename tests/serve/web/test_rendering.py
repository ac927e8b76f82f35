"""Whatever stands in a value, a template shows it as text and links only to plain addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from skillyard.base.invisible import clean
from skillyard.serve.web.rendering import environment, outward
from tests.serve.web.page_parser import harm, read
from tests.serve.web.page_values import macro
from tests.tables import for_each

texts = st.text(max_size=60) | st.sampled_from(
    [
        "<script>alert(1)</script>", "'\" onmouseover=alert(1) x='", "</pre></textarea></title>",
        "<!--", "--><img src=x onerror=alert(1)>", "&lt;b&gt;", "&amp", "\u202eevil\u2066",
        "a\u200bb", "\ud800", "\x00\x1b[2J", "]]>", "\r\n<b>", "{{7*7}}${7*7}", "{% raw %}",
    ]
)  # fmt: skip


def shown(text: str) -> str:
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def rendered(template: str, **values: object) -> str:
    return environment().from_string(template).render(**values)


@given(texts, texts)
def test_any_text_stays_text_between_tags_and_in_attributes(content: str, value: str) -> None:
    for name in ("p", "pre", "textarea", "title", "option", "code"):
        template = f'<{name} title="{{{{ value }}}}">\n{{{{ content }}}}</{name}>'
        page = read(rendered(template, content=content, value=value))
        (element,) = page.elements
        assert harm(page) == []
        assert "".join(element.text).removeprefix("\n") in (shown(content), shown(content)[1:])
        assert element.attributes == {"title": shown(value)}


@given(texts)
def test_text_that_a_macro_or_a_filter_passes_on_is_escaped_once(text: str) -> None:
    page = read(macro("copy_line", text, text))
    assert harm(page) == []
    assert page.all("code")[0].text == ([shown(text)] if text else [])
    line = rendered("<p>{{ text | line(1000) }}</p>", text=text)
    assert "&amp;amp;" not in rendered("<p>{{ text | line }}</p>", text="&")
    assert len(read(line).elements) == 1


def test_what_cannot_be_seen_is_written_out() -> None:
    assert rendered("{{ text }}", text="a\u202eb\u200b\x1b") == "a\\u{202e}b\\u{200b}\\x1b"
    assert rendered("{{ text }}", text="one\r\ntwo\rthree") == "one\ntwo\nthree"


def test_a_value_that_a_template_misses_is_an_error_and_no_blank() -> None:
    with pytest.raises(UndefinedError):
        rendered("{{ missing }}")


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
        assert harm(read(macro("linked", "x", address))) == []
