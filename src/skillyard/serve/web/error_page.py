"""A refusal as a page: the problem, its place, and a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.serve.web.addresses import HOME, local_address
from skillyard.serve.web.layout import bare_document, document
from skillyard.serve.web.markup import Markup, concat, tag
from skillyard.serve.web.parts import lead, text_of
from skillyard.serve.web.words import failure_words, sentence

MAX_ITEMS = 10
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
_TOKEN = (
    "A page cannot send the token by itself, and it is not put into addresses or cookies, where it"
    " would be kept, logged and sent along. To use the pages of a service that has a token, reach"
    " it through a reverse proxy that checks who you are and adds the header"
    " “Authorization: Bearer …”; or run a service of your own without a token on this machine’s"
    " loopback address."
)


def error_page(status: int, refusal: Mapping[str, Any], *, bare: bool = False) -> bytes:
    """Return the page of a refusal; ``refusal`` is its documented JSON shape.

    ``bare`` is set when the browser may not load anything else from here.
    """
    error = refusal["error"]
    title = _TITLES.get(status, "That did not work")
    has_list = status == 422 or bool(error.get("sources"))  # the list repeats the message
    helps = bool(error.get("hint")) and not error.get("near") and status != 401
    parts = (
        tag("h1", title),
        None if has_list else lead(sentence(text_of(str(error["message"]), 500))),
        _faults(refusal["detail"]) if status == 422 else None,
        _sources(error.get("sources", ())),
        _near(error.get("near", ()), status),
        tag("p", _TOKEN) if status == 401 else None,
        tag("p", sentence(text_of(str(error["hint"]), 300)), class_="aside") if helps else None,
        None if bare else tag("p", tag("a", "← Search", href=HOME, id="back"), class_="back"),
    )
    body = tag("div", *parts, class_="failure", id="failure")
    return bare_document(title, body) if bare else document(title, body)


def _faults(detail: Sequence[Mapping[str, Any]]) -> Markup:
    rows = []
    for fault in detail[:MAX_ITEMS]:
        field = ".".join(text_of(str(part)) for part in fault["loc"][1:])
        message = text_of(str(fault["msg"]), 300)
        rows.append(tag("li", tag("code", field or "request"), ": ", message))
    return tag("ul", rows)


def _sources(sources: Sequence[Mapping[str, Any]]) -> Markup | None:
    rows = [
        tag("li", tag("strong", text_of(str(source["name"]))), ": ",
            failure_words(str(source.get("code", "")), source.get("retry_after_s")))
        for source in sources[:MAX_ITEMS]
    ]  # fmt: skip
    return tag("ul", rows, class_="sources") if rows else None


def _near(names: Sequence[str], status: int) -> Markup | None:
    rows = []
    for name in names[:MAX_ITEMS]:
        address = local_address(str(name))
        text = text_of(str(name))
        rows.append(tag("li", tag("a", text, href=address) if address else text, dir="auto"))
    if not rows:
        return None
    intro = "They are:" if status == 409 else "Is it one of these?"
    return concat(tag("p", intro), tag("ul", rows, class_="names"))
