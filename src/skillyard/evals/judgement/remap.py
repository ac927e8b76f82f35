"""Maps scores of slots to scores of conditions, finds the winner, and merges two orders.

The arithmetic uses exact fractions: the weights as written and integer scores. With binary
fractions, 26 % of all exact ties would become wins (spec/evals.md §0.5).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.verdicts import BadVerdict, read_criteria, verdict
from skillyard.evals.statistics.pairs import TIE

_SEED_DIGITS = 8  # hexadecimal: 32 bits
DECIMALS = 4
"""Of every score (spec/evals.md §1.10)."""
Outcome = dict[str, Any]
"""``scores`` by condition (1..5, rounded to 4 decimals), ``improvement`` (the first condition's
score less the second's), ``winner`` (a condition, or ``tie``: from the scores), ``judge_winner``
(the judge's own word for it) and ``judge_agrees``. Two merged orders also have ``order_winners``
and ``position_consistent``."""


class Assignment(NamedTuple):
    """The condition in each slot of one call to a judge."""

    case_seed: int
    """0..2**32-1: the digest of seed, skill, prompt, conditions and run."""
    slots: dict[str, str]
    """The condition in slot ``A`` and the one in slot ``B``."""


def both_orders(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> tuple[Assignment, Assignment]:
    """Return the slots of both calls of one case; the first is that of a single order.

    The case seed is the first eight hexadecimal digits of
    ``sha256("seed|skill|prompt_index|condition_a|condition_b|run")``. In even runs a generator with
    that seed draws the slot of ``condition_a``: A below one half. An odd run (counting from 0)
    swaps the run before it, so that two runs put each condition into each slot once.
    """
    cell = f"{seed}|{skill}|{prompt_index}|{condition_a}|{condition_b}"
    seed_of_pair = _case_seed(cell, run - run % 2)
    first_in_a = (random.Random(seed_of_pair).random() < 0.5) != bool(run % 2)
    one, other = (condition_a, condition_b) if first_in_a else (condition_b, condition_a)
    case_seed = _case_seed(cell, run)
    return (
        Assignment(case_seed, {"A": one, "B": other}),
        Assignment(case_seed, {"A": other, "B": one}),
    )


def _case_seed(cell: str, run: int) -> int:
    digest = hashlib.sha256(f"{cell}|{run}".encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:_SEED_DIGITS], 16)


def one_order(
    reply: Mapping[str, Any],
    criteria: Sequence[Criterion],
    slots: Mapping[str, str],
    conditions: Sequence[str],
    tie_band: float = 0.0,
) -> Outcome:
    """Return a valid reply in terms of the two conditions, compared in the order given.

    A condition's score is the weighted mean ``sum(w * s) / sum(w)``. Scores that differ by at most
    ``tie_band`` points are a tie.
    """
    weights = [_exact(criterion.weight) for criterion in criteria]
    exact: dict[str, Fraction] = {}
    for slot, key in (("A", "score_a"), ("B", "score_b")):
        scores = [each[key] for each in reply["criteria"]]
        total = sum((w * s for w, s in zip(weights, scores, strict=True)), Fraction())
        exact[slots[slot]] = round(total / sum(weights), DECIMALS)
    first, second = conditions
    difference = exact[first] - exact[second]
    winner = TIE
    if abs(difference) > _exact(tie_band):
        winner = first if difference > 0 else second
    judge_winner = slots.get(reply["overall_winner"], TIE)
    scores_by_condition = {name: float(exact[name]) for name in conditions}
    return _outcome(scores_by_condition, float(difference), winner, judge_winner)


def merge(first: Outcome, second: Outcome) -> Outcome:
    """Return both orders of one comparison as one result.

    Scores are means over the orders. A condition wins only when it wins in both orders.
    """
    means = {
        condition: round((_exact(score) + _exact(second["scores"][condition])) / 2, DECIMALS)
        for condition, score in first["scores"].items()
    }
    one, other = means.values()
    winner, judge_winner = (
        first[key] if first[key] == second[key] else TIE for key in ("winner", "judge_winner")
    )
    return {
        **_outcome(
            {name: float(mean) for name, mean in means.items()},
            float(one - other),
            winner,
            judge_winner,
        ),
        "order_winners": [first["winner"], second["winner"]],
        "position_consistent": first["winner"] == second["winner"],
    }


def _outcome(
    scores: dict[str, float], improvement: float, winner: str, judge_winner: str
) -> Outcome:
    return {
        "scores": scores,
        "improvement": improvement,
        "winner": winner,
        "judge_winner": judge_winner,
        "judge_agrees": judge_winner == winner,
    }


def breakdown(
    orders: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]], criteria: Sequence[Criterion]
) -> list[dict[str, Any]]:
    """Return, for each criterion, its weight, each condition's mean score and the reasonings.

    ``orders`` holds each valid reply with its slots. The reasonings are in the same order, and
    their A and B are the slots of their call.
    """
    result = []
    for place, criterion in enumerate(criteria):
        scores: dict[str, list[int]] = {}
        for reply, slots in orders:
            for slot, condition in sorted(slots.items()):
                points = reply["criteria"][place][f"score_{slot.lower()}"]
                scores.setdefault(condition, []).append(points)
        result.append(
            {
                "name": criterion.name,
                "weight": criterion.weight,
                "scores": {name: sum(points) / len(points) for name, points in scores.items()},
                "reasoning": [reply["criteria"][place]["reasoning"] for reply, _ in orders],
            }
        )
    return result


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
        if "orders" not in case:
            return _one(case, case)
        orders = _sequence(case, "orders")
        if len(orders) != 2 or not all(isinstance(order, Mapping) for order in orders):
            raise InvalidInput("orders must be two mappings with assignment and judge")
        first, second = (_one(case, order) for order in orders)
        if orders[0]["assignment"]["A"] == orders[1]["assignment"]["A"]:
            raise InvalidInput("the two orders must swap the slots")
        return merge(first, second)
    except BadVerdict as error:
        return {"error": error.kind, "message": str(error)}
    except InvalidInput as error:
        return {"error": "bad_case", "message": str(error)}


def _one(case: Mapping[str, Any], order: Mapping[str, Any]) -> Outcome:
    criteria = read_criteria(_sequence(case, "criteria"))
    conditions = _sequence(case, "conditions")
    if len(conditions) != 2 or not all(isinstance(name, str) for name in conditions):
        raise InvalidInput("conditions must be two names")
    first, second = conditions
    if first == second or TIE in (first, second):
        raise InvalidInput(f"conditions must be two different names, none of them {TIE!r}")
    slots = order.get("assignment")
    if slots not in ({"A": first, "B": second}, {"A": second, "B": first}):
        raise InvalidInput(f"assignment must put {first!r} and {second!r} into A and B")
    band = case.get("tie_band", 0.0)
    if _exact(band) < 0:
        raise InvalidInput(f"tie_band must be 0 or more, not {band!r}")
    return one_order(verdict(order.get("judge"), criteria), criteria, slots, conditions, band)


def _sequence(case: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = case.get(key)
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{key} must be a list")
    return value


def _exact(number: float) -> Fraction:
    """Return a number as it is written in decimal: 0.3 is three tenths. Raises InvalidInput."""
    try:
        return Fraction(str(number))
    except ValueError:
        raise InvalidInput(f"{number!r} is no finite number") from None
