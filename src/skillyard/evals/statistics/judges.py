"""What a run says of its judge: the place and the length of answers, and other raters.

Judges favour a place (Shi et al., arXiv 2406.07791) and longer answers (Dubois et al., arXiv
2404.04475). The tests of the place are exact sign tests. They are valid because slots are assigned
by a seeded draw or both ways, so without a bias each slot wins as often as the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from statistics import StatisticsError, fmean, linear_regression
from typing import Any

from skillyard.base.sums import wilson
from skillyard.evals.statistics.pairs import HEADLINES, TIE, JudgedPair, PromptId

FALSE_ALARMS = 0.05
"""The share of judges without a bias that may be called biased."""
TOO_LITTLE = "too little data"
LEAST_PROMPTS = 10
"""Fewest prompts for a line through their differences."""


def judge_findings(
    cases: Sequence[Mapping[str, Any]], pairs: Sequence[JudgedPair]
) -> dict[str, Any]:
    """Return the artifacts on the judge: ``order``, ``length``, ``agreement`` and ``judge``."""
    return {
        "order": order_effect(pairs),
        "length": length_effect(pairs),
        "agreement": {"own_verdict": _own_verdicts(pairs)},
        "judge": _judge_work(cases),
    }


def order_effect(pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return how often slot A won, a test against one half, and how often two orders agree.

    Where pairs were judged in both orders, each pair counts once, for the slot that won it more
    often: without a bias that is as often A as B.
    """
    won = Counter(slot for pair in pairs for slot in pair.slots)
    both = [pair for pair in pairs if pair.consistent is not None]
    leaning = won
    if both:
        leans = [pair.slots.count("A") - pair.slots.count("B") for pair in both]
        leaning = Counter(A=sum(lean > 0 for lean in leans), B=sum(lean < 0 for lean in leans))
    informative, p = leaning["A"] + leaning["B"], sign_p(leaning["A"], leaning["B"])
    word = "no order effect shown"
    if 2.0 ** (1 - informative) > FALSE_ALARMS:  # the smallest p that so many can reach
        word = TOO_LITTLE
    elif p <= FALSE_ALARMS:
        word = f"slot {'A' if won['A'] > won['B'] else 'B'} is favoured"
    consistent = sum(bool(pair.consistent) for pair in both)
    return {
        "slot_a_wins": won["A"],
        "slot_b_wins": won["B"],
        "ties": won[TIE],
        "share_a": won["A"] / (won["A"] + won["B"]) if won["A"] + won["B"] else None,
        "p": p if informative else None,
        "word": word,
        "consistent": consistent,
        "pairs": len(both),
        "consistency_rate": consistent / len(both) if both else None,
    }


def sign_p(first: int, second: int) -> float:
    """Return the two-sided exact binomial p of two counts against one half; 1 for none."""
    count = first + second
    tail = sum(comb(count, wins) for wins in range(min(first, second) + 1))
    # An integer quotient is rounded once, however long the integers are.
    return min(1.0, 2 * tail / (1 << count))


def length_effect(pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return how the difference in length goes with the difference of scores, over prompts.

    ``at_equal_length`` is the difference of scores where both answers are equally long, by the line
    of least squares; ``per_1000_characters`` is its slope. Both are of the headline comparison, and
    None below ten prompts or where all differ by the same length.
    """
    names = [name for name in HEADLINES if any(pair.comparison == name for pair in pairs)]
    own = [pair for pair in pairs if names and pair.comparison == names[0] and pair.lengths]
    by_prompt: dict[PromptId, list[tuple[float, float]]] = {}
    for pair in own:
        if pair.lengths is not None:
            longer = float(pair.lengths[0] - pair.lengths[1])
            by_prompt.setdefault(pair.unit, []).append((longer, pair.improvement))
    longer_by = [fmean(length for length, _ in each) for each in by_prompt.values()]
    gains = [fmean(gain for _, gain in each) for each in by_prompt.values()]
    slope, intercept = None, None
    if len(gains) >= LEAST_PROMPTS:
        try:
            slope, intercept = linear_regression(longer_by, gains)
        except StatisticsError:  # all differ by the same length
            pass
    return {
        "comparison": names[0] if names else None,
        "prompts": len(gains),
        "mean_difference": fmean(longer_by) if longer_by else None,
        "per_1000_characters": None if slope is None else slope * 1000,
        "at_equal_length": intercept,
    }


def _own_verdicts(pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return how often the winner that the judge names is the winner of its scores."""
    agrees = [pair.judge_agrees for pair in pairs if pair.judge_agrees is not None]
    count, of = sum(agrees), len(agrees)
    low, high = wilson(count, of)
    return {"agree": count, "of": of, "rate": count / of if of else None, "low": low, "high": high}


def _judge_work(cases: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the judge calls of cases, cached ones included, with their retries and failures.

    An error is an order that ended without a valid verdict.
    """
    orders = [order for case in cases for order in case.get("orders") or ()]
    attempts = [order["attempts"] for order in orders if order.get("attempts")]
    return {
        "calls": sum(attempts),
        "retries": sum(attempts) - len(attempts),
        "errors": sum(bool(order.get("error")) for order in orders),
    }
