"""Builds the record of one comparison from answers and judgements, without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from skillyard.evals.conditions.prompts import Arm
from skillyard.evals.criteria import Criterion
from skillyard.evals.judgement.assignment import Assignment, assignment, both_orders
from skillyard.evals.judgement.remap import OneOrder, breakdown, merge, one_order
from skillyard.evals.judgement.verdicts import BadVerdict, Verdict, verdict
from skillyard.evals.layers.session import Answer, Judgement

if TYPE_CHECKING:
    from skillyard.evals.settings import RunSettings

__all__ = [
    "Judgements",
    "PairRules",
    "PairUnit",
    "case_head",
    "complete_case",
    "orders_of",
    "rules_of",
    "unjudgeable_reason",
]

Judgements = Mapping[tuple[str, str], Judgement]
"""By judge model and the condition that stood in slot A."""


@dataclass(frozen=True, slots=True)
class PairUnit:
    """One prompt for one skill, with the conditions that are compared."""

    skill: str
    prompt_index: int
    prompt: str
    criteria: tuple[Criterion, ...]
    arms: Mapping[str, Arm]
    comparisons: tuple[tuple[str, str], ...]
    tier: str = ""
    body_bytes: int = 0

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that some comparison needs, in the order of the arms."""
        needed = {condition for pair in self.comparisons for condition in pair}
        return tuple(condition for condition in self.arms if condition in needed)


@dataclass(frozen=True, slots=True)
class PairRules:
    """The settings that all pairs of a run share."""

    model: str
    judge_models: tuple[str, ...]
    """The first one's verdicts are the result; the others' are compared with them."""
    seed: int
    orders: str = "both"
    """``both``: judged twice, with the slots swapped; ``single``: once, as assigned."""
    runs: int = 1
    max_tokens: int = 16_000
    temperature: float = 0.0
    tie_band: float = 0.0
    """Differences up to this are ties (points on the scale of 1 to 5)."""


def rules_of(settings: RunSettings) -> PairRules:
    """Return what is the same for every pair of a run."""
    return PairRules(
        settings.model,
        settings.judge_models,
        settings.seed,
        settings.orders,
        settings.runs,
        settings.max_tokens,
        settings.temperature,
        settings.tie_band,
    )


def orders_of(
    unit: PairUnit, pair: tuple[str, str], run: int, rules: PairRules
) -> tuple[Assignment, ...]:
    """Return the slots of the one or two calls to a judge."""
    cell = (rules.seed, unit.skill, unit.prompt_index, pair[0], pair[1], run)
    return both_orders(*cell) if rules.orders == "both" else (assignment(*cell),)


def unjudgeable_reason(answers: Mapping[str, Answer], pair: tuple[str, str]) -> str | None:
    """Return why two answers are not judged: ``generation_error``, ``truncated``; else None."""
    if any(answers[condition].error for condition in pair):
        return "generation_error"
    if any(answers[condition].truncated for condition in pair):
        return "truncated"
    return None


def case_head(unit: PairUnit, pair: tuple[str, str], run: int, rules: PairRules) -> dict[str, Any]:
    """Return a case without results. It has the fields of every case."""
    first = orders_of(unit, pair, run, rules)[0]
    comparison = f"{pair[0]}/{pair[1]}"
    return {
        "id": f"{unit.skill}/{unit.prompt_index}/{run}/{comparison}",
        "skill_name": unit.skill,
        "prompt_index": unit.prompt_index,
        "prompt": unit.prompt,
        "run_index": run,
        "comparison": comparison,
        "condition_a": pair[0],
        "condition_b": pair[1],
        "size_tier": unit.tier,
        "body_bytes": unit.body_bytes,
        "condition_sizes": {name: _size(unit.arms[name]) for name in pair},
        "scores": None,
        "improvement": None,
        "winner": None,
        "judge_winner": None,
        "judge_agrees": None,
        "position_consistent": None,
        "per_criterion_breakdown": [],
        "ab_assignment": dict(first.slots),
        "case_seed": first.case_seed,
        "orders": [],
        "more_judges": {},
        "generations": {},
        "judgements": [],
        "lengths": {},
        "truncated": [],
        "model": rules.model,
        "judge_model": rules.judge_models[0],
        "seed": rules.seed,
        "cost": 0.0,
        "judge_attempts": 0,
        "errors": [],
        "skipped": None,
    }


