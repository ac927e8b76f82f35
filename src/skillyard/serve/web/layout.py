"""The frame of every page, and its Content-Security-Policy.

A page loads one style sheet, one script and one icon from this service, submits its forms here, and
contacts nobody else. Pages for clients that may not load these (a missing token, a wrong Host)
contain the style sheet, allowed by its hash, and nothing else.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache

from skillyard.base.io.sha256 import sha256
from skillyard.serve.web.addresses import BROWSE, HOME
from skillyard.serve.web.assets import ICON, SCRIPT, STYLE, address_of, asset
from skillyard.serve.web.markup import Content, Markup, concat, tag

MEDIA = "text/html; charset=utf-8"
_CLOSED = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
POLICY = (
    f"{_CLOSED}; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'"
)
"""The Content-Security-Policy of a page."""
DOCTYPE = "<!DOCTYPE html>\n"
DOCS = "/docs"


def document(
    title: str,
    *main: Content,
    here: str = "",
    head: Content = None,
    script: str = "",
    wide: bool = False,
) -> bytes:
    """Return a whole page.

    ``here`` is the address that the navigation marks as current, ``head`` is additional content of
    the head, and ``script`` an additional script.
    """
    loaded = concat(
        _head(title),
        head,
        tag("link", rel="icon", href=address_of(ICON), type="image/svg+xml"),
        tag("link", rel="stylesheet", href=address_of(STYLE)),
        tag("script", src=address_of(SCRIPT), defer=True),
        tag("script", src=address_of(script), defer=True) if script else None,
    )
    body = concat(
        tag("a", "Skip to the content", href="#main", class_="skip"),
        _header(here),
        tag("main", *main, id="main", tabindex=-1),
        _footer(),
    )
    return _bytes(loaded, body, "wide" if wide else None)


def bare_document(title: str, *main: Content) -> bytes:
    """Return a page that loads nothing; :func:`bare_policy` is its policy."""
    style = tag("style", Markup(_style()))
    return _bytes(concat(_head(title), style), tag("main", *main, id="main"))


@cache
def bare_policy() -> str:
    """Return the Content-Security-Policy of a page that loads nothing."""
    digest = b64encode(sha256(_style().encode("utf-8"))).decode("ascii")
    return f"{_CLOSED}; form-action 'none'; style-src 'sha256-{digest}'"


def _style() -> str:
    sheet = asset(STYLE)
    assert sheet is not None
    return sheet.body.decode("utf-8")


def _head(title: str) -> Markup:
    return concat(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="robots", content="noindex"),
        tag("title", f"{title} · skillyard" if title else "skillyard"),
    )


def _bytes(head: Markup, body: Markup, kind: str | None = None) -> bytes:
    html = tag("html", tag("head", head), "\n", tag("body", body, class_=kind), lang="en")
    return f"{DOCTYPE}{html}\n".encode("utf-8", "replace")


def _header(here: str) -> Markup:
    places = ((HOME, "Search"), (BROWSE, "Browse"), (DOCS, "API"))
    links = [
        tag("li", tag("a", name, href=address, aria_current="page" if address == here else None))
        for address, name in places
    ]
    themes = tag(
        *("button", "Dark"), type="button", id="theme", class_="quiet", hidden=True,
        aria_pressed="false",
    )  # fmt: skip
    return tag(
        "header",
        tag("a", tag("span", "skill"), "yard", href=HOME, class_="mark"),
        tag("nav", tag("ul", links), aria_label="Pages"),
        themes,
        class_="top",
    )


def _footer() -> Markup:
    return tag(
        "footer",
        tag(
            "p",
            "What skills say is shown as they say it: it is somebody’s text, not this service’s.",
        ),
        class_="bottom",
    )
