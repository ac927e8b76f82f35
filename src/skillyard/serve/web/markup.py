"""Builds HTML safely: everything that is not :class:`Markup` is escaped.

:func:`tag` is the only way from text to HTML, so no caller can forget to escape. Control
characters, bidi overrides and hidden characters are shown by :func:`skillyard.base.text.clean` in
the same place. Tags, attributes and addresses that no page uses raise ValueError, because that is
an error in our code: texts of skills never become names, and their addresses pass :func:`outward`
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TypeAlias

from skillyard.base.invisible import clean


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content: TypeAlias = "Markup | str | int | Iterable[Content] | None"
"""The content of an element; None is nothing."""
Attribute = str | int | bool | None
"""True writes the bare name; False and None omit the attribute."""

NOTHING = Markup("")
_VOID = frozenset({"br", "hr", "input", "link", "meta"})
_TAGS = _VOID | {
    *("html", "head", "title", "script", "style", "body", "header", "main", "footer", "nav"),
    *("article", "div", "section", "h1", "h2", "h3", "p", "pre", "ol", "ul", "li", "dl", "dt"),
    *("dd", "a", "bdi", "code", "span", "strong", "svg", "rect", "details", "summary"),
    *("form", "fieldset", "legend", "label", "button", "select", "option", "textarea"),
    *("noscript", "progress", "h4", "table", "caption", "thead", "tbody", "tr", "th", "td"),
}
_KEEPS_LINES = frozenset({"pre", "textarea"})
_ADDRESSES = frozenset({"action", "href", "src"})
_ATTRIBUTE = re.compile(r"(?!on)[a-z][a-zA-Z]*(?:-[a-z]+)*")
_REFUSED = frozenset({"style", "srcdoc", "formaction", "ping", "srcset", "xmlns"})
_INWARD = re.compile(r"#[A-Za-z0-9_-]*|/(?![/\\])[!-~]*")
_OUTWARD = re.compile(r"https?://[!-;=?-~]{1,2000}")


def escape_text(text: str) -> Markup:
    """Return text as HTML for any place: between tags, and in quoted attributes."""
    return Markup(escape(clean(text.replace("\r\n", "\n").replace("\r", "\n"))))


def outward(address: str | None) -> str | None:
    """Return the address if a page may link to it (plain http or https), else None."""
    if address is None or _OUTWARD.fullmatch(address) is None:
        return None
    return address


def concat(*content: Content) -> Markup:
    """Return the concatenated contents."""
    return Markup("".join(_pieces(content)))


def tag(_name: str, *content: Content, **attributes: Attribute) -> Markup:
    """Return an element. Raises ValueError for a name or an address that no page uses.

    An underscore in an attribute's name becomes a hyphen, and one at its end is removed:
    ``class_``, ``aria_label``.
    """
    if _name not in _TAGS:
        raise ValueError(f"no page has a <{_name}>")
    head = "".join(_attribute(name, value) for name, value in attributes.items())
    if _name in _VOID:
        return Markup(f"<{_name}{head}>")
    inner = concat(*content)
    if _name in _KEEPS_LINES and inner.startswith("\n"):
        inner = Markup("\n" + inner)  # browsers drop the first line feed after the tag
    return Markup(f"<{_name}{head}>{inner}</{_name}>")


def _pieces(content: Iterable[Content]) -> Iterator[str]:
    for item in content:
        if item is None:
            continue
        if isinstance(item, Markup):
            yield item
        elif isinstance(item, str):
            yield escape_text(item)
        elif isinstance(item, int):
            yield str(item)
        else:
            yield from _pieces(item)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    attribute = name.rstrip("_").replace("_", "-")
    if _ATTRIBUTE.fullmatch(attribute) is None or attribute in _REFUSED:
        raise ValueError(f"no page has an attribute {attribute!r}")
    if value is True:
        return f" {attribute}"
    text = str(value)
    if attribute in _ADDRESSES and not (_INWARD.fullmatch(text) or _OUTWARD.fullmatch(text)):
        raise ValueError(f"no page leads to {text!r}")
    return f' {attribute}="{escape_text(text)}"'
