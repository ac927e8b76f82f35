"""Effectiveness and size impact in a report: the score of each arm, and the differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.frontier import effects, frontier, small_frontier
from skillyard.evals.report.markup import Markup, visible_line
from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.strips import Estimate, strip, strip_axis, strip_scale
from skillyard.evals.report.svg import Scale, scale_over
from skillyard.evals.report.values import at, count, mapping, names, number, rows, word
from skillyard.evals.report.words import (
    LEVEL,
    UNKNOWN,
    against,
    between,
    chance,
    condition,
    decimal,
    many,
    signed,
    whole,
    within,
)

__all__ = [
    "ORDER",
    "Arm",
    "Badge",
    "Card",
    "Comparison",
    "Forest",
    "PairView",
    "badge",
    "comparison_names",
    "headline_of",
    "pair_view",
    "recommended",
    "verdict_of",
]

ORDER = (
    "enhanced/baseline",
    "full/baseline",
    "full/summary",
    "summary/baseline",
    "full_siblings/full",
)
"""The order in which comparisons are shown; others follow by name."""
_ARMS = ("full_siblings", "full", "enhanced", "summary", "baseline")
_WIDEST = 4.0  # scores lie between 1 and 5, so no difference is larger


class Badge(NamedTuple):
    """A verdict in a word, with a sign of its own so that it does not rest on colour."""

    sign: str
    text: str
    kind: str
    """``good``, ``bad``, ``even`` or ``open``: its class."""


_BADGES = {
    "better": Badge("▲", "better", "good"),
    "worse": Badge("▼", "worse", "bad"),
    "no difference shown": Badge("≈", "no difference shown", "even"),
    "too little data": Badge("?", "too little data", "open"),
}


def badge(verdict: object) -> Badge:
    """Return the badge of a comparison's word; no word is too little data."""
    name = word(verdict)
    return _BADGES.get(name) or Badge("?", visible_line(name, 30) or "no verdict", "open")


class Comparison(NamedTuple):
    """One row of a forest plot: one skill in one comparison."""

    number: int | None
    """By which plots refer to the skill; None for the pooled row."""
    name: str
    mean: str
    interval: str
    chance: str
    record: str
    """Wins, losses and ties: ``5 / 1 / 0``."""
    units: str
    badge: Badge
    detectable: str
    """The smallest difference that so many requests can show."""
    strip: Markup


class Forest(NamedTuple):
    """One comparison over all skills."""

    name: str
    axis: Markup
    rows: tuple[Comparison, ...]


class Arm(NamedTuple):
    """The tokens and the score of one arm, for one skill or for all."""

    name: str
    tokens: str
    score: str
    interval: str
    value: str
    """Points over no skill for each 1,000 tokens that were injected."""


