"""Criteria for answers: each has a name and a weight."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Annotated

from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import SomeText

if TYPE_CHECKING:
    from skillyard.evals.cases.records import Record

WEIGHT_SUM_TOLERANCE = 0.01
"""Tolerance for the sum of the weights of a rubric, which should be 1."""
_ROUNDING = 1e-9  # binary sums of decimal weights
ADVISED_CRITERIA = (3, 6)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric. The weights of a rubric sum to 1 (within 0.01)."""

    name: SomeText
    weight: Annotated[float, Bounds(above=0, most=1)]
    description: SomeText
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


def read_criteria(record: Record) -> tuple[Criterion, ...]:
    """Return a record's ``criteria``; everything that is wrong with them is noted.

    Empty where the field is absent, which is noted too.
    """
    notes = record.notes
    before = notes.errors
    entries = record.some_records("criteria", "criterion")
    criteria = tuple(entry.read(Criterion) for entry in entries)
    names: dict[str, int] = {}
    for entry, criterion in zip(entries, criteria, strict=True):
        key = criterion.name.casefold()
        if key and key in names:
            entry.wrong("name", f"is that of criteria[{names[key]}] too", "rename one of the two")
        names.setdefault(key, len(names))
    if notes.errors > before:
        return ()
    _check_weights(criteria, record)
    low, high = ADVISED_CRITERIA
    if not low <= len(criteria) <= high:
        notes.warning(
            "rubric_criteria_count",
            record.line_of("criteria"),
            f"{len(criteria)} criteria",
            f"{low} to {high} are advised: fewer say little, more are not kept apart by judges",
        )
    return criteria


def _check_weights(criteria: tuple[Criterion, ...], record: Record) -> None:
    total = fsum(criterion.weight for criterion in criteria)
    if abs(total - 1) > WEIGHT_SUM_TOLERANCE + _ROUNDING:
        record.notes.error(
            "rubric_weights",
            record.line_of("criteria"),
            f"the weights sum to {total:.6g}, not to 1",
            f"make them sum to 1 (within {WEIGHT_SUM_TOLERANCE})",
            ", ".join(f"{criterion.weight:g}" for criterion in criteria),
        )
