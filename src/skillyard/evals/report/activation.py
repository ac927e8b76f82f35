"""Activation in a report: rates by skill and category, and the curve over the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.markup import Markup
from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.strips import Estimate, share_scale, strip, strip_axis
from skillyard.evals.report.svg import (
    Scale,
    Shape,
    figure,
    label,
    mark,
    path,
    round_ticks,
    x_axis,
    y_axis,
)
from skillyard.evals.report.values import at, mapping, number, rows
from skillyard.evals.report.words import (
    UNKNOWN,
    between,
    decimal,
    many,
    percent,
    whole,
    within,
)

__all__ = [
    "ActivationView",
    "Category",
    "Rate",
    "activation_sentence",
    "activation_view",
    "curve",
    "rate_texts",
]

_RATES: tuple[tuple[str, str, Shape, str], ...] = (
    ("tpr", "fires where needed:", "circle", "good"),
    ("fpr", "fires wrongly:", "square", "bad"),
)
_CURVES: tuple[tuple[str, Shape, str], ...] = (
    ("recall", "circle", "recall"),
    ("precision", "diamond", "precision"),
    ("fpr", "square", "wrongly fired"),
)


class Rate(NamedTuple):
    """One row: a skill, a category or a group with its rates."""

    name: str
    fires: str
    fires_interval: str
    wrongly: str
    wrongly_interval: str
    cases: str
    f1: str
    strip: Markup
    note: str


class Category(NamedTuple):
    """One category of requests."""

    name: str
    cases: str
    right: str
    f1: str
    strip: Markup


@dataclass(frozen=True, slots=True)
class ActivationView:
    """All of an L3 envelope but its cases."""

    sentence: str
    figures: tuple[tuple[str, str, str], ...]
    """Name, value, what it means."""
    axis: Markup
    skills: tuple[Rate, ...]
    categories: tuple[Category, ...]
    curve: Markup
    index: str


def rate_texts(value: Mapping[str, object], name: str) -> tuple[str, str]:
    """Return a rate and its interval in words: ``("90 %", "60 % to 98 %")``; empty if unknown."""
    rate = number(value.get(name))
    low, high = number(value.get(f"{name}_low")), number(value.get(f"{name}_high"))
    return ("", "") if rate is None else (percent(rate), between(low, high, percent))


def activation_sentence(entity: Mapping[str, object]) -> str:
    """Return a sentence with the rates of one skill or of all skills."""
    fires, reach = rate_texts(entity, "tpr")
    wrongly, wrong_reach = rate_texts(entity, "fpr")
    parts = []
    if fires:
        requests = many(number(entity.get("positives")), "request")
        parts.append(f"fired for {fires} of the {requests} that need it{within(reach)}")
    if wrongly:
        requests = many(number(entity.get("negatives")), "request")
        parts.append(
            f"fired wrongly for {wrongly} of the {requests} that do not{within(wrong_reach)}"
        )
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else "No case gave a figure."


def activation_view(envelope: Mapping[str, object]) -> ActivationView:
    """Return what a report shows of an L3 envelope, from its summary and artifacts."""
    overall = mapping(at(envelope, "summary", "_overall"))
    categories = mapping(at(envelope, "artifacts", "categories"))
    skills = entities(envelope.get("summary"))
    return ActivationView(
        activation_sentence(overall),
        _activation_figures(overall),
        strip_axis(share_scale(), percent, "Share of requests"),
        tuple(_rate(name, each) for name, each in skills.items()),
        tuple(_category(name, mapping(categories[name])) for name in sorted(categories)),
        curve(at(envelope, "artifacts", "curve")),
        _index(mapping(at(envelope, "artifacts", "index"))),
    )


def _activation_figures(overall: Mapping[str, object]) -> tuple[tuple[str, str, str], ...]:
    f1 = number(overall.get("f1"))
    f1 = number(overall.get("mean")) if f1 is None else f1
    figures = (
        ("F1", decimal(f1), "precision and recall in one figure, for each case, then averaged"),
        (
            "precision",
            decimal(number(overall.get("precision"))),
            "of what was picked, what belongs",
        ),
        ("recall", decimal(number(overall.get("recall"))), "of what belongs, what was picked"),
        (
            "exact sets",
            percent(number(overall.get("exact_set_rate"))),
            "nothing missing, nothing too much",
        ),
    )
    return tuple(each for each in figures if each[1] != UNKNOWN)


def _rate(name: str, entity: Mapping[str, object]) -> Rate:
    fires, reach = rate_texts(entity, "tpr")
    wrongly, wrong_reach = rate_texts(entity, "fpr")
    estimates = [
        Estimate(rate, low, high, f"{text} {percent(rate)}", shape, kind)
        for key, text, shape, kind in _RATES
        if (rate := number(entity.get(key))) is not None
        for low, high in [(number(entity.get(f"{key}_low")), number(entity.get(f"{key}_high")))]
    ]
    f1 = number(entity.get("f1"))
    errors = number(entity.get("errors"))
    counts = [
        f"{whole(number(entity.get(key)))}\u00a0{noun}"
        for key, noun in (("positives", "to fire"), ("negatives", "not to"))
        if number(entity.get(key)) is not None
    ]
    return Rate(
        name,
        fires or UNKNOWN,
        reach,
        wrongly or UNKNOWN,
        wrong_reach,
        " · ".join(counts) or UNKNOWN,
        decimal(number(entity.get("mean")) if f1 is None else f1),
        strip(share_scale(), estimates, None, name),
        f"{many(errors, 'error')} left out" if errors else "",
    )


def _category(name: str, category: Mapping[str, object]) -> Category:
    right = number(category.get("accuracy"))
    estimate = Estimate(right, None, None, f"right: {percent(right)}")
    return Category(
        name,
        many(number(category.get("n")), "request"),
        percent(right),
        decimal(number(category.get("f1"))),
        strip(share_scale(), [estimate], None, name),
    )


def _index(index: Mapping[str, object]) -> str:
    skills, characters = number(index.get("skills")), number(index.get("characters"))
    if skills is None:
        return ""
    tokens = number(index.get("input_tokens"))
    sizes = [f"an index of {many(skills, 'skill')}"]
    sizes += [f"{whole(characters)} characters"] if characters is not None else []
    sizes += [f"{whole(tokens)} input tokens by the provider’s count"] if tokens else []
    return f"The router saw {', '.join(sizes)}."


def curve(points: object) -> Markup:
    """Return the rates of a local router by its threshold; empty for fewer than two points."""
    by_threshold = [
        (threshold, each)
        for each in rows(points)
        if (threshold := number(each.get("threshold"))) is not None
    ]
    points_sorted = sorted(by_threshold, key=lambda each: each[0])
    if len(points_sorted) < 2 or points_sorted[0][0] == points_sorted[-1][0]:
        return Markup("")
    return _draw_curve(points_sorted)


def _draw_curve(points: Sequence[tuple[float, Mapping[str, object]]]) -> Markup:
    x = Scale(points[0][0], points[-1][0], 44, 340)
    y = Scale(0, 1, 218, 30)
    parts: list[str] = [
        y_axis(y, x.start, percent, right=x.end),
        label(0, 14, "share of requests", "name"),
        x_axis(x, y.start, lambda v: f"{v:g}", name="threshold: picked from this score up"),
    ]
    summaries, ends = [], []
    marked_places = set(round_ticks(0, len(points) - 1, 10))
    for key, shape, curve_name in _CURVES:
        through = [
            (x.at(threshold), y.at(rate))
            for threshold, each in points
            if (rate := number(each.get(key))) is not None
        ]
        parts.append(path(through, f"curve {key}"))
        parts += [
            mark(*at_, shape, f"mark {key}", size=3.5)
            for place, at_ in enumerate(through)
            if place in marked_places
        ]
        if through:
            ends.append((through[-1][1], curve_name))
            summaries.append(
                f"{curve_name} from {percent(_first(points, key))} to {percent(_last(points, key))}"
            )
    last = -99.0
    for height, curve_name in sorted(ends):
        last = max(height, last + 15)
        parts.append(label(x.end + 8, last + 4, curve_name, "entry"))
    return figure(440, 256, "Rates by the threshold of the router", "; ".join(summaries), *parts)


def _first(points: Sequence[tuple[float, Mapping[str, object]]], key: str) -> float | None:
    return next((rate for _, each in points if (rate := number(each.get(key))) is not None), None)


def _last(points: Sequence[tuple[float, Mapping[str, object]]], key: str) -> float | None:
    return _first(list(reversed(points)), key)
