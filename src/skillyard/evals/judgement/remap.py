"""Maps scores of slots to scores of conditions, finds the winner, and merges two orders.

The arithmetic uses exact fractions: the weights as written and integer scores. With binary
fractions, 26 % of all exact ties would become wins (spec/evals.md §0.5).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.verdicts import BadVerdict, JudgeVerdict, read_criteria, verdict
from skillyard.evals.statistics.pairs import TIE

_SEED_DIGITS = 8  # hexadecimal: 32 bits


@dataclass(frozen=True, slots=True)
class Assignment:
    """The condition in each slot of one call to a judge."""

    case_seed: int
    """0..2**32-1: the digest of seed, skill, prompt, conditions and run."""
    slots: dict[str, str]
    """The condition in slot ``A`` and the one in slot ``B``."""

    def swapped(self) -> Assignment:
        """Return the same case with the slots changed over."""
        return Assignment(self.case_seed, {"A": self.slots["B"], "B": self.slots["A"]})


def assignment(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> Assignment:
    """Return the slots of one case that is judged in a single order.

    The case seed is the first eight hexadecimal digits of
    ``sha256("seed|skill|prompt_index|condition_a|condition_b|run")``. In even runs a generator with
    that seed draws the slot of ``condition_a``: A below one half. An odd run (counting from 0)
    swaps the run before it, so that two runs put each condition into each slot once. Raises
    InvalidInput when the conditions are one.
    """
    if condition_a == condition_b:
        raise InvalidInput(f"a comparison needs two conditions, not {condition_a!r} twice")
    cell = f"{seed}|{skill}|{prompt_index}|{condition_a}|{condition_b}"
    seed_of_pair = _case_seed(cell, run - run % 2)
    first_in_a = (random.Random(seed_of_pair).random() < 0.5) != bool(run % 2)
    first, second = (condition_a, condition_b) if first_in_a else (condition_b, condition_a)
    return Assignment(_case_seed(cell, run), {"A": first, "B": second})


def both_orders(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> tuple[Assignment, Assignment]:
    """Return the slots of both calls of one case: as :func:`assignment` draws them, and swapped.

    Raises InvalidInput when the conditions are one.
    """
    first = assignment(seed, skill, prompt_index, condition_a, condition_b, run)
    return first, first.swapped()


def _case_seed(cell: str, run: int) -> int:
    digest = hashlib.sha256(f"{cell}|{run}".encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:_SEED_DIGITS], 16)


DECIMALS = 4
"""Of every score (spec/evals.md §1.10)."""


@dataclass(frozen=True, slots=True)
class OneOrder:
    """The result of one call to a judge, by condition."""

    scores: dict[str, float]
    """By condition, 1..5, rounded to 4 decimals; in the order in which they are compared."""
    improvement: float
    """The first condition's score less the second's."""
    winner: str
    """A condition, or ``tie``: from the scores."""
    judge_winner: str
    """The judge's own word for it."""
    judge_agrees: bool
    """True if the two are equal."""


@dataclass(frozen=True, slots=True)
class BothOrders(OneOrder):
    """The merged result of both orders of one comparison.

    The scores are means over the orders. A winner is a condition that wins in both orders, or that
    the judge names in both; ``tie`` otherwise.
    """

    order_winners: tuple[str, str]
    position_consistent: bool
    """True if both orders have the same winner."""


def one_order(
    reply: JudgeVerdict,
    criteria: Sequence[Criterion],
    slots: Mapping[str, str],
    conditions: Sequence[str],
    tie_band: float = 0.0,
) -> OneOrder:
    """Return the verdict in terms of the two conditions, compared in the order given.

    A condition's score is the weighted mean ``sum(w * s) / sum(w)``. Scores that differ by at most
    ``tie_band`` points are a tie. Raises InvalidInput when the slots are not the conditions, or
    the band is below 0.
    """
    first, second = _two_conditions(slots, conditions)
    band = _exact(tie_band)
    if band < 0:
        raise InvalidInput(f"tie_band must be 0 or more, not {tie_band!r}")
    exact = {
        slots["A"]: _weighted(criteria, [scored.score_a for scored in reply.criteria]),
        slots["B"]: _weighted(criteria, [scored.score_b for scored in reply.criteria]),
    }
    difference = exact[first] - exact[second]
    winner = TIE
    if abs(difference) > band:
        winner = first if difference > 0 else second
    judge_winner = slots.get(reply.overall_winner, TIE)
    return OneOrder(
        {first: float(exact[first]), second: float(exact[second])},
        float(difference),
        winner,
        judge_winner,
        judge_winner == winner,
    )


def merge(first: OneOrder, second: OneOrder) -> BothOrders:
    """Return both orders of one comparison as one result.

    Scores are means over the orders. A condition wins only when it wins in both orders.
    """
    means = {
        condition: round((_exact(score) + _exact(second.scores[condition])) / 2, DECIMALS)
        for condition, score in first.scores.items()
    }
    one, other = means.values()
    winner = _winner_of_both(first.winner, second.winner)
    judge_winner = _winner_of_both(first.judge_winner, second.judge_winner)
    return BothOrders(
        {condition: float(mean) for condition, mean in means.items()},
        float(one - other),
        winner,
        judge_winner,
        judge_winner == winner,
        (first.winner, second.winner),
        first.winner == second.winner,
    )


