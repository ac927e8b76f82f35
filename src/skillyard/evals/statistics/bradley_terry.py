"""The Bradley-Terry model: one strength for each arm, from all comparisons together.

``logit P(i beats j) = ability(i) - ability(j) + order``, with order added for the answer in slot A:
Bradley & Terry, Biometrika 39 (1952) 324-345; the order term as in Davidson & Beaver, Biometrics 33
(1977) 693-702. A tie is half a win for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.evals.statistics.logistic import fit, unit_weights
from skillyard.evals.statistics.pairs import TIE, Judgement, Unit
from skillyard.evals.statistics.scientific import arrays

__all__ = ["Estimate", "Strengths", "bradley_terry"]


class Estimate(NamedTuple):
    """A value in log-odds; its 95 % interval from resampled units, None below ten of them."""

    value: float
    low: float | None
    high: float | None


class Strengths(NamedTuple):
    """Abilities add up to 0: a difference of 1 is a win rate of 0.73."""

    arms: dict[str, Estimate]
    """By name of the condition, sorted."""
    order: Estimate | None
    """The effect of slot A; None without a judgement."""
    units: int
    judgements: int


def bradley_terry(by_unit: Mapping[Unit, Sequence[Judgement]], seed: int) -> Strengths:
    """Return the strength of each arm over all judge calls, grouped by unit.

    Each parameter has the weak prior of :mod:`skillyard.evals.statistics.logistic`, so an arm
    that won or lost everything stays finite. Whole units are resampled, since all calls of one
    prompt share its texts.
    """
    units = [list(by_unit[key]) for key in sorted(by_unit) if by_unit[key]]
    cells = sorted({(call.slot_a, call.slot_b) for calls in units for call in calls})
    arms = sorted({name for cell in cells for name in cell})
    judgements = sum(map(len, units))
    if not cells:
        return Strengths({}, None, 0, 0)
    np = arrays()
    design = np.zeros((len(cells), len(arms) + 1))
    for row, (slot_a, slot_b) in enumerate(cells):
        design[row, arms.index(slot_a)] += 1
        design[row, arms.index(slot_b)] -= 1
    design[:, -1] = 1
    weights = unit_weights(len(units), seed)
    wins, totals = _counts(units, cells)
    estimates_by_row = fit(design, weights @ wins, weights @ totals)
    estimates_by_row[:, :-1] -= estimates_by_row[:, :-1].mean(axis=1, keepdims=True)
    estimates = [_estimate(estimates_by_row[:, column]) for column in range(len(arms) + 1)]
    abilities = dict(zip(arms, estimates[:-1], strict=True))
    return Strengths(abilities, estimates[-1], len(units), judgements)


def _counts(units: Sequence[Sequence[Judgement]], cells: Sequence[tuple[str, str]]) -> Any:
    """Return what slot A won in each unit and cell, ties half, and how many calls there were."""
    np = arrays()
    place = {cell: column for column, cell in enumerate(cells)}
    wins, totals = np.zeros((2, len(units), len(cells)))
    for row, calls in enumerate(units):
        for call in calls:
            column = place[call.slot_a, call.slot_b]
            totals[row, column] += 1
            wins[row, column] += 0.5 if call.winner == TIE else float(call.winner == call.slot_a)
    return wins, totals


def _estimate(values: Any) -> Estimate:
    if len(values) == 1:
        return Estimate(float(values[0]), None, None)
    low, high = arrays().quantile(values[1:], (0.025, 0.975))
    return Estimate(float(values[0]), float(low), float(high))