@dataclass(frozen=True, slots=True)
class Card:
    """One skill: its verdict in a sentence, and its own frontier."""

    number: int
    name: str
    badge: Badge
    sentence: str
    tier: str
    recommended: str
    effect: str
    plot: Markup
    arms: tuple[Arm, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairView:
    """All of one L5 or L6 envelope but its cases."""

    cards: tuple[Card, ...]
    forests: tuple[Forest, ...]
    pooled: tuple[str, ...]
    """One sentence for each comparison over all skills."""
    frontier: Markup
    frontier_arms: tuple[Arm, ...]
    effects: Markup


def pair_view(envelope: Mapping[str, object]) -> PairView:
    """Return what a report shows of an L5 or L6 envelope, from its summary and artifacts."""
    summary = mapping(envelope.get("summary"))
    skills = entities(summary)
    pooled = mapping(summary.get("_overall"))
    arms = at(envelope, "artifacts", "frontier")
    scale = _scale(summary)
    return PairView(
        tuple(_card(place, name, each) for place, (name, each) in enumerate(skills.items(), 1)),
        tuple(_forest(each, skills, pooled, scale) for each in comparison_names(summary)),
        tuple(
            _pooled(each, mapping(at(pooled, "comparisons", each)))
            for each in comparison_names({"_overall": pooled})
        ),
        frontier(arms),
        tuple(_arm(arm, pooled) for arm in sorted(rows(arms), key=_cheapest)),
        effects(list(skills.items())),
    )


def comparison_names(summary: object) -> tuple[str, ...]:
    """Return the comparisons of a summary; those of the specification come first."""
    comparisons = {
        name for entity in mapping(summary).values() for name in mapping(at(entity, "comparisons"))
    }
    in_order = [name for name in ORDER if name in comparisons]
    return (*in_order, *sorted(comparisons - set(in_order)))


def headline_of(entity: Mapping[str, object]) -> Mapping[str, object]:
    """Return the comparison against no skill, which decides a skill's verdict."""
    comparisons = mapping(entity.get("comparisons"))
    for name in ORDER[:2]:
        if name in comparisons:
            return mapping(comparisons[name])
    return {}


def verdict_of(entity: Mapping[str, object]) -> str:
    """Return the verdict sentence of a skill, or one built from its headline figures."""
    sentence = word(entity.get("verdict")).strip()
    if sentence:
        return sentence
    if word(entity.get("summary_error")) and not headline_of(entity):
        return "No summary could be drawn from it."
    headline = headline_of(entity)
    mean = number(headline.get("mean"))
    if mean is None:
        return "Nothing was judged, so nothing can be said."
    reach = between(number(headline.get("ci_low")), number(headline.get("ci_high")))
    return (
        f"Against no skill: {signed(mean)} points"
        f"{within(reach)}, {badge(headline.get('word')).text}."
    )


def recommended(entity: Mapping[str, object]) -> str:
    """Return what the recommended arm is called; empty where none is recommended."""
    return condition(word(entity.get("recommended_level")))


def _record(comparison: Mapping[str, object]) -> str:
    parts = [count(comparison.get(key)) for key in ("wins", "losses", "ties")]
    if None in parts:
        return UNKNOWN
    return " / ".join(whole(part) for part in parts)


def _scale(summary: Mapping[str, object]) -> Scale:
    """Return the scale that all forests of an envelope share, so that they can be compared."""
    ends = [
        min(_WIDEST, max(-_WIDEST, end))
        for entity in summary.values()
        for comparison in mapping(at(entity, "comparisons")).values()
        for key in ("mean", "ci_low", "ci_high")
        if (end := number(at(comparison, key))) is not None
    ]
    range_scale = scale_over(ends, 0, 1, least=(-1.0, 1.0))
    return strip_scale(range_scale.low, range_scale.high)


def _forest(
    name: str,
    skills: Mapping[str, Mapping[str, object]],
    pooled: Mapping[str, object],
    scale: Scale,
) -> Forest:
    rows_of_skills = [
        (place, skill, mapping(at(entity, "comparisons", name)))
        for place, (skill, entity) in enumerate(skills.items(), 1)
        if mapping(at(entity, "comparisons", name))
    ]
    together = mapping(at(pooled, "comparisons", name))

    def row(place: int | None, skill: str, each: Mapping[str, object]) -> Comparison:
        mean, low, high = (number(each.get(key)) for key in ("mean", "ci_low", "ci_high"))
        reach = between(low, high)
        verdict = badge(each.get("word"))
        text = f"{signed(mean)}, interval {reach}" if reach else signed(mean)
        detectable = number(each.get("smallest_detectable"))
        estimate = Estimate(mean, low, high, text, "circle" if place else "diamond", verdict.kind)
        return Comparison(
            place,
            skill,
            signed(mean),
            reach,
            _p(each),
            _record(each),
            many(count(each.get("units")), "prompt"),
            verdict,
            _detectable(verdict, detectable),
            strip(scale, [estimate], 0.0, f"{skill}: {against(name)}"),
        )

    comparisons = [row(*each) for each in rows_of_skills]
    if together:
        comparisons.append(row(None, "all skills", together))
    axis = strip_axis(
        scale, lambda tick: signed(tick, 1 if tick % 1 else 0), "Difference of scores"
    )
    return Forest(_capital(against(name)), axis, tuple(comparisons))


def _p(comparison: Mapping[str, object]) -> str:
    """Return the corrected p, by which the verdict goes; the plain one where there is no other."""
    corrected = number(comparison.get("p_adjusted"))
    return chance(number(comparison.get("p")) if corrected is None else corrected)


def _detectable(verdict: Badge, least: float | None) -> str:
    """Return the smallest difference that could have been shown, where none was."""
    if least is None or verdict != _BADGES["no difference shown"]:
        return ""
    return f"shows ≥\u00a0{decimal(least)}" if least < _WIDEST else "shows none"


def _pooled(name: str, comparison: Mapping[str, object]) -> str:
    mean = number(comparison.get("mean"))
    if mean is None:
        return f"{_capital(against(name))}: nothing was judged."
    reach = between(number(comparison.get("ci_low")), number(comparison.get("ci_high")))
    parts = [signed(mean) + " points"]
    if reach:
        parts.append(f"{LEVEL} interval {reach}")
    p = _p(comparison)
    if p:
        parts.append(p)
    return (
        f"{_capital(against(name))}: {', '.join(parts)}, over "
        f"{many(count(comparison.get('units')), 'prompt')}: {badge(comparison.get('word')).text}."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _card(place: int, name: str, entity: Mapping[str, object]) -> Card:
    headline = headline_of(entity)
    conditions = mapping(entity.get("conditions"))
    tier = word(entity.get("size_tier"))
    size = count(entity.get("body_bytes"))
    return Card(
        place,
        name,
        badge(headline.get("word")),
        verdict_of(entity),
        ", ".join(part for part in (tier, f"{whole(size)} bytes" if size else "") if part),
        recommended(entity),
        signed(number(headline.get("mean"))),
        small_frontier(name, conditions),
        tuple(
            _arm({"condition": each, **mapping(conditions[each])}, entity)
            for each in _sorted_arms(conditions)
        ),
        tuple(_notes(entity)),
    )


def _sorted_arms(conditions: Mapping[str, object]) -> list[str]:
    in_order = [name for name in _ARMS if name in conditions]
    return in_order + sorted(set(conditions) - set(in_order))


def _cheapest(arm: Mapping[str, object]) -> tuple[float, str]:
    return number(arm.get("tokens")) or 0.0, word(arm.get("condition"))


def _arm(arm: Mapping[str, object], entity: Mapping[str, object]) -> Arm:
    """Return an arm of the frontier, or of a skill's ``conditions``, with its worth."""
    name = word(arm.get("condition"))
    tokens = number(arm.get("tokens"))
    value = at(entity, "comparisons", f"{name}/baseline", "value_per_1000_tokens")
    return Arm(
        condition(name),
        whole(count(arm.get("tokens_estimated")) if tokens is None else tokens),
        decimal(number(arm.get("mean_score"))),
        between(number(arm.get("ci_low")), number(arm.get("ci_high")), decimal),
        signed(number(value)),
    )


def _notes(entity: Mapping[str, object]) -> list[str]:
    notes = []
    if word(entity.get("summary_error")):
        notes.append(f"No summary could be drawn from it: {word(entity.get('summary_error'))}.")
    missing = names(entity.get("missing_siblings"))
    if missing:
        notes.append(f"Sibling files that are not there: {', '.join(missing)}.")
    for key, what in (("errors", "with errors"), ("skipped", "skipped")):
        number_of_cases = count(entity.get(key))
        if number_of_cases:
            notes.append(f"{many(number_of_cases, 'case')} {what}, not in these figures.")
    return notes
