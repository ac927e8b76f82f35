"""Whatever stands in a value, a template shows it as text and links only to plain addresses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.invisible import clean
from skillyard.serve.web.rendering import environment, outward
from tests.serve.web.page_parser import harm, read
from tests.serve.web.page_values import macro

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
def test_an_address_that_is_let_through_can_stand_in_a_link(text: str) -> None:
    address = outward(text)
    if address is not None:
        assert harm(read(macro("linked", "x", address))) == []
