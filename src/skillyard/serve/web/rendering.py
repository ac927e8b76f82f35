"""Renders the templates of the pages, and their Content-Security-Policies.

Every value that is not HTML already is escaped. Control characters, bidi overrides and hidden
characters in it are shown by :func:`skillyard.base.invisible.clean` in the same place. A page loads
one style sheet, one script and one icon from this service, submits its forms here, and contacts
nobody else. Pages for clients that may not load these (a missing token, a wrong Host) are plain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from shlex import quote as shell_quote
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, plural, shorten
from skillyard.serve.web import addresses, words

MEDIA = "text/html; charset=utf-8"
_CLOSED = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
POLICY = (
    f"{_CLOSED}; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'"
)
"""The Content-Security-Policy of a page."""
BARE_POLICY = f"{_CLOSED}; form-action 'none'"
"""That of a page that loads nothing."""
MAX_QUERY_CHARACTERS = 3_000
"""Maximum characters of a request. Percent-encoded, any text of this length fits an HTTP head."""
NAME = 200
_TITLES: Mapping[int, str] = {
    400: "This request makes no sense",
    401: "This service wants its token",
    403: "Not from here",
    404: "There is nothing here",
    405: "Not this way",
    409: "Several skills have this name",
    422: "Something in the request is not right",
    429: "Too busy",
    431: "The address is too long",
    500: "Something broke",
    502: "No source answered",
    503: "Not ready",
}
_OUTWARD = re.compile(r"https?://[!-;=?-~]{1,2000}")


def render(_template: str, **values: Any) -> bytes:
    """Return a page."""
    return environment().get_template(_template).render(**values).encode("utf-8", "replace")


def error_page(status: int, refusal: Mapping[str, Any], *, bare: bool = False) -> bytes:
    """Return the page of a refusal; ``refusal`` is its documented JSON shape.

    ``bare`` is set when the browser may not load anything else from here.
    """
    title = _TITLES.get(status, "That did not work")
    return render("error.html", status=status, title=title, bare=bare, **refusal)


def text_of(text: str, longest: int = NAME) -> str:
    """Return text on one line, with hidden characters shown, and cut when it is very long."""
    return shorten(clean_line(text), longest)


def shown(text: str) -> str:
    """Return text with hidden characters shown, and plain line ends."""
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def outward(address: str | None) -> str | None:
    """Return the address if a page may link to it (plain http or https), else None."""
    if address is None or _OUTWARD.fullmatch(address) is None:
        return None
    return address


@cache
def environment() -> Environment:
    """Return what the templates are rendered with."""
    environment = Environment(
        loader=PackageLoader("skillyard.serve.web"),
        autoescape=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "title": "",
        "here": "",
        "bare": False,
        "wide": False,  # unless the page says it
        "failure_words": words.failure_words,
        "longest": MAX_QUERY_CHARACTERS,
        "outward": outward,
        "plural": plural,
        "status_words": words.status_words,
    }
    names = ("install_line", "local_address", "place_of", "search_address", "skill_address")
    environment.globals |= {name: getattr(addresses, name) for name in names}
    environment.filters |= {
        "evidence": words.reason_pieces,
        "grouped": "{:,}".format,
        "line": text_of,
        "number": words.number,
        "percent": lambda share: f"{round(100 * share, 1):g}%",
        "score": words.score_words,
        "sentence": words.sentence,
        "shell": shell_quote,
        "size": words.size_words,
        "words": words.title_words,
    }
    return environment
