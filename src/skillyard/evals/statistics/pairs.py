"""Converts the cases of an effectiveness or size-impact run for the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput

TIE = "tie"
HEADLINES = ("full/baseline", "enhanced/baseline")
"""The comparison for the verdict: the full skill against no skill."""
_COMPARISONS = (*HEADLINES, "full/summary", "summary/baseline", "full_siblings/full")
OVERALL = "_overall"
"""The entry of all skills together in a summary."""
PLACES = 6
"""Decimals of every figure: more than any of them means, and few enough to be the same on every
machine."""
_LARGEST = 1e6
"""No score or difference is larger; sums of such numbers cannot overflow."""
_KINDS = {str: "a text", int: "a whole number", Mapping: "an object"}
Unit = tuple[str, int]
"""One skill and one of its prompts: what is independent of the rest."""


class JudgeCall(NamedTuple):
    """The slots and the winner of one judge call, by its scores."""

    slot_a: str
    slot_b: str
    winner: str
    """One of the two conditions, or ``tie``."""


class Pair(NamedTuple):
    """One judged comparison of two answers to one prompt, all its orders merged."""

    unit: Unit
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
    orders: tuple[JudgeCall, ...]
    lengths: tuple[int, int] | None
    """Characters of the two answers, where both are known."""
    tokens: tuple[int, int] | None
    """Estimated tokens that the two conditions put into the prompt, where both are known."""
    judge_agrees: bool | None
    """The judge's own verdict names the winner of its scores; None where that is not known."""


def pair_of(case: Mapping[str, object], tie_band: float) -> Pair | None:
    """Return a judged case; None for one that was skipped, failed or has no scores.

    A difference within ``tie_band`` points of zero is a tie. Raises InvalidInput, with the id of
    the case, where a field that a judged case must have is absent or of the wrong type.
    """
    if case.get("skipped") or case.get("errors") or case.get("scores") is None:
        return None
    first, second = _field(case, "condition_a", str), _field(case, "condition_b", str)
    if _field(case, "comparison", str) != f"{first}/{second}":
        raise _bad(case, f"comparison must be {first}/{second}, its two conditions")
    scores = _field(case, "scores", Mapping)
    values = (_number(case, scores, first), _number(case, scores, second))
    improvement = _number(case, case, "improvement")
    winner = _field(case, "winner", str)
    if abs(improvement) <= tie_band:
        winner = TIE
    if winner not in {first, second, TIE}:
        raise _bad(case, f"winner is {winner!r}, which is neither condition nor {TIE!r}")
    agrees = case.get("judge_agrees")
    return Pair(
        (_field(case, "skill_name", str), _field(case, "prompt_index", int)),
        f"{first}/{second}",
        first,
        second,
        values,
        improvement,
        winner,
        _judgements(case, winner),
        _lengths(case, first, second),
        _tokens(case, first, second),
        agrees if isinstance(agrees, bool) else None,
    )


def comparisons_in_order(names: Iterable[str]) -> list[str]:
    """Return comparisons, each once, in the order in which they are listed."""
    return sorted({*names}, key=lambda name: place_in(_COMPARISONS, name))


def place_in(order: Sequence[str], name: str) -> tuple[int, str]:
    """Return a sort key: known names in their order, then the others by name."""
    return (order.index(name) if name in order else len(order)), name


def size_of_arms(case: Mapping[str, object]) -> dict[str, tuple[int, int]]:
    """Return (bytes, estimated tokens) of each condition whose sizes the case records."""
    sizes = {}
    recorded = case.get("condition_sizes")
    for name, size in recorded.items() if isinstance(recorded, Mapping) else ():
        if isinstance(size, Mapping):
            sizes[str(name)] = (
                _field(case, "bytes", int, size),
                _field(case, "tokens_estimated", int, size),
            )
    return sizes


def judge_work(cases: Iterable[Mapping[str, object]]) -> dict[str, int]:
    """Return the judge calls of cases, cached ones included, with their retries and failures.

    An error is an order that ended without a valid verdict.
    """
    attempts, errors = [], 0
    for case in cases:
        orders = [order for order in _sequence(case.get("orders")) if isinstance(order, Mapping)]
        errors += sum(bool(order.get("error")) for order in orders)
        counted = [order.get("attempts") for order in orders] or [case.get("judge_attempts")]
        attempts += [count for count in counted if isinstance(count, int) and count > 0]
    return {"calls": sum(attempts), "retries": sum(attempts) - len(attempts), "errors": errors}


def _judgements(case: Mapping[str, object], winner: str) -> tuple[JudgeCall, ...]:
    """Return one judgement for each order; without orders, the one of the case itself."""
    orders: Sequence[object] = _sequence(case.get("orders"))
    judgements = []
    for order in orders or [{"ab_assignment": case.get("ab_assignment"), "winner": winner}]:
        slots = order.get("ab_assignment") if isinstance(order, Mapping) else None
        won = order.get("winner") if isinstance(order, Mapping) else None
        if isinstance(slots, Mapping) and isinstance(won, str):
            judgement = JudgeCall(str(slots.get("A")), str(slots.get("B")), won)
            if won in {judgement.slot_a, judgement.slot_b, TIE}:
                judgements.append(judgement)
    return tuple(judgements)


def _lengths(case: Mapping[str, object], first: str, second: str) -> tuple[int, int] | None:
    recorded = case.get("lengths")
    if not isinstance(recorded, Mapping):
        return None
    one, other = recorded.get(first), recorded.get(second)
    return (one, other) if isinstance(one, int) and isinstance(other, int) else None


def _tokens(case: Mapping[str, object], first: str, second: str) -> tuple[int, int] | None:
    sizes = size_of_arms(case)
    return (sizes[first][1], sizes[second][1]) if {first, second} <= sizes.keys() else None


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _field(
    case: Mapping[str, object], key: str, kind: type, part: Mapping[str, object] | None = None
) -> Any:
    """Return a field of a case, or of ``part`` of it. Raises InvalidInput unless of that kind."""
    value = (case if part is None else part).get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _bad(case, f"{key} must be {_KINDS[kind]}")
    return value


def _number(case: Mapping[str, object], holder: Mapping[str, object], key: str) -> float:
    value = holder.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= _LARGEST:
        raise _bad(case, f"{key} must be a number, and at most {_LARGEST:,.0f}")
    return float(value)


def _bad(case: Mapping[str, object], why: str) -> InvalidInput:
    return InvalidInput(f"case {str(case.get('id', '(no id)'))[:200]!r}: {why}")
