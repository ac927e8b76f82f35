"""A body is rendered by a list of allowed tags, whatever it holds, and in bounded time."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from skillyard.serve.web.markdown import MAX_CHARACTERS, render_markdown
from tests.serve.web.page_parser import harm, read
from tests.tables import for_each

ALLOWED = {
    *("a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
pieces = st.sampled_from(
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))", "[x](&#106;avascript:alert(1))", "[x](data:text/html,<b>)",
        "![x](https://evil.example/a.png)", "[![x](a.png)](https://a.example)", "<https://a.b>",
        "<javascript:alert(1)>", "[r]: javascript:alert(1)\n\n[r]", "# h\n",
        "|a|b|\n|:-|-:|\n|c|d|\n",
        "```html\n<b>\n```\n", "\u202e", "<!-- c -->", "<svg/onload=alert(1)>", "&lt;b&gt;",
        '[x](https://a.example "onmouseover=alert(1)")', "[x](//evil.example)", "[x](/etc/passwd)",
        "> q\n", "- a\n", "**b**", "`<b>`", "\\<b>", "<a href=x>", "[x](https://a.example/'\"<>)",
    ]
) | st.text(max_size=20)  # fmt: skip


@given(st.lists(pieces, max_size=8))
def test_any_body_gives_harmless_html(parts: list[str]) -> None:
    html = render_markdown(" ".join(parts), lambda path: None)[0]
    page = read(html)
    assert harm(page) == []
    assert {element.tag for element in page.elements} <= ALLOWED
    for element in page.all("a"):
        assert element.attributes["href"].startswith(("http://", "https://"))
        assert set(element.attributes["rel"].split()) == {"noopener", "noreferrer", "nofollow"}
    for element in page.elements:
        assert set(element.attributes) <= {"href", "rel", "class", "start", "tabindex", "dir"}


def test_links_lead_to_the_web_or_to_files_that_lie_beside_the_skill() -> None:
    body = "[a](https://a.example) [b](references/b.md#c) [d](../d.md) [e](mailto:e@e) [f](#f)"
    beside = {"references/b.md": "/page/b"}
    page = read(render_markdown(body, beside.get)[0])
    assert [link.attributes["href"] for link in page.all("a")] == ["https://a.example", "/page/b"]
    assert "".join(page.all("p")[0].text) == "a b d e f"


def test_an_image_is_never_loaded_and_its_text_and_address_stay() -> None:
    html, _ = render_markdown(
        "![a chart](https://a.example/a.png) ![](b.png) [![in](c.png)](https://d.example)"
    )
    page = read(html)
    assert page.all("img") == []
    assert [link.attributes["href"] for link in page.all("a")] == ["https://d.example"]
    shown = "a chart (https://a.example/a.png) image (b.png) in (c.png)"
    assert "".join(page.all("p")[0].text) == shown


def test_a_text_that_is_too_long_is_shown_as_source_with_the_reason() -> None:
    html, note = render_markdown("# A\n" + "x" * MAX_CHARACTERS)
    assert "longer than" in note
    assert html.startswith("<pre")
    assert "# A" in html


def test_one_long_address_meant_by_many_links_does_not_grow_into_a_huge_page() -> None:
    target = "[x]: https://a.example/" + "y" * 20_000
    html, note = render_markdown(target + "\n\n" + "[x] " * 10_000)
    assert "long addresses" in note
    assert len(html) < 200_000


@for_each("piece", ["**", "](", "```\n"])
def test_no_construct_holds_the_renderer(piece: str) -> None:
    check_time(piece)


def check_time(piece: str) -> None:
    start = time.perf_counter()
    render_markdown(piece * (MAX_CHARACTERS // len(piece)))
    assert time.perf_counter() - start < 20  # a bound on hangs: most take a tenth of a second
