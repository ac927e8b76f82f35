"""The disclosure frontier: the score of each arm against its cost in tokens.

An arm is on the frontier when no arm with at most its tokens has an equal or higher score. The
others are drawn as rings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from skillyard.evals.report.markup import Markup
from skillyard.evals.report.svg import (
    Scale,
    Shape,
    figure,
    label,
    line,
    mark,
    path,
    scale_over,
    stem,
    x_axis,
    y_axis,
)
from skillyard.evals.report.values import at as value_at
from skillyard.evals.report.values import mapping, number, rows, word
from skillyard.evals.report.words import condition, decimal, signed, whole

__all__ = ["Point", "effects", "frontier", "on_frontier", "small_frontier"]

_SHAPES: Mapping[str, Shape] = {
    "full": "circle",
    "enhanced": "circle",
    "summary": "diamond",
    "baseline": "square",
    "full_siblings": "triangle",
}
_LOWEST, _HIGHEST = 1.0, 5.0  # the ends of the judge's scale
_WIDE, _HIGH = 440.0, 290.0
_LETTER = 6.6  # width of a letter of a label, about
_LINE = 15.0
_MARK = 8.0  # half the width of a mark with some air
_FARTHEST = 200
_AROUND = 0.25  # points of room above and below the effects
_MAX_LABELS = 100
_MIN_ARMS = 3  # two arms are described by their difference
_MAX_ARMS = 12  # there are five; more come from no run of ours


class Point(NamedTuple):
    """One arm: what it costs and what it scores."""

    condition: str
    tokens: float
    score: float
    low: float | None = None
    high: float | None = None


def on_frontier(points: Iterable[Point]) -> list[Point]:
    """Return the points that no cheaper or equally dear one reaches, by their tokens.

    Of points that are equal in both, the first by name.
    """
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.tokens, -p.score, p.condition)):
        if not best or point.score > best[-1].score:
            best.append(point)
    return best


def frontier(arms: object) -> Markup:
    """Return the plot of ``artifacts.frontier``; empty where no arm has tokens and a score."""
    points = [
        Point(word(arm.get("condition")), tokens, score, *_interval(arm))
        for arm in rows(arms)[:_MAX_ARMS]
        if (tokens := number(arm.get("tokens"))) is not None
        and tokens >= 0
        and (score := number(arm.get("mean_score"))) is not None
    ]
    if not points:
        return Markup("")
    x = Scale(0, max(1.0, *(point.tokens for point in points)) * 1.02, 44, _WIDE - 16, root=True)
    y = _score_scale(points, _HIGH - 48, 34)
    best = on_frontier(points)
    parts = [
        y_axis(y, x.start, lambda v: decimal(v, 0 if v % 1 == 0 else 1), right=x.end, max_ticks=7),
        label(0, 14, "mean score, 1 to 5", "name"),
        x_axis(x, y.start, whole, name="tokens injected (square-root axis)"),
        path([(x.at(point.tokens), y.at(point.score)) for point in best], "edge"),
    ]
    parts += [
        stem(y, point.low, point.high, x.at(point.tokens), "whisker arm")
        for point in points
        if point.low is not None and point.high is not None
    ]
    parts += [_dot(point, x, y, point in best) for point in points]
    parts += _labels([(x.at(p.tokens), y.at(p.score), condition(p.condition)) for p in points], x)
    description = "; ".join(_point_text(point) for point in points)
    return figure(_WIDE, _HIGH, "Mean score against tokens injected", description, *parts)


def small_frontier(name: str, conditions: Mapping[str, object]) -> Markup:
    """Return the plot of one skill's arms; empty where fewer than three have a score."""
    points = [
        Point(arm, tokens, score)
        for arm in sorted(conditions)
        if (tokens := number(value_at(conditions, arm, "tokens_estimated"))) is not None
        and tokens >= 0
        and (score := number(value_at(conditions, arm, "mean_score"))) is not None
    ]
    if len(points) < _MIN_ARMS:
        return Markup("")
    x = Scale(0, max(1.0, *(point.tokens for point in points)), 26, 276, root=True)
    y = Scale(_LOWEST, _HIGHEST, 92, 12)
    best = on_frontier(points)
    parts = [
        y_axis(y, x.start - 6, whole, right=x.end + 8, max_ticks=5),
        path([(x.at(point.tokens), y.at(point.score)) for point in best], "edge"),
        *(_dot(point, x, y, point in best) for point in points),
        label(x.start, 110, "0", "tick", "middle"),
        label(x.end + 8, 110, f"{whole(x.high)} tokens", "tick", "end"),
    ]
    description = "; ".join(_point_text(point) for point in points)
    return figure(290, 116, f"{name}: mean score against tokens", description, *parts)


