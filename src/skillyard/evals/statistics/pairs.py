"""Converts the cases of an effectiveness or size-impact run for the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

TIE = "tie"
HEADLINES = ("full/baseline", "enhanced/baseline", "enhanced/old")
"""The comparison for the verdict: the full skill against no skill, or against its old version."""
_COMPARISONS = (*HEADLINES, "full/summary", "summary/baseline", "full_siblings/full")
OVERALL = "_overall"
"""The entry of all skills together in a summary."""
PLACES = 6
"""Decimals of every figure: more than any of them means, and few enough to be the same on every
machine."""
LOWEST, MIDDLE = 1.0, 3.0
"""Of the scale of a judge, 1..5."""
PromptId = tuple[str, int]
"""One skill and one of its prompts: what is independent of the rest."""


class JudgedPair(NamedTuple):
    """One judged comparison of two answers to one prompt, all its orders merged."""

    case: Mapping[str, Any]
    scores: tuple[float, float]
    """Of the first and of the second arm, 1..5."""
    improvement: float
    """First less second."""
    winner: str
    """One of the two arms, or ``tie``."""

    @property
    def unit(self) -> PromptId:
        """The skill and the prompt."""
        return self.case["skill_name"], self.case["prompt_index"]

    @property
    def first(self) -> str:
        """The arm that a positive improvement favours."""
        return str(self.case["condition_a"])

    @property
    def second(self) -> str:
        """The other arm."""
        return str(self.case["condition_b"])

    @property
    def comparison(self) -> str:
        """``first/second``."""
        return f"{self.first}/{self.second}"

    @property
    def slots(self) -> list[str]:
        """For each order: the slot that won, ``A`` or ``B``, or ``tie``."""
        return slots_won(self.case.get("orders") or ())

    @property
    def lengths(self) -> tuple[int, int]:
        """Characters of the two answers; 0 where they are not known."""
        lengths = self.case.get("lengths") or {}
        return lengths.get(self.first, 0), lengths.get(self.second, 0)


def slots_won(orders: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return for each order with a winner the slot that won, ``A`` or ``B``, or ``tie``."""
    return [
        next((slot for slot, arm in each["ab_assignment"].items() if arm == each["winner"]), TIE)
        for each in orders
        if each.get("winner")
    ]


def judged_pairs(cases: Iterable[Mapping[str, Any]]) -> list[JudgedPair]:
    """Return the pairs with a figure.

    An answer that one arm owes and does not give (``lost``: it is refused, empty, cut or failed) is
    the lowest score, against what the other arm scores on average. To leave it out would favour an
    arm that fails where it would do badly.
    """
    pairs: list[JudgedPair] = []
    lost: list[Mapping[str, Any]] = []
    scores: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        if is_one_sided(case):
            lost.append(case)
        elif not (case.get("skipped") or case.get("errors") or case.get("scores") is None):
            arms, improvement = _arms(case), float(case["improvement"])
            one, other = (float(case["scores"][arm]) for arm in arms)
            pairs.append(JudgedPair(case, (one, other), improvement, case["winner"]))
            for arm, score in zip(arms, (one, other), strict=True):
                scores.setdefault((case["skill_name"], arm), []).append(score)
    for case in lost:
        one, other = (
            LOWEST
            if arm in case["lost"]
            else fmean(scores.get((case["skill_name"], arm), [MIDDLE]))
            for arm in _arms(case)
        )
        winner = next(arm for arm in _arms(case) if arm not in case["lost"])
        pairs.append(JudgedPair(case, (one, other), one - other, winner))
    return pairs


def _arms(case: Mapping[str, Any]) -> tuple[str, str]:
    return case["condition_a"], case["condition_b"]


def is_one_sided(case: Mapping[str, Any]) -> bool:
    """True for a pair of which one arm gave its answer, and the other did not."""
    return case.get("judged") is not False and len(case.get("lost") or ()) == 1


def prompt_means(pairs: Iterable[JudgedPair]) -> dict[PromptId, float]:
    """Return the mean improvement of each prompt over its runs."""
    by_prompt: dict[PromptId, list[float]] = {}
    for pair in pairs:
        by_prompt.setdefault(pair.unit, []).append(pair.improvement)
    return {unit: fmean(values) for unit, values in by_prompt.items()}


def comparisons_in_order(names: Iterable[str]) -> list[str]:
    """Return comparisons, each once, in the order in which they are listed."""
    return sorted({*names}, key=lambda name: place_in(_COMPARISONS, name))


def place_in(order: Sequence[str], name: str) -> tuple[int, str]:
    """Return a sort key: known names in their order, then the others by name."""
    return (order.index(name) if name in order else len(order)), name
