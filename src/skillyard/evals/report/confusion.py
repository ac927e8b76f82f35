"""Confusion in a report: which skill of a group is picked in place of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.markup import Markup
from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.strips import Estimate, share_scale, strip, strip_axis
from skillyard.evals.report.svg import Cell, heat_map
from skillyard.evals.report.values import at, items, mapping, names, number, rows, total, word
from skillyard.evals.report.words import between, many, percent, whole, within

__all__ = ["ConfusionView", "Group", "confusion_sentence", "confusion_view", "matrix_plot"]

_MAX_SKILLS = 24  # a larger matrix is not readable as a plot
_KINDS = {
    "pair": "Taken for another",
    "low_discrimination": "Not told apart",
    "never_predicted": "Never picked",
    "multi": "Several picked",
    "none": "None picked",
    "out_of_group": "Picked outside the group",
}


class Group(NamedTuple):
    """One group of similar skills."""

    name: str
    sentence: str
    accuracy: str
    interval: str
    strip: Markup
    skills: tuple[str, ...]
    plot: Markup
    beside: str
    """Picks that are in no cell."""
    findings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ConfusionView:
    """All of an L4 envelope but its cases."""

    axis: Markup
    groups: tuple[Group, ...]
    negatives: str
    """How often a skill was picked where none is needed; empty without negatives."""


def confusion_sentence(entity: Mapping[str, object]) -> str:
    """Return a sentence with the accuracy of one group."""
    accuracy = number(entity.get("accuracy"))
    accuracy = number(entity.get("mean")) if accuracy is None else accuracy
    if accuracy is None:
        return "No case gave a figure."
    reach = between(number(entity.get("low")), number(entity.get("high")), percent)
    requests = many(number(entity.get("n")), "request")
    return f"The right skill for {percent(accuracy)} of {requests}{within(reach)}."


def confusion_view(envelope: Mapping[str, object]) -> ConfusionView:
    """Return what a report shows of an L4 envelope, from its summary and artifacts."""
    matrices = mapping(at(envelope, "artifacts", "confusion_matrices"))
    summary = entities(envelope.get("summary"))
    findings = rows(at(envelope, "artifacts", "findings"))
    groups = sorted({*matrices, *summary})
    return ConfusionView(
        strip_axis(share_scale(), percent, "Accuracy"),
        tuple(
            _group(name, summary.get(name, {}), mapping(matrices.get(name)), findings)
            for name in groups
        ),
        _negatives(mapping(at(envelope, "artifacts", "negatives"))),
    )


def _negatives(negatives: Mapping[str, object]) -> str:
    requests, fired = number(negatives.get("n")), number(negatives.get("fired"))
    if not requests or fired is None:
        return ""
    reach = between(number(negatives.get("low")), number(negatives.get("high")), percent)
    return (
        f"A skill of the group was picked all the same for {percent(fired)} of "
        f"{many(requests, 'request')} that need none{within(reach)}."
    )


def _group(
    name: str,
    entity: Mapping[str, object],
    matrix: Mapping[str, object],
    findings: Sequence[Mapping[str, object]],
) -> Group:
    accuracy = number(entity.get("accuracy"))
    low, high = number(entity.get("low")), number(entity.get("high"))
    text = percent(accuracy)
    beside = [
        f"{whole(value)} {text}"
        for key, text in (
            ("no_activation", "without any skill"),
            ("multi_activation", "with several skills"),
            ("out_of_group", "outside the group"),
        )
        if (value := total(matrix.get(key)))
    ]
    return Group(
        name,
        confusion_sentence(entity),
        text,
        between(low, high, percent),
        strip(share_scale(), [Estimate(accuracy, low, high, text)], None, f"{name}: accuracy"),
        names(matrix.get("skills")),
        matrix_plot(name, matrix),
        f"Answers {', '.join(beside)}." if beside else "",
        tuple(
            (_KINDS.get(word(each.get("kind")), word(each.get("kind"))), word(each.get("message")))
            for each in findings
            if each.get("group") == name
        ),
    )


def matrix_plot(group: str, matrix: Mapping[str, object]) -> Markup:
    """Return the heat map of a group; empty where the matrix is not square or too large."""
    skills = names(matrix.get("skills"))
    grid = [[number(value) or 0.0 for value in items(row)] for row in items(matrix.get("matrix"))]
    if not 0 < len(skills) <= _MAX_SKILLS or len(grid) != len(skills):
        return Markup("")
    if any(len(row) != len(skills) for row in grid):
        return Markup("")
    cells = [
        [
            Cell(
                whole(value) if value else "·",
                value / sum(row) if sum(row) > 0 else 0.0,
                expected == picked,
                f"{whole(value)} of {whole(sum(row))} for {skills[expected]} went to "
                f"{skills[picked]}",
            )
            for picked, value in enumerate(row)
        ]
        for expected, row in enumerate(grid)
    ]
    right = sum(row[place] for place, row in enumerate(grid))
    return heat_map(
        f"{group}: expected skill by picked skill",
        f"{whole(right)} of {whole(sum(map(sum, grid)))} picks lie on the diagonal, where they "
        "should.",
        [f"{place} {skill}" for place, skill in enumerate(skills, 1)],
        [str(place) for place in range(1, len(skills) + 1)],
        cells,
    )
