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

    unit: PromptId
    comparison: str
    """``first/second``."""
    first: str
    second: str
    scores: tuple[float, float]
    """Of the first and of the second condition, 1..5."""
    improvement: float
    """First less second."""
    winner: str
    """One of the two conditions, or ``tie``."""
    slots: tuple[str, ...]
    """For each order: the slot that won, ``A`` or ``B``, or ``tie``."""
    consistent: bool | None
    """Both orders have the same winner; None where there was one order."""
    lengths: tuple[int, int] | None
    """Characters of the two answers, where both are known."""
    tokens: tuple[int, int] | None
    """Estimated tokens that the two conditions put into the prompt, where both are known."""
    judge_agrees: bool | None
    """The judge's own verdict names the winner of its scores; None where that is not known."""


def pair_of(case: Mapping[str, Any], tie_band: float) -> JudgedPair | None:
    """Return a judged case; None for one that was skipped, failed or has no scores.

    A difference within ``tie_band`` points of zero is a tie.
    """
    if case.get("skipped") or case.get("errors") or case.get("scores") is None:
        return None
    first, second = case["condition_a"], case["condition_b"]
    scores, improvement = case["scores"], float(case["improvement"])
    orders = [order for order in case.get("orders") or () if order.get("winner")]
    winners = [order["winner"] for order in orders]
    return JudgedPair(
        (case["skill_name"], case["prompt_index"]),
        f"{first}/{second}",
        first,
        second,
        (float(scores[first]), float(scores[second])),
        improvement,
        TIE if abs(improvement) <= tie_band else case["winner"],
        tuple(
            next((slot for slot, arm in order["ab_assignment"].items() if arm == winner), TIE)
            for order, winner in zip(orders, winners, strict=True)
        ),
        winners[0] == winners[1] if len(winners) == 2 else None,
        _both(case.get("lengths") or {}, first, second),
        _both({arm: size[1] for arm, size in sizes_of(case).items()}, first, second),
        case.get("judge_agrees"),
    )


def judged_pairs(
    cases: Iterable[Mapping[str, Any]], tie_band: float = 0.0
) -> list[tuple[Mapping[str, Any], JudgedPair]]:
    """Return the cases with a figure, each with its pair.

    An answer that one arm owes and does not give (``lost``: it is refused, empty, cut or failed) is
    the lowest score, against what the other arm scores on average. To leave it out would favour an
    arm that fails where it would do badly.
    """
    all_cases = list(cases)
    pairs = [(case, pair) for case in all_cases if (pair := pair_of(case, tie_band)) is not None]
    scores: dict[tuple[str, str], list[float]] = {}
    for _, pair in pairs:
        for arm, score in zip((pair.first, pair.second), pair.scores, strict=True):
            scores.setdefault((pair.unit[0], arm), []).append(score)
    return pairs + [(case, _loss(case, scores)) for case in all_cases if is_one_sided(case)]


def is_one_sided(case: Mapping[str, Any]) -> bool:
    """True for a pair of which one arm gave its answer, and the other did not."""
    return case.get("judged") is not False and len(case.get("lost") or ()) == 1


def _loss(case: Mapping[str, Any], scores: Mapping[tuple[str, str], list[float]]) -> JudgedPair:
    first, second = case["condition_a"], case["condition_b"]
    skill = case["skill_name"]
    both = [
        LOWEST if arm in case["lost"] else fmean(scores.get((skill, arm), (MIDDLE,)))
        for arm in (first, second)
    ]
    return JudgedPair(
        (skill, case["prompt_index"]),
        f"{first}/{second}",
        first,
        second,
        (both[0], both[1]),
        both[0] - both[1],
        second if first in case["lost"] else first,
        slots=(),
        consistent=None,
        lengths=None,
        tokens=_both({arm: size[1] for arm, size in sizes_of(case).items()}, first, second),
        judge_agrees=None,
    )


def _both(values: Mapping[str, int], first: str, second: str) -> tuple[int, int] | None:
    return (values[first], values[second]) if {first, second} <= values.keys() else None


def sizes_of(case: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return (bytes, estimated tokens) of each condition whose sizes the case records."""
    sizes = case.get("condition_sizes") or {}
    return {arm: (size["bytes"], size["tokens_estimated"]) for arm, size in sizes.items()}


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
