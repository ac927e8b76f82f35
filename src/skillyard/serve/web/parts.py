"""Small parts that several pages share: copy buttons, notes, facts, lists of names."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.base.text import clean_line, shorten
from skillyard.serve.web.markup import Content, Markup, tag

NAME = 200


def text_of(text: str, longest: int = NAME) -> str:
    """Return text on one line, with hidden characters shown, and cut when it is very long."""
    return shorten(clean_line(text), longest)


def copy_button(what: Content, *, text: str = "", source: str = "") -> Markup:
    """Return a button that copies a text, or that of the element with the id ``source``.

    A script makes the button visible.
    """
    return tag(
        "button",
        "Copy",
        what,
        type="button",
        class_="copy",
        hidden=True,
        data_copy=text or None,
        data_copy_from=source or None,
    )


def copy_line(label: str, text: str) -> Markup:
    """Return a short text on one line, with a button that copies it."""
    return tag(
        "div",
        tag("span", label, class_="label"),
        tag("code", text, dir="ltr"),
        copy_button(tag("span", f" {label}", class_="unseen"), text=text),
        class_="copied",
    )


def facts(pairs: Iterable[tuple[str, Content]]) -> Markup | None:
    """Return a list of names and values; pairs without a value are left out."""
    rows = [
        tag("div", tag("dt", name), tag("dd", value, dir="auto")) for name, value in pairs if value
    ]
    return tag("dl", rows, class_="facts") if rows else None


def note(*content: Content, kind: str = "plain") -> Markup:
    """Return a highlighted remark; ``kind`` is ``plain``, ``good`` or ``bad``."""
    return tag("p", *content, class_=f"note {kind}", dir="auto")


def lead(*content: Content) -> Markup:
    """Return the sentence below a heading."""
    return tag("p", *content, class_="lead", dir="auto")
