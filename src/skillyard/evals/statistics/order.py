"""Order bias: does the slot of an answer influence the judge.

Order bias of judges: Shi et al., arXiv 2406.07791. The tests are exact. They are valid because
slots are assigned by a seeded draw or both ways, so without bias the slot is independent of the
winner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum
from typing import Any, NamedTuple

from skillyard.evals.statistics.pairs import TIE, JudgeCall, Pair
from skillyard.evals.statistics.subset_means import smallest_p

BOTH = "sign test over pairs that one slot won more often"
SINGLE = "exact conditional test of slot against winner, within comparisons"
NONE = "none: nothing decided"
FALSE_ALARMS = 0.05
"""The share of judges without a bias that may be called biased."""
TOO_LITTLE = "too little data"
_EQUAL = 1 + 1e-9
"""Probabilities that are equal on paper differ by rounding."""


class Slots(NamedTuple):
    """Wins and losses of a comparison's first condition, by the slot that it lay in."""

    wins_in_a: int
    losses_in_a: int
    wins_in_b: int
    losses_in_b: int


class OrderEffect(NamedTuple):
    """The order effect over all judge calls of a run."""

    slot_a_wins: int
    slot_b_wins: int
    ties: int
    share_a: float | None
    """Of what was decided, 0..1; None where nothing was."""
    p: float | None
    test: str
    word: str
    consistent: int
    """Pairs judged in both orders whose two verdicts are the same."""
    pairs: int
    """Pairs judged in both orders."""
    consistency_rate: float | None
    by_comparison: dict[str, dict[str, Any]]
    """The table of each comparison, with a test of it where that is the test of the run."""


def order_effect(pairs: Sequence[Pair]) -> OrderEffect:
    """Return the share of slot A, a test against one half, and how often two orders agree.

    Where pairs were judged in both orders, the pairs whose orders disagree are tested: without a
    bias they favour A as often as B. Where not, a table of slot against winner is tested within
    each comparison, which for one comparison is Fisher's exact test.
    """
    calls = [call for pair in pairs for call in pair.orders]
    wins_a = sum(call.winner == call.slot_a for call in calls)
    wins_b = sum(call.winner == call.slot_b for call in calls)
    both = [pair.orders for pair in pairs if len(pair.orders) == 2]
    tables = _tables(pairs)
    if both:
        test, (informative, p) = BOTH, _both_ways(both)
    else:
        test, informative, p = SINGLE, wins_a + wins_b, conditional_p(list(tables.values()))
    decided = wins_a + wins_b
    consistent = sum(one.winner == other.winner for one, other in both)
    return OrderEffect(
        wins_a,
        wins_b,
        len(calls) - decided,
        wins_a / decided if decided else None,
        p if informative else None,
        test if informative else NONE,
        _word(wins_a, wins_b, informative, p),
        consistent,
        len(both),
        consistent / len(both) if both else None,
        _tested(tables, bool(informative) and not both),
    )


def _tested(tables: Mapping[str, Slots], has_tests: bool) -> dict[str, dict[str, Any]]:
    """Return the tables, each with its test. In both orders, the rows hold the same pairs."""
    tested = {}
    for name, table in tables.items():
        p = conditional_p([table]) if has_tests else None
        adjusted = None if p is None else min(1.0, p * len(tables))
        tested[name] = {**table._asdict(), "p": p, "p_adjusted": adjusted}
    return tested


def slots(pairs: Sequence[Pair]) -> Slots:
    """Return the table of one comparison, ties left out."""
    counts = [0, 0, 0, 0]
    for pair in pairs:
        for call in pair.orders:
            if call.winner != TIE:
                counts[2 * (call.slot_a != pair.first) + (call.winner != pair.first)] += 1
    return Slots(*counts)


def sign_p(first: int, second: int) -> float:
    """Return the two-sided exact binomial p of two counts against one half; 1 for none."""
    count = first + second
    tail = sum(comb(count, wins) for wins in range(min(first, second) + 1))
    # An integer quotient is rounded once, however long the integers are.
    return min(1.0, 2 * tail / (1 << count))


def conditional_p(tables: Sequence[Slots]) -> float:
    """Return the two-sided exact p of slot against winner, all margins of each table fixed.

    The statistic is the wins in slot A added over the tables; its distribution is the convolution
    of their hypergeometric ones (Mehta, Patel & Gray, JASA 80, 1985, 969-973), and every value no
    likelier than the observed one counts (Fisher's rule). 1 without any table.
    """
    likely, least = [1.0], 0
    for table in tables:
        lowest, chances = _hypergeometric(table)
        likely, least = _convolve(likely, chances), least + lowest
    observed = likely[sum(table.wins_in_a for table in tables) - least]
    return min(1.0, fsum(chance for chance in likely if chance <= observed * _EQUAL))


def _hypergeometric(table: Slots) -> tuple[int, list[float]]:
    """Return the smallest possible wins in slot A, and the chances from there on."""
    in_a, in_b = table.wins_in_a + table.losses_in_a, table.wins_in_b + table.losses_in_b
    wins = table.wins_in_a + table.wins_in_b
    lowest, highest = max(0, wins - in_b), min(in_a, wins)
    ways = comb(in_a + in_b, wins)
    return lowest, [
        comb(in_a, won) * comb(in_b, wins - won) / ways for won in range(lowest, highest + 1)
    ]


def _convolve(one: Sequence[float], other: Sequence[float]) -> list[float]:
    total = [0.0] * (len(one) + len(other) - 1)
    for i, first in enumerate(one):
        for j, second in enumerate(other):
            total[i + j] += first * second
    return total


def _both_ways(both: Sequence[Sequence[JudgeCall]]) -> tuple[int, float]:
    """Return how many pairs lean to a slot over their two orders, and the p of the sign test."""
    leanings = [
        sum((call.winner == call.slot_a) - (call.winner == call.slot_b) for call in calls)
        for calls in both
    ]
    to_a, to_b = sum(lean > 0 for lean in leanings), sum(lean < 0 for lean in leanings)
    return to_a + to_b, sign_p(to_a, to_b)


def _tables(pairs: Sequence[Pair]) -> dict[str, Slots]:
    grouped: dict[str, list[Pair]] = {}
    for pair in pairs:
        grouped.setdefault(pair.comparison, []).append(pair)
    return {comparison: slots(grouped[comparison]) for comparison in sorted(grouped)}


def _word(wins_a: int, wins_b: int, informative: int, p: float) -> str:
    if smallest_p(informative) > FALSE_ALARMS:
        return TOO_LITTLE
    if p > FALSE_ALARMS:
        return "no order effect shown"
    return "slot A is favoured" if wins_a > wins_b else "slot B is favoured"
