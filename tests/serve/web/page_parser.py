"""Reads pages as a browser's parser hands them on: elements, texts, and what could do harm."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

__all__ = ["Element", "Page", "harm", "read"]

ADDRESSES = ("href", "src", "action", "formaction", "poster", "background", "xlink:href", "data")
VOID = ("br", "hr", "input", "link", "meta")
RUNS = {"iframe", "object", "embed", "base", "frame", "applet", "img", "video", "audio", "math"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    text: list[str]
    """The pieces of text below it, grown while the page is read."""


class Page(HTMLParser):
    """The elements of a page in their order, and whether they are closed as they are opened."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.faults: list[str] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"<{tag}> has an attribute twice")
        element = Element(tag, {name: value or "" for name, value in attrs}, [])
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            self.faults.append(f"</{tag}> closes nothing")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        inner = self._open[-1] if self._open else None
        if inner is not None and inner.tag in ("pre", "textarea") and not inner.text:
            data = data.removeprefix("\n")  # as browsers do
        for element in self._open:
            element.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment: {data}")

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.tag == tag
            and all(
                value in element.attributes.get(name, "").split() for name, value in wanted.items()
            )
        ]

    def text(self, tag: str = "body") -> str:
        """Return the text of the first element of that name."""
        return "".join(next(e for e in self.elements if e.tag == tag).text)

    def addresses(self) -> list[str]:
        return [
            value
            for element in self.elements
            for name, value in element.attributes.items()
            if name in ADDRESSES
        ]


def read(html: str | bytes) -> Page:
    """Return a page, or a part of one."""
    page = Page()
    page.feed(html.decode("utf-8") if isinstance(html, bytes) else html)
    page.close()
    page.faults += [f"<{element.tag}> is never closed" for element in page._open]
    return page


def harm(page: Page) -> list[str]:
    """Return everything in a page that could run, or reach where no page of ours leads."""
    found = list(page.faults)
    for element in page.elements:
        if element.tag in RUNS:
            found.append(f"<{element.tag}>")
        if element.tag == "script" and (
            "".join(element.text).strip()
            or not element.attributes.get("src", "").startswith("/static/")
        ):
            found.append("a script of its own")
        for name, value in element.attributes.items():
            if name.startswith("on") or name in ("style", "srcdoc", "formaction", "srcset"):
                found.append(f"<{element.tag} {name}>")
            if name in ADDRESSES and not _plain(value):
                found.append(f"<{element.tag} {name}={value!r}>")
            if name == "http-equiv":
                found.append("a meta that acts")
    return found


def _plain(address: str) -> bool:
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return inside or address.startswith(("#", "http://", "https://"))
