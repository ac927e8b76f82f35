"""The rules of each layer: the size of a difference that is a regression (evals.md §1.16).

Each change also has the interval of the difference, so that a reader sees whether it may be chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skillyard.evals.config_values import Regression
from skillyard.evals.statistics.difference import Difference, mean_difference, rate_difference

__all__ = [
    "IMPROVEMENT",
    "NEW",
    "NOT_COMPARED",
    "REGRESSION",
    "REMOVED",
    "RULES",
    "UNCHANGED",
    "Change",
]

_EXACT = 9
"""Decimals to which a change is compared with its threshold."""
_MAX_FIGURE = 1_000_000_000
"""Larger figures and counts in a summary are ignored, because the file is not trusted."""

REGRESSION, IMPROVEMENT, UNCHANGED = "regression", "improvement", "unchanged"
NEW, REMOVED, NOT_COMPARED = "new", "gone", "not compared"


@dataclass(frozen=True, slots=True)
class Change:
    """One measure of one entity, before and now."""

    eval_type: str
    entity: str
    measure: str
    status: str
    """``regression``, ``improvement``, ``unchanged``, ``new``, ``gone`` or ``not compared``."""
    before: float | None = None
    after: float | None = None
    change: float | None = None
    """After minus before."""
    threshold: float | None = None
    """The change from which on it is reported."""
    low: float | None = None
    """The 95 % interval of the change."""
    high: float | None = None
    p: float | None = None
    note: str = ""

    @property
    def message(self) -> str:
        """One sentence with the figures."""
        if self.status == NEW:
            return "not in the baseline"
        if self.status == REMOVED:
            return "in the baseline, and not in the results any more"
        if self.before is None or self.after is None or self.change is None:
            return f"{self.measure}: not compared ({self.note or 'no figures on one side'})"
        sentence = (
            f"{self.measure}: {self.before:.3g} before, {self.after:.3g} now ({self.change:+.3g}"
        )
        if self.low is not None and self.high is not None:
            sentence += f", 95 % interval {self.low:+.3g} to {self.high:+.3g}"
        if self.p is not None:
            sentence += f", p {self.p:.3g}"
        return f"{sentence}); the threshold is {self.threshold:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {**asdict(self), "message": self.message}


Rule = Callable[[str, Mapping[str, Any], Mapping[str, Any], Regression], Iterable[Change]]


def _effectiveness(
    entity: str, before: Mapping[str, Any], after: Mapping[str, Any], rules: Regression
) -> Iterator[Change]:
    limits = rules.effectiveness
    spread = abs(_figure(before, "stddev") or 0.0)
    drop = max(limits.mean_drop, limits.stddev_multiplier * spread)
    yield _mean_change("effectiveness", entity, "mean", before, after, limits.min_cases, drop)


def _size_impact(
    entity: str, before: Mapping[str, Any], after: Mapping[str, Any], rules: Regression
) -> Iterator[Change]:
    limits = rules.size_impact
    pairs = _mapping(before, "comparisons"), _mapping(after, "comparisons")
    for name in sorted({*pairs[0], *pairs[1]}):
        yield _mean_change(
            "size_impact",
            entity,
            name,
            _mapping(pairs[0], name),
            _mapping(pairs[1], name),
            limits.min_cases,
            limits.score_change,
        )


def _activation(
    entity: str, before: Mapping[str, Any], after: Mapping[str, Any], rules: Regression
) -> Iterator[Change]:
    limits = rules.activation
    for measure, count, threshold, sign in (
        ("tpr", "positives", limits.tpr_drop, -1),
        ("fpr", "negatives", limits.fpr_increase, 1),
    ):
        yield _rate_change(
            "activation",
            entity,
            measure,
            (_figure(before, measure), _count(before, count)),
            (_figure(after, measure), _count(after, count)),
            limits.min_cases,
            threshold,
            sign,
        )


def _confusion(
    entity: str, before: Mapping[str, Any], after: Mapping[str, Any], rules: Regression
) -> Iterator[Change]:
    limits = rules.confusion
    shares = _mapping(before, "cross_activation"), _mapping(after, "cross_activation")
    requests = _mapping(before, "requests"), _mapping(after, "requests")
    for skill in sorted({*shares[0], *shares[1]}):
        yield _rate_change(
            "confusion",
            entity,
            f"cross_activation of {skill}",
            (_figure(shares[0], skill), _count(requests[0], skill)),
            (_figure(shares[1], skill), _count(requests[1], skill)),
            limits.min_cases,
            limits.cross_activation_change,
            1,
            (_count(before, "n"), _count(after, "n")),
        )


RULES: Mapping[str, Rule] = {
    "activation": _activation,
    "confusion": _confusion,
    "effectiveness": _effectiveness,
    "size_impact": _size_impact,
}


def _mean_change(
    eval_type: str,
    entity: str,
    measure: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    least: int,
    threshold: float,
) -> Change:
    first, second = _figure(before, "mean"), _figure(after, "mean")
    counts = _count(before, "n"), _count(after, "n")
    few = _too_few(eval_type, entity, measure, first, second, counts, least)
    if few is not None or first is None or second is None:
        return few or Change(eval_type, entity, measure, NOT_COMPARED)
    spreads = _figure(before, "stddev") or 0.0, _figure(after, "stddev") or 0.0
    difference = mean_difference((first, spreads[0], counts[0]), (second, spreads[1], counts[1]))
    return _change_of(eval_type, entity, measure, first, second, difference, threshold, -1)


def _rate_change(
    eval_type: str,
    entity: str,
    measure: str,
    before: tuple[float | None, int],
    after: tuple[float | None, int],
    least: int,
    threshold: float,
    sign: int,
    cases: tuple[int, int] | None = None,
) -> Change:
    """Compare two rates; ``sign`` is +1 where a rise is bad, -1 where a drop is.

    ``cases`` are the counts that have to reach ``least``, if they differ from those of the rates.
    """
    counts = before[1], after[1]
    few = _too_few(eval_type, entity, measure, before[0], after[0], cases or counts, least)
    if few is not None or before[0] is None or after[0] is None:
        return few or Change(eval_type, entity, measure, NOT_COMPARED)
    if not (0 <= before[0] <= 1 and 0 <= after[0] <= 1):
        return Change(
            eval_type, entity, measure, NOT_COMPARED, before[0], after[0], note="this is no share"
        )
    difference = rate_difference((before[0], counts[0]), (after[0], counts[1]))
    return _change_of(eval_type, entity, measure, before[0], after[0], difference, threshold, sign)


def _too_few(
    eval_type: str,
    entity: str,
    measure: str,
    before: float | None,
    after: float | None,
    counts: tuple[int, int],
    least: int,
) -> Change | None:
    if before is not None and after is not None and min(counts) >= least:
        return None
    note = f"{counts[0]} cases before and {counts[1]} now; {least} are needed on both sides"
    return Change(eval_type, entity, measure, NOT_COMPARED, before, after, note=note)


def _change_of(
    eval_type: str,
    entity: str,
    measure: str,
    before: float,
    after: float,
    difference: Difference,
    threshold: float,
    sign: int,
) -> Change:
    # Figures such as 0.3 - 0.2 or 3 * 0.7 miss their decimal by a hair: a threshold is passed, not
    # touched.
    change = round(difference.change, _EXACT)
    status = UNCHANGED
    if abs(change) > round(threshold, _EXACT):
        status = REGRESSION if change * sign > 0 else IMPROVEMENT
    low, high, p = (_rounded(value) for value in difference[1:])
    return Change(
        eval_type, entity, measure, status, before, after, _rounded(change), threshold, low, high, p
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _mapping(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _figure(record: Mapping[str, Any], name: str) -> float | None:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _MAX_FIGURE else None


def _count(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value <= _MAX_FIGURE else 0
