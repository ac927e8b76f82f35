"""Criteria for answers: each has a name and a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillyard.evals.cases.reading import Notes

WEIGHT_SUM_TOLERANCE = 0.01
"""Tolerance for the sum of the weights of a rubric, which should be 1."""
_ROUNDING = 1e-9  # binary sums of decimal weights
ADVISED_CRITERIA = (3, 6)
_STRICT = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric. The weights of a rubric sum to 1 (within 0.01)."""

    __pydantic_config__ = _STRICT

    name: str
    weight: float
    description: str
    """The instruction to the judge."""


DEFAULT_CRITERIA = (
    Criterion("correctness", 0.35, "What it says and does is right for the request as written."),
    Criterion(
        "completeness", 0.25, "Every part of the request is answered; nothing needed is left out."
    ),
    Criterion(
        "practice", 0.2, "It follows what experienced people in the field would do and avoid."
    ),
    Criterion(
        "clarity", 0.2, "It can be followed and used at once; no padding, no contradictions."
    ),
)
"""For cases that bring no rubric of their own."""


def check_criteria(criteria: Sequence[Criterion], line: int | None, notes: Notes) -> None:
    """Note everything that is wrong with the criteria of a file; none at all is no fault."""
    names = [criterion.name.casefold() for criterion in criteria]
    for number, criterion in enumerate(criteria):
        where = f"criteria[{number}]"
        if not criterion.name or not criterion.description:
            message = f"{where} has no name or no description"
            notes.error("case_bad_field", line, message, "write some text")
        elif names.index(names[number]) < number:
            message = f"{where}.name is that of criteria[{names.index(names[number])}] too"
            notes.error("case_bad_field", line, message, "rename one of the two", criterion.name)
        if not 0 < criterion.weight <= 1:
            message = f"{where}.weight must be above 0 and at most 1"
            hint = "write a number in that range"
            notes.error("case_bad_field", line, message, hint, criterion.weight)
    total = fsum(criterion.weight for criterion in criteria)
    if criteria and abs(total - 1) > WEIGHT_SUM_TOLERANCE + _ROUNDING:
        weights = ", ".join(f"{criterion.weight:g}" for criterion in criteria)
        message = f"the weights sum to {total:.6g}, not to 1"
        hint = f"make them sum to 1 (within {WEIGHT_SUM_TOLERANCE})"
        notes.error("rubric_weights", line, message, hint, weights)
    low, high = ADVISED_CRITERIA
    if criteria and not low <= len(criteria) <= high:
        hint = f"{low} to {high} are advised: fewer say little, more are not kept apart by judges"
        notes.warning("rubric_criteria_count", line, f"{len(criteria)} criteria", hint)