def effects(skills: Sequence[tuple[str, Mapping[str, object]]]) -> Markup:
    """Return the plot of each skill's effect over no skill against its tokens.

    Skills are numbered as they come, from 1. Empty where no effect is known.
    """
    points: list[tuple[int, str, Point]] = []
    for place, (name, entity) in enumerate(skills, 1):
        for arm in ("full", "enhanced", "summary"):
            effect = mapping(value_at(entity, "comparisons", f"{arm}/baseline"))
            mean = number(effect.get("mean"))
            tokens = number(value_at(entity, "conditions", arm, "tokens_estimated"))
            if mean is not None and tokens is not None and tokens >= 0:
                points.append((place, name, Point(arm, tokens, mean, *_interval(effect))))
    if not points:
        return Markup("")
    x = Scale(0, max(1.0, *(p.tokens for _, _, p in points)) * 1.02, 44, _WIDE - 16, root=True)
    # By the effects alone: intervals of few requests reach far beyond the scores themselves.
    scale_of_effects = scale_over([p.score for _, _, p in points], 0, 1, least=(-0.5, 0.5))
    y = Scale(scale_of_effects.low - _AROUND, scale_of_effects.high + _AROUND, _HIGH - 48, 34)
    parts = [
        y_axis(y, x.start, lambda v: signed(v, 0 if v % 1 == 0 else 1), right=x.end, max_ticks=7),
        label(0, 14, "points better than no skill", "name"),
        x_axis(x, y.start, whole, name="tokens injected (square-root axis)"),
        line(x.start, y.at(0), x.end, y.at(0), "zero"),
    ]
    for _, _, point in points:
        if point.condition != "summary" and point.low is not None and point.high is not None:
            parts.append(stem(y, point.low, point.high, x.at(point.tokens), "whisker faint", 3))
    parts += _links(points, x, y)
    for place, name, point in points:
        description = f"{place} {name}, {condition(point.condition)}: {signed(point.score)}"
        parts.append(
            mark(x.at(point.tokens), y.at(point.score), _shape(point), "mark arm", description)
        )
    numbers = [(x.at(p.tokens), y.at(p.score), str(place)) for place, _, p in points]
    parts += _labels(numbers[:_MAX_LABELS], x)
    description = "; ".join(
        f"{name}, {condition(p.condition)}: {whole(p.tokens)} tokens, {signed(p.score)}"
        for _, name, p in points
    )
    return figure(_WIDE, _HIGH, "Effect over no skill against tokens injected", description, *parts)


def _links(points: Sequence[tuple[int, str, Point]], x: Scale, y: Scale) -> list[Markup]:
    """Return the lines from each skill's summary to its full text."""
    by_skill: dict[int, list[tuple[float, float]]] = {}
    for place, _, point in points:
        by_skill.setdefault(place, []).append((x.at(point.tokens), y.at(point.score)))
    return [path(ends, "link") for ends in by_skill.values()]


def _interval(value: Mapping[str, object]) -> tuple[float | None, float | None]:
    low, high = number(value.get("ci_low")), number(value.get("ci_high"))
    return (low, high) if low is not None and high is not None and low <= high else (None, None)


def _ends(point: Point) -> list[float]:
    return [end for end in (point.score, point.low, point.high) if end is not None]


def _score_scale(points: Sequence[Point], start: float, end: float) -> Scale:
    """Return a scale around the scores, at least one point high, within the judge's scale."""
    ends = [min(_HIGHEST, max(_LOWEST, each)) for point in points for each in _ends(point)]
    middle = (min(ends) + max(ends)) / 2
    low = max(_LOWEST, min([*ends, middle - 0.5]) - 0.1)
    high = min(_HIGHEST, max([*ends, middle + 0.5]) + 0.1)
    return Scale(low, high, start, end)


def _shape(point: Point) -> Shape:
    return _SHAPES.get(point.condition, "ring")


def _dot(point: Point, x: Scale, y: Scale, best: bool) -> Markup:
    kind = "mark arm" if best else "mark arm hollow"
    return mark(x.at(point.tokens), y.at(point.score), _shape(point), kind, _point_text(point), 6)


def _point_text(point: Point) -> str:
    return f"{condition(point.condition)}: {whole(point.tokens)} tokens, {decimal(point.score)}"


def _labels(points: Sequence[tuple[float, float, str]], scale: Scale) -> list[Markup]:
    """Return labels beside their points: the nearest place that covers no mark and no label."""
    occupied = [(x - _MARK, x + _MARK, y, _LINE - 3) for x, y, _ in points]
    labels = []
    for x, y, text in sorted(points, key=lambda each: (each[1], each[0], each[2])):
        wide = len(text) * _LETTER
        for away in range(_FARTHEST):
            for start, height in _places(x, y, wide, away):
                inside = scale.start - 12 <= start and start + wide <= scale.end + 16
                if inside and _free(start, start + wide, height, occupied):
                    break
            else:
                continue
            break
        occupied.append((start, start + wide, height, _LINE))
        labels.append(label(start, height + 4, text, "entry halo"))
    return labels


def _places(x: float, y: float, wide: float, away: int) -> list[tuple[float, float]]:
    """Return where a label may begin: right and left of its point, lower and higher by a bit."""
    sides = (x + 12, x - 12 - wide)
    return [(start, y + shift) for shift in (away, -away) for start in sides]


def _free(
    left: float, right: float, y: float, occupied: Sequence[tuple[float, float, float, float]]
) -> bool:
    return not any(
        left < end and begin < right and abs(y - other) < apart
        for begin, end, other, apart in occupied
    )
