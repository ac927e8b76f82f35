"""Strips: plots of intervals for one table row each, beside the figures.

A table of strips over one scale is a forest plot. Its labels are table cells, so it stays readable
on a phone, in print and with a screen reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.evals.report.markup import Markup
from skillyard.evals.report.svg import Scale, Shape, figure, line, mark, span, x_axis

__all__ = ["STRIP_WIDTH", "Estimate", "share_scale", "strip", "strip_axis", "strip_scale"]

STRIP_WIDTH = 320.0
_HEIGHT = 26.0
_MARGIN = 14.0


class Estimate(NamedTuple):
    """A figure with its interval, where there is one."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    """The same in words."""
    shape: Shape = "circle"
    kind: str = "plain"


def strip_scale(low: float, high: float) -> Scale:
    """Return the scale of strips from ``low`` to ``high``."""
    return Scale(low, high, _MARGIN, STRIP_WIDTH - _MARGIN)


def share_scale() -> Scale:
    """Return the scale of strips for shares, 0..1."""
    return strip_scale(0.0, 1.0)


def strip(scale: Scale, estimates: Sequence[Estimate], at: float | None, title: str) -> Markup:
    """Return estimates over one scale, with an upright line at ``at``."""
    middle = _HEIGHT / 2
    parts: list[str] = [line(scale.start, middle, scale.end, middle, "rail")]
    if at is not None and scale.holds(at):
        parts.append(line(scale.at(at), 0, scale.at(at), _HEIGHT, "zero"))
    for number, each in enumerate(estimates):
        y = middle + (number - (len(estimates) - 1) / 2) * 9
        if each.low is not None and each.high is not None and each.low <= each.high:
            parts.append(span(scale, each.low, each.high, y, f"whisker {each.kind}"))
        if each.value is not None:
            parts.append(mark(scale.at(each.value), y, each.shape, f"mark {each.kind}", each.text))
    text = "; ".join(each.text for each in estimates if each.text) or "nothing to draw"
    return figure(STRIP_WIDTH, _HEIGHT, title, text, *parts)


def strip_axis(scale: Scale, format_number: Callable[[float], str], title: str) -> Markup:
    """Return the axis above a table of strips."""
    axis = x_axis(scale, 3, format_number)
    return figure(STRIP_WIDTH, 24, title, "The axis of the strips below.", axis)
