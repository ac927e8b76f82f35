"""Exact ties: how many a sum of binary fractions breaks, and that ours keeps them all."""

from __future__ import annotations

from itertools import product

from skillyard.evals.criteria import Criterion
from skillyard.evals.judging.remap import one_order
from skillyard.evals.judging.verdicts import Scored, Verdict

WEIGHTS = (0.30, 0.25, 0.25, 0.20)
TWENTIETHS = (6, 5, 5, 4)
CRITERIA = tuple(Criterion(f"c{place}", weight) for place, weight in enumerate(WEIGHTS))
SLOTS = {"A": "full", "B": "baseline"}


def tied() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return every ordered pair of rubric scores whose weighted sums are exactly the same."""
    by_sum: dict[int, list[tuple[int, ...]]] = {}
    for scores in product(range(1, 6), repeat=4):
        total = sum(weight * score for weight, score in zip(TWENTIETHS, scores, strict=True))
        by_sum.setdefault(total, []).append(scores)
    return [(one, other) for same in by_sum.values() for one in same for other in same]


def in_floats(scores: tuple[int, ...]) -> float:
    total = 0.0
    for weight, score in zip(WEIGHTS, scores, strict=True):
        total += weight * score
    return total


def test_a_quarter_of_all_ties_become_wins_in_floating_point() -> None:
    """The figures of the specification, section 0.5: 1,972 of 7,673."""
    pairs = tied()
    broken = sum(in_floats(one) != in_floats(other) for one, other in pairs)
    assert (broken, len(pairs)) == (1972, 7673)


def test_the_scores_of_a_judgement_keep_every_tie() -> None:
    winners = set()
    for one, other in tied():
        scored = tuple(
            Scored(criterion.name, a, b, "")
            for criterion, a, b in zip(CRITERIA, one, other, strict=True)
        )
        winners.add(one_order(Verdict(scored, "A"), CRITERIA, SLOTS, ("full", "baseline")).winner)
    assert winners == {"tie"}
