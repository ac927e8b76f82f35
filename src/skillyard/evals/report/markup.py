"""Cleans text for a page or an XML file: hidden characters become visible, markup is escaped.

Answers of models, skills, judges and servers are hostile text. :func:`visible` writes out hidden
characters (:func:`skillyard.text.clean`). The template escapes the result, or :func:`xml_text`
where no template is used.
"""

from __future__ import annotations

from skillyard.text import clean, xml_escape

__all__ = ["Markup", "visible", "visible_line", "xml_text"]

# The two code points that clean() keeps and XML 1.0 forbids (section 2.2, "Characters").
_NOT_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}


class Markup(str):
    """Text that is already HTML or SVG."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text itself: a template with autoescape inserts it unchanged."""
        return str(self)


def visible(text: str) -> str:
    """Return the text with every hidden or forbidden character written out; LF and TAB stay."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return clean(lines).translate(_NOT_XML)


def visible_line(text: str, limit: int | None = None) -> str:
    """Return the text as :func:`visible`, on one line, at most ``limit`` characters of it.

    A text that was cut ends with an ellipsis.
    """
    line = " ".join(visible(text).split())
    if limit is None or len(line) <= limit:
        return line
    return line[: max(0, limit - 1)].rstrip() + "…"


def xml_text(text: str) -> str:
    """Return the text safe as XML content and inside a quoted attribute, hidden text shown."""
    return xml_escape(visible(text))
