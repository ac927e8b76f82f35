"""The page while an index is being made: how far it is, and that it comes by itself."""

from __future__ import annotations

import math

from skillyard.index.progress import Progress
from skillyard.serving.web.layout import document
from skillyard.serving.web.markup import Markup, tag
from skillyard.serving.web.parts import lead
from skillyard.serving.web.words import wait_words
from skillyard.text import plural

__all__ = ["building_page", "progress_words"]

REFRESH_S = 3
"""Seconds after which a browser without scripts asks again; with one it asks each second."""


def building_page(progress: Progress) -> bytes:
    """Return the page.

    A script replaces what is in it until the service answers. Without one the browser loads the
    page again; where there is a script it does not, since that would take the place of whoever
    reads it with a keyboard or a screen reader.
    """
    again = tag("noscript", tag("meta", http_equiv="refresh", content=REFRESH_S))
    body = tag(
        "div",
        tag("h1", "Getting ready"),
        lead("The index of this library is being made. This page goes on by itself."),
        _bar(progress),
        tag("p", progress_words(progress), id="progress-words", class_="progress-words"),
        tag("p", "Programs are answered 503 meanwhile, with the seconds to wait in Retry-After.",
            class_="aside after"),
        id="building",
        class_="failure",
    )  # fmt: skip
    # The script speaks here, and not each second.
    status = tag("p", id="said", class_="unseen", role="status", aria_live="polite")
    return document("Getting ready", status, body, head=again)


def progress_words(progress: Progress) -> str:
    """Return how far it is: ``1,200 of 10,471 files, about 20 s left``."""
    done, total, left = progress
    words = plural(done, "file") if total is None else f"{done:,} of {plural(total, 'file')}"
    if total is None:
        words = f"{words} so far"
    if left is not None and math.isfinite(left) and left >= 0:
        words = f"{words}, about {wait_words(left)} left"
    return words


def _bar(progress: Progress) -> Markup:
    """Return the bar; without a value, which browsers draw as unknown, where there is no total."""
    done, total, _ = progress
    known = {"value": min(done, total), "max": total} if total else {}
    return tag("progress", id="progress", aria_label="Files in the index", **known)
