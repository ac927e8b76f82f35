"""The page shown while an index is being built: the progress, and automatic reloading."""

from __future__ import annotations

import math

from skillyard.base.text import plural
from skillyard.engine.index.progress import Progress
from skillyard.serve.web.layout import document
from skillyard.serve.web.markup import Markup, tag
from skillyard.serve.web.parts import lead
from skillyard.serve.web.words import wait_words

REFRESH_S = 3
"""Seconds between reloads in browsers without scripts; with scripts it is one second."""


def building_page(progress: Progress) -> bytes:
    """Return the page.

    A script updates its content until the service answers. Without scripts the browser reloads the
    page; with scripts it does not, because that would reset the position of keyboard and
    screen-reader users.
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
    # The script announces the progress, but not every second.
    status = tag("p", id="said", class_="unseen", role="status", aria_live="polite")
    return document("Getting ready", status, body, head=again)


def progress_words(progress: Progress) -> str:
    """Return the progress as text: ``1,200 of 10,471 files, about 20 s left``."""
    files, total, left = progress
    words = plural(files, "file") if total is None else f"{files:,} of {plural(total, 'file')}"
    if total is None:
        words = f"{words} so far"
    if left is not None and math.isfinite(left) and left >= 0:
        words = f"{words}, about {wait_words(left)} left"
    return words


def _bar(progress: Progress) -> Markup:
    """Return the progress bar; indeterminate when there is no total."""
    files, total, _ = progress
    known = {"value": min(files, total), "max": total} if total else {}
    return tag("progress", id="progress", aria_label="Files in the index", **known)
