"""Visualises scores: one bar for each signal, and the explanation tree."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skillyard.base.text import clean_line, shorten
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.scorer import Explanation
from skillyard.serve.web.markup import Content, Markup, concat, tag
from skillyard.serve.web.scale import Scale
from skillyard.serve.web.words import number, score_words, title_words

MAX_DEPTH = 12
MAX_NODES = 400
NOTE = 200


def bar(share: float, mark: float | None = None) -> Markup:
    """Return a bar that is full at 1; screen readers read the number beside it.

    ``mark`` is the position of a line across it.
    """
    return tag(
        "svg",
        tag("rect", class_="rail", width="100%", height="100%", rx=3),
        tag("rect", class_="fill", width=f"{_percent(share)}%", height="100%", rx=3),
        None if mark is None else
        tag("rect", class_="mark", x=f"{_percent(mark)}%", width=2, height="100%"),
        class_="bar",
        aria_hidden="true",
        focusable="false",
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{round(100 * min(1.0, max(0.0, share if math.isfinite(share) else 0.0)), 1):g}"


def score_bar(score: float, scale: Scale, floor: float | None) -> Markup | None:
    """Return a score as a bar, with a line at the floor of a selection if that is on the scale."""
    if scale.full <= 0:
        return None
    mark = None if floor is None or not 0 < floor < scale.full else scale.share(floor)
    return tag("div", bar(scale.share(score), mark), class_="score-bar")


def signal_bars(signals: Mapping[str, float], scale: Scale) -> Markup | None:
    """Return one labelled bar for each signal."""
    if not signals:
        return None
    rows = [
        tag(
            "div",
            tag("dt", title_words(label), dir="auto"),
            tag("dd", bar(scale.share(value)) if scale.full > 0 else tag("span"),
                tag("span", number(value))),
        )
        for label, value in signals.items()
    ]  # fmt: skip
    return tag("dl", rows, class_="signals")


def score_badge(score: float, level: str | None) -> Markup:
    """Return the score with its level in words, not only as a colour."""
    known = level if level in ("high", "medium", "low") else "none"
    return tag(
        "p",
        tag("span", level, class_=f"level {known}") if level else None,
        " ",
        tag("strong", score_words(score)),
        tag("span", " score", class_="aside"),
        class_="score",
    )


def evidence(match: Match) -> Markup | None:
    """Return what was matched, in the scorer's words."""
    pieces = [clean_line(piece) for piece in match.reason.split(" | ")]
    pieces = [shorten(piece, NOTE) for piece in pieces if piece]
    if not pieces:
        return None
    return tag(
        "p",
        tag("span", "Matched", class_="label"),
        [concat(" ", tag("span", piece, class_="piece", dir="auto")) for piece in pieces],
        class_="evidence",
    )


def tree(explanation: Explanation) -> Markup:
    """Return the explanation tree; only the first levels of a very large one."""
    left = [MAX_NODES]
    return tag("ul", _node(explanation, MAX_DEPTH, left), class_="tree")


def _node(node: Explanation, depth: int, left: list[int]) -> Markup:
    left[0] -= 1
    inner: list[Content] = []
    for part in node.parts:
        if depth == 0 or left[0] <= 0:
            inner.append(tag("li", "…"))
            break
        inner.append(_node(part, depth - 1, left))
    return tag(
        "li",
        tag("span", title_words(clean_line(node.label)), class_="part", dir="auto"),
        " ",
        tag("strong", number(node.value)),
        " ",
        tag("span", shorten(node.note, NOTE), class_="aside", dir="auto") if node.note else None,
        tag("ul", inner) if inner else None,
    )