def complete_case(
    unit: PairUnit,
    pair: tuple[str, str],
    run: int,
    rules: PairRules,
    answers: Mapping[str, Answer],
    judgements: Judgements,
) -> dict[str, Any]:
    """Return a case with its answers and judgements, or with the error that prevents them.

    A pair with a refused, empty or missing answer is an error. A pair with a truncated answer is
    skipped. A pair with an invalid reply in either order is an error.
    """
    case = case_head(unit, pair, run, rules)
    ours = {condition: answers[condition] for condition in pair}
    case["generations"] = {name: answer.path for name, answer in ours.items()}
    case["lengths"] = {name: len(answer.text) for name, answer in ours.items()}
    case["truncated"] = [name for name, answer in ours.items() if answer.truncated]
    case["judgements"] = [each.path for each in judgements.values()]
    case["judge_attempts"] = sum(each.attempts for each in judgements.values())
    case["cost"] = _cost(unit, pair, ours, judgements)
    why = unjudgeable_reason(answers, pair)
    if why == "truncated":
        case["skipped"] = why
    elif why is not None:
        case["errors"] = [
            _error("missing" if answer.missing else why, f"{name}: {answer.error}")
            for name, answer in ours.items()
            if answer.error
        ]
    else:
        _score(case, unit, pair, orders_of(unit, pair, run, rules), rules, judgements)
    return case


def _cost(
    unit: PairUnit, pair: tuple[str, str], ours: Mapping[str, Answer], judgements: Judgements
) -> float:
    """Return what this run paid for a case; an answer's cost falls on the first that needs it."""
    bearing = {
        condition: next(each for each in unit.comparisons if condition in each)
        for condition in pair
    }
    costs = [answer.cost for name, answer in ours.items() if bearing[name] == pair]
    return round(sum(costs) + sum(each.cost for each in judgements.values()), 9)


def _score(
    case: dict[str, Any],
    unit: PairUnit,
    pair: tuple[str, str],
    orders: Sequence[Assignment],
    rules: PairRules,
    judgements: Judgements,
) -> None:
    first, *more = rules.judge_models
    readings = _read_orders(unit, pair, orders, first, rules.tie_band, judgements)
    case["orders"] = [each.to_dict() for each in readings]
    case["errors"] = [each.failure() for each in readings if each.error]
    for model in more:
        case["more_judges"][model] = _other_judge(
            _read_orders(unit, pair, orders, model, rules.tie_band, judgements)
        )
    if not case["errors"]:
        case.update(_merged([each.result for each in readings if each.result is not None]))
        verdicts = [
            (each.verdict, each.order.slots) for each in readings if each.verdict is not None
        ]
        case["per_criterion_breakdown"] = breakdown(verdicts, unit.criteria)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One judgement, validated again, because a cached file may have been changed."""

    order: Assignment
    judgement: Judgement | None
    verdict: Verdict | None = None
    result: OneOrder | None = None
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        result = self.result
        return {
            "ab_assignment": dict(self.order.slots),
            "scores": result.scores if result is not None else None,
            "winner": result.winner if result is not None else None,
            "judge_winner": result.judge_winner if result is not None else None,
            "attempts": self.judgement.attempts if self.judgement is not None else 0,
            "error": self.error or None,
        }

    def failure(self) -> dict[str, Any]:
        missing = self.judgement is not None and self.judgement.missing
        raw = self.judgement.raw if self.judgement is not None else ""
        return _error("missing" if missing else "judge_error", self.error, raw)


def _read_orders(
    unit: PairUnit,
    pair: tuple[str, str],
    orders: Sequence[Assignment],
    model: str,
    tie_band: float,
    judgements: Judgements,
) -> list[_Reading]:
    readings = []
    for order in orders:
        each = judgements.get((model, order.slots["A"]))
        if each is None or each.parsed is None:
            readings.append(
                _Reading(order, each, error=each.error if each is not None else "not judged")
            )
            continue
        try:
            parsed = verdict(each.parsed, unit.criteria)
        except BadVerdict as bad:
            readings.append(_Reading(order, each, error=f"{bad.kind}: {bad}"))
            continue
        result = one_order(parsed, unit.criteria, order.slots, pair, tie_band)
        readings.append(_Reading(order, each, parsed, result))
    return readings


def _merged(results: Sequence[OneOrder]) -> dict[str, Any]:
    if len(results) == 1:
        return asdict(results[0])
    fields = asdict(merge(results[0], results[1]))
    del fields["order_winners"]  # each order of a case has its own winner
    return fields


def _other_judge(readings: Sequence[_Reading]) -> dict[str, Any]:
    """Return what a further judge makes of the pair."""
    errors = [each.error for each in readings if each.error]
    if errors:
        return {"error": errors[0]}
    merged = _merged([each.result for each in readings if each.result is not None])
    return {name: merged[name] for name in ("scores", "improvement", "winner")}


def _size(arm: Arm) -> dict[str, Any]:
    return {**asdict(arm.size), "raw_bytes": arm.raw.bytes}


def _error(kind: str, message: str, raw: str = "") -> dict[str, Any]:
    error = {"kind": kind, "message": message}
    return {**error, "raw": raw} if raw else error
