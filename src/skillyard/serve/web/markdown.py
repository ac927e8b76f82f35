"""Renders Markdown of skills: CommonMark and tables, no embedded HTML, a list of allowed tags.

There are two independent protections: the parser accepts no HTML, and its output passes a
sanitiser. Links lead to http and https only, or to files beside the skill. Images are never loaded;
their text and address are shown instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from posixpath import normpath
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from skillyard.serve.web.rendering import outward, shown

MAX_CHARACTERS = 65_536
"""Maximum characters of a rendered text; a longer one, which no agent reads completely, is shown as
source. 99.9 % of real files are shorter (``limits.py``)."""
MAX_STEPS = 30_000
"""Maximum number of lines for the parser, where a line counts once for each quote or list that it
may continue, because the parser visits it once for each. This allows three thousand lines in quotes
nine deep, more than the longest of 10,476 real texts needs (26,019). A step takes seven
microseconds at most. A single line takes less than two seconds at :data:`MAX_CHARACTERS`, whatever
its content."""
MAX_ATTRIBUTE_SIZE = 1_000_000
"""Total characters of the addresses of one text, because thousands of links may share one long
address."""
HEADINGS_FROM = 3
"""The headings of the page itself have levels one and two."""

_TAGS = {
    *("a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_CLASSES = {"td": {"center", "right"}, "th": {"center", "right"}, "span": {"picture"}}
_MARK = re.compile(r"[>+*-]|[0-9]{1,9}[.)]")
_MARKS = re.compile(r"^(?:[ \t]*+(?:[>+*-]|[0-9]{1,9}[.)]))+", re.MULTILINE)
"""The markers of quotes and lists at the start of a line."""
MAX_NESTING = 20
"""Maximum nesting of quotes and lists: ``maxNesting`` of the CommonMark preset."""
_ALIGNED = {"text-align:center": "center", "text-align:right": "right"}

Beside = Callable[[str], str | None]
"""Returns the page of a file beside the skill by its path; None when there is none."""


def render_markdown(text: str, beside: Beside = lambda path: None) -> tuple[Markup, str]:
    """Return a text as HTML, or as source and the reason when rendering would be too expensive."""
    text = shown(text)
    if len(text) > MAX_CHARACTERS:
        why = f"longer than {MAX_CHARACTERS:,} characters"
    elif _steps_of(text) > MAX_STEPS:
        why = "its quotes and lists are nested too deep"
    else:
        reader = _reader()
        tokens = reader.parse(text)
        if _size_of(tokens) <= MAX_ATTRIBUTE_SIZE:
            html = reader.renderer.render(list(_adapt_tokens(tokens, beside)), reader.options, {})
            return Markup(_sanitise(html)), ""
        why = "its links repeat long addresses"
    block = Markup('<pre class="source" tabindex="0" dir="auto"><code>{}</code></pre>')
    return block.format(text), f"{why}, so it is shown as it stands in the file"


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")


def _steps_of(text: str) -> int:
    """Return the number of lines times the nesting depth of quotes and lists, up to the limit."""
    deepest = max((len(_MARK.findall(mark[0])) for mark in _MARKS.finditer(text)), default=0)
    return (text.count("\n") + 1) * (1 + min(deepest, MAX_NESTING))


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )


def _size_of(tokens: Iterable[Token]) -> int:
    return sum(
        sum(len(str(value)) for value in token.attrs.values()) + _size_of(token.children or ())
        for token in tokens
    )


def _adapt_tokens(tokens: Iterable[Token], beside: Beside) -> Iterator[Token]:
    """Yield the tokens adapted to a page: headings lowered, links and images checked."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = min(6, int(token.tag[1:]) + HEADINGS_FROM - 1)
            token.tag = f"h{level}"
        elif token.type in ("th_open", "td_open"):
            aligned = _ALIGNED.get(str(token.attrs.pop("style", "")))
            if aligned is not None:
                token.attrs["class"] = aligned
        elif token.children:
            token.children = list(_check_links(token.children, beside))
        yield token


def _check_links(children: Iterable[Token], beside: Beside) -> Iterator[Token]:
    open_links: list[bool] = []
    for token in children:
        if token.type == "link_open":
            address = _address(str(token.attrs.get("href", "")), beside)
            token.attrs = {} if address is None else {"href": address}
            open_links.append(address is not None)
            if address is None:
                continue
        elif token.type == "link_close":
            if not open_links.pop():
                continue
        elif token.type == "image":
            yield from _instead_of_image(token)
            continue
        yield token


def _address(href: str, beside: Beside) -> str | None:
    if outward(href) is not None:
        return href
    path = unquote(href.partition("#")[0])
    if not path or path.startswith("/") or ":" in path:
        return None
    return beside(normpath(path))


def _instead_of_image(token: Token) -> Iterator[Token]:
    label = _text_of(token.children or ()) or "image"
    yield Token("picture_open", "span", 1, attrs={"class": "picture"})
    yield Token("text", "", 0, content=f"{label} ({token.attrs.get('src', '')})")
    yield Token("picture_close", "span", -1)


def _text_of(tokens: Iterable[Token]) -> str:
    return "".join(
        token.content or _text_of(token.children or ()) or (" " if "break" in token.type else "")
        for token in tokens
    ).strip()
