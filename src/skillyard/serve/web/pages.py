"""The pages of a refusal, of an index in the making, of the API, and of the list of all skills."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from skillyard.base.text import plural
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.index.library_spec import Progress
from skillyard.serve.runtime.snapshot import BrowseIndex
from skillyard.serve.web.rendering import render
from skillyard.serve.web.words import wait_words

PAGE_SIZE = 50
"""Skills per page of the list."""
TAGS = 30
"""Tags that are visible at once; further ones are folded."""
MAX_TAGS = 500
"""Maximum number of tags that are named."""
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


def error_page(status: int, refusal: Mapping[str, Any], *, bare: bool = False) -> bytes:
    """Return the page of a refusal; ``refusal`` is its documented JSON shape.

    ``bare`` is set when the browser may not load anything else from here.
    """
    title = _TITLES.get(status, "That did not work")
    return render("error.html", status=status, title=title, bare=bare, **refusal)


def building_page(progress: Progress) -> bytes:
    """Return the page that is shown while an index is being made."""
    return render("building.html", progress=progress, words=progress_words(progress))


def progress_words(progress: Progress) -> str:
    """Return the progress as text: ``1,200 of 10,471 files, about 20 s left``."""
    files, total, left = progress
    if total is None:
        words = f"{plural(files, 'file')} so far"
    else:
        words = f"{files:,} of {plural(total, 'file')}"
    if left is not None and math.isfinite(left) and left >= 0:
        words = f"{words}, about {wait_words(left)} left"
    return words


def docs_page(described: Mapping[str, Any]) -> bytes:
    """Return the page of an OpenAPI document; every operation has one of the document's tags."""
    return render("docs.html", described=described)


def browse_page(shelf: BrowseIndex | None, counts: SkillCounts, tag_name: str, page: int) -> bytes:
    """Return one page of the list. ``page`` counts from 1; larger numbers give the last page.

    ``shelf`` is None when there are too many skills to be listed.
    """
    chosen = shelf.find_tag(tag_name) if shelf and tag_name else None
    listed = chosen.skills if chosen else shelf.skills if shelf and not tag_name else ()
    tags = shelf.tags if shelf else ()
    visible = list(tags[:TAGS])
    pages = max(1, -(-len(listed) // PAGE_SIZE))
    page = min(page, pages)
    return render(
        "browse.html",
        shelf=shelf,
        counts=counts,
        tag_name=tag_name,
        chosen=chosen,
        total=len(listed),
        skills=listed[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        page=page,
        pages=pages,
        visible_tags=[chosen, *visible] if chosen and chosen not in visible else visible,
        more_tags=tags[TAGS:MAX_TAGS],
        rare=len(tags) - MAX_TAGS,
    )
