"""The measures of each layer, case by case: what a baseline stores and a later run is held against.

A summary cannot say whether a difference is more than chance, since it no longer knows which answer
belongs to which case. So each measure carries its value for every case and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds
from skillyard.evals.fields import fits, hints_of

if TYPE_CHECKING:
    from skillyard.evals.layers.work import CaseResult

_LARGEST = 1_000.0
"""Larger values of a baseline are refused, because the file is not trusted."""
Values = dict[str, list[float]]
"""The values of each case, one for each of its runs."""


class _Record(TypedDict):
    """The entry of a baseline, in the order of the fields of :class:`Measure`."""

    entity: str
    measure: str
    worse: Literal["lower", "higher"]
    gate: bool
    cases: Mapping[str, list[Annotated[float, Bounds(-_LARGEST, _LARGEST)]]]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of one skill, of one group, or of all (``_overall``)."""

    entity: str
    measure: str
    worse: str
    """``lower`` or ``higher``: the direction that is a regression."""
    gate: bool
    """True if a change for the worse is a regression; False if it is only shown."""
    cases: Values
    threshold: float = 0.0
    """The change that counts."""
    least: int = 1
    """Values that both runs need."""
    spreads: float = 0.0
    """So many standard deviations of the baseline's values a change must exceed as well."""
    largest: float = inf
    """No change can be larger: 1 for rates."""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the baseline: without the limits, which are those of later runs."""
        return {name: getattr(self, name) for name in hints_of(_Record)}

    @classmethod
    def from_dict(cls, record: object) -> Measure:
        """Return a measure of a baseline. Raises InvalidInput where it is not one."""
        if not isinstance(record, Mapping):
            raise InvalidInput("a measure must be an object")
        if not fits(record, _Record):
            raise InvalidInput("a measure needs entity, measure, worse, gate and cases")
        return cls(*(record[name] for name in hints_of(_Record)))


def measures_from(records: object) -> tuple[Measure, ...]:
    """Return the measures of a baseline. Raises InvalidInput where one is damaged."""
    if not isinstance(records, list):
        raise InvalidInput("the measures must be a list")
    return tuple(map(Measure.from_dict, records))


def values_by_case(cases: Iterable[CaseResult], value: Callable[[CaseResult], bool]) -> Values:
    """Return 1 or 0 for each run of each case."""
    values: Values = {}
    for case in cases:
        values.setdefault(str(case["id"]), []).append(float(value(case)))
    return values
