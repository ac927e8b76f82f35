"""What answers are asked to be, and the criteria by which a judge scores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

STRICT = {"extra": "forbid", "str_strip_whitespace": True}
"""The ``__pydantic_config__`` of a class that has every field which its file may have."""
DEFAULT_ROLE = (
    "You are an experienced professional. Answer the request completely and correctly, "
    "in a form that can be used as it is."
)
"""What every answer is asked to be: the first sentence of each system text."""
_TOLERANCE = 0.01 + 1e-9  # and binary sums of decimal weights


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric. The weights of a rubric sum to 1 (within 0.01)."""

    __pydantic_config__ = STRICT

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


def criteria_faults(criteria: Sequence[Criterion]) -> Iterator[str]:
    """Yield what is wrong with the criteria of a file, each with what to write instead."""
    names = [criterion.name.casefold() for criterion in criteria]
    for number, criterion in enumerate(criteria):
        if not criterion.name or not criterion.description:
            yield f"criteria[{number}] has no name or no description; write some text"
        elif names.index(names[number]) < number:
            yield f"criteria[{number}].name is that of another one too; rename one of the two"
        if not 0 < criterion.weight <= 1:
            yield f"criteria[{number}].weight must be above 0 and at most 1; correct it"
    total = fsum(criterion.weight for criterion in criteria)
    if criteria and abs(total - 1) > _TOLERANCE:
        yield f"the weights sum to {total:.6g}, not to 1; make them sum to 1 (within 0.01)"