def breakdown(
    orders: Sequence[tuple[JudgeVerdict, Mapping[str, str]]], criteria: Sequence[Criterion]
) -> list[dict[str, Any]]:
    """Return, for each criterion, its weight, each condition's mean score and the reasonings.

    ``orders`` holds each verdict with its slots. The reasonings are in the same order, and their A
    and B are the slots of their call.
    """
    return [
        {
            "name": criterion.name,
            "weight": criterion.weight,
            "scores": _means(orders, place),
            "reasoning": [reply.criteria[place].reasoning for reply, _ in orders],
        }
        for place, criterion in enumerate(criteria)
    ]


def _means(
    orders: Sequence[tuple[JudgeVerdict, Mapping[str, str]]], place: int
) -> dict[str, float]:
    scores: dict[str, list[int]] = {}
    for reply, slots in orders:
        scored = reply.criteria[place]
        scores.setdefault(slots["A"], []).append(scored.score_a)
        scores.setdefault(slots["B"], []).append(scored.score_b)
    return {condition: sum(points) / len(points) for condition, points in scores.items()}


@check_arguments
def remap(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a judge's parsed replies for two conditions, as plain JSON.

    ``case`` holds ``conditions`` (two names), ``criteria`` (mappings with name and weight), and
    either ``assignment`` (slot to condition) with ``judge`` (the parsed reply), or ``orders``: a
    list of two such pairs with the slots swapped. ``tie_band`` is optional.

    One order gives ``scores``, ``improvement``, ``winner``, ``judge_winner`` and ``judge_agrees``.
    Two orders also give ``order_winners`` and ``position_consistent``. An invalid reply in either
    order makes the comparison an error: ``{"error": kind, "message": reason}``. An invalid case is
    the error ``bad_case``. Raises nothing for a mapping.
    """
    try:
        return _remap(case)
    except BadVerdict as error:
        return {"error": error.kind, "message": str(error)}
    except InvalidInput as error:
        return {"error": "bad_case", "message": str(error)}


def _remap(case: Mapping[str, Any]) -> dict[str, Any]:
    criteria = read_criteria(_sequence(case, "criteria"))
    conditions = _sequence(case, "conditions")
    band = case.get("tie_band", 0.0)
    if "orders" not in case:
        return asdict(_one(case, criteria, conditions, band))
    orders = _sequence(case, "orders")
    if len(orders) != 2 or not all(isinstance(order, Mapping) for order in orders):
        raise InvalidInput("orders must be two mappings with assignment and judge")
    first, second = (_one(order, criteria, conditions, band) for order in orders)
    if orders[0]["assignment"]["A"] == orders[1]["assignment"]["A"]:
        raise InvalidInput("the two orders must swap the slots")
    merged = merge(first, second)
    return {**asdict(merged), "order_winners": list(merged.order_winners)}


def _one(
    order: Mapping[str, Any],
    criteria: tuple[Criterion, ...],
    conditions: Sequence[str],
    tie_band: float,
) -> OneOrder:
    slots = order.get("assignment")
    if not isinstance(slots, Mapping):
        raise InvalidInput("assignment must map A and B to the two conditions")
    return one_order(verdict(order.get("judge"), criteria), criteria, slots, conditions, tie_band)


def _sequence(case: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = case.get(key)
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{key} must be a list")
    return value


def _two_conditions(slots: Mapping[str, str], conditions: Sequence[str]) -> tuple[str, str]:
    if len(conditions) != 2 or not all(isinstance(name, str) for name in conditions):
        raise InvalidInput("conditions must be two names")
    first, second = conditions
    if first == second or TIE in (first, second):
        raise InvalidInput(f"conditions must be two different names, none of them {TIE!r}")
    if dict(slots) not in ({"A": first, "B": second}, {"A": second, "B": first}):
        raise InvalidInput(f"assignment must put {first!r} and {second!r} into A and B")
    return first, second


def _weighted(criteria: Sequence[Criterion], scores: Sequence[int]) -> Fraction:
    weights = _whole_weights(tuple(criteria))
    total = sum(weight * score for weight, score in zip(weights, scores, strict=True))
    return round(Fraction(total, sum(weights)), DECIMALS)


@lru_cache(maxsize=1_024)
def _whole_weights(criteria: tuple[Criterion, ...]) -> tuple[int, ...]:
    """Return whole numbers in the proportion of the weights; a rubric is used again and again."""
    weights = [_exact(criterion.weight) for criterion in criteria]
    unit = lcm(*(weight.denominator for weight in weights))
    return tuple(int(weight * unit) for weight in weights)


def _exact(number: float) -> Fraction:
    """Return a number as it is written in decimal: 0.3 is three tenths. Raises InvalidInput."""
    try:
        return Fraction(str(number))
    except ValueError:
        raise InvalidInput(f"{number!r} is no finite number") from None


def _winner_of_both(first: str, second: str) -> str:
    return first if first == second else TIE
