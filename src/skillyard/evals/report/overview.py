"""The overview of a report: one tile for each layer, and a row with the verdicts for each skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.evals.report.activation import rate_texts
from skillyard.evals.report.layers import Layer, layer_of
from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.pairs import Badge, badge, headline_of, recommended
from skillyard.evals.report.values import at, mapping, names, number, rows
from skillyard.evals.report.words import (
    LEVEL,
    UNKNOWN,
    between,
    decimal,
    many,
    percent,
    signed,
    whole,
)

__all__ = ["Answer", "Overview", "SkillRow", "Tile", "overview", "tile"]


class Tile(NamedTuple):
    """The answer of one layer: a figure, what it is, and a sentence."""

    anchor: str
    layer: Layer
    figure: str
    unit: str
    sentence: str


class Answer(NamedTuple):
    """The result of one layer for one skill, in a few words."""

    text: str
    note: str
    badge: Badge | None


class SkillRow(NamedTuple):
    """One skill over all layers."""

    name: str
    answers: tuple[Answer, ...]


class Overview(NamedTuple):
    """A table of skills by layers; empty where no envelope holds a skill."""

    columns: tuple[Layer, ...]
    rows: tuple[SkillRow, ...]


_NOTHING = Answer(UNKNOWN, "", None)


def tile(envelope: Mapping[str, object], anchor: str) -> Tile:
    """Return the tile of one envelope."""
    layer = layer_of(envelope)
    tile_of = {
        "activation": _activation,
        "confusion": _confusion,
        "effectiveness": _effect,
        "size_impact": _size,
    }.get(layer.eval_type)
    figure, unit, sentence = tile_of(envelope) if tile_of else (UNKNOWN, "", "")
    return Tile(anchor, layer, figure, unit, sentence)


def _activation(envelope: Mapping[str, object]) -> tuple[str, str, str]:
    overall = mapping(at(envelope, "summary", "_overall"))
    f1 = number(overall.get("f1"))
    f1 = number(overall.get("mean")) if f1 is None else f1
    fires, _ = rate_texts(overall, "tpr")
    wrongly, _ = rate_texts(overall, "fpr")
    parts = [f"fired for {fires} of the requests that need it"] if fires else []
    parts += [f"wrongly for {wrongly} of the others"] if wrongly else []
    text = f"{_first_upper(', '.join(parts))}." if parts else "No case gave a figure."
    return decimal(f1), "F1", text


def _confusion(envelope: Mapping[str, object]) -> tuple[str, str, str]:
    accuracies = [
        (accuracy, number(each.get("n")) or 0.0)
        for each in entities(envelope.get("summary")).values()
        if (accuracy := number(each.get("accuracy"))) is not None
    ]
    requests = sum(cases for _, cases in accuracies)
    findings = rows(at(envelope, "artifacts", "findings"))
    if not requests:
        return UNKNOWN, "right", "No case gave a figure."
    right = sum(accuracy * cases for accuracy, cases in accuracies) / requests
    least = min(
        (number(each.get("accuracy")) or 0.0, name)
        for name, each in entities(envelope.get("summary")).items()
        if number(each.get("accuracy")) is not None
    )
    text = f"{many(len(accuracies), 'group')}, the weakest {least[1]} with {percent(least[0])}"
    return percent(right), "right", f"{text}; {many(len(findings), 'finding')}."


def _pooled(envelope: Mapping[str, object]) -> tuple[str, str, str]:
    overall = headline_of(mapping(at(envelope, "summary", "_overall")))
    mean = number(overall.get("mean"))
    if mean is None:
        return UNKNOWN, "points", "Nothing was judged."
    reach = between(number(overall.get("ci_low")), number(overall.get("ci_high")))
    text = badge(overall.get("word")).text
    return signed(mean), "points", f"{LEVEL} interval {reach}: {text}." if reach else f"{text}."


def _effect(envelope: Mapping[str, object]) -> tuple[str, str, str]:
    figure, unit, text = _pooled(envelope)
    return figure, unit, f"With the skill against without it. {_first_upper(text)}"


def _size(envelope: Mapping[str, object]) -> tuple[str, str, str]:
    figure, unit, text = _pooled(envelope)
    counts: dict[str, int] = {}
    for entity in entities(envelope.get("summary")).values():
        level = recommended(entity)
        if level:
            counts[level] = counts.get(level, 0) + 1
    advice = ", ".join(
        f"{level} for {whole(amount)}"
        for level, amount in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )
    sentence = f"Full skill against none. {_first_upper(text)}"
    return figure, unit, f"{sentence} Enough: {advice}." if advice else sentence


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def overview(envelopes: Sequence[Mapping[str, object]]) -> Overview:
    """Return every skill's answers, one column for each envelope, skills by name."""
    columns = [(layer_of(each), _answers(each)) for each in envelopes]
    columns = [(layer, answers) for layer, answers in columns if answers]
    skills = sorted({name for _, answers in columns for name in answers})
    return Overview(
        tuple(layer for layer, _ in columns),
        tuple(
            SkillRow(name, tuple(answers.get(name, _NOTHING) for _, answers in columns))
            for name in skills
        ),
    )


def _answers(envelope: Mapping[str, object]) -> dict[str, Answer]:
    kind = layer_of(envelope).eval_type
    by_name = entities(envelope.get("summary"))
    if kind == "activation":
        return {name: _fires(each) for name, each in by_name.items()}
    if kind == "confusion":
        return _confused(envelope, by_name)
    if kind in ("effectiveness", "size_impact"):
        return {name: _helps(each, kind == "size_impact") for name, each in by_name.items()}
    return {}


def _fires(entity: Mapping[str, object]) -> Answer:
    fires, _ = rate_texts(entity, "tpr")
    wrongly, _ = rate_texts(entity, "fpr")
    return Answer(fires or UNKNOWN, f"wrongly {wrongly}" if wrongly else "", None)


def _confused(
    envelope: Mapping[str, object], groups: Mapping[str, Mapping[str, object]]
) -> dict[str, Answer]:
    """Return, for each skill of a group, how often another was picked in its place."""
    answers: dict[str, Answer] = {}
    matrices = mapping(at(envelope, "artifacts", "confusion_matrices"))
    for group in sorted({*matrices, *groups}):
        crossing = mapping(groups.get(group, {}).get("cross_activation"))
        for skill in names(at(matrices, group, "skills")) or sorted(crossing):
            rate = number(crossing.get(skill))
            text = f"{percent(rate)} to others" if rate is not None else UNKNOWN
            answers.setdefault(skill, Answer(text, group, None))
    return answers


def _helps(entity: Mapping[str, object], sized: bool) -> Answer:
    headline = headline_of(entity)
    level = recommended(entity)
    mean = number(headline.get("mean"))
    note = f"enough: {level}" if sized and level else ""
    return Answer(signed(mean), note, badge(headline.get("word")))
