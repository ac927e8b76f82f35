"""Criteria for answers: each has a name and a weight."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_CRITERIA", "Criterion"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric. The weights of a rubric sum to 1 (within 0.01)."""

    name: str
    weight: float
    """Above 0, at most 1."""
    description: str = ""
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
