"""Runs the cases of L5 and L6: answers under two conditions, judged against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.evals.checks import run_checks
from skillyard.evals.judgement.judge import JudgeQuestion
from skillyard.evals.judgement.trust import PADDED, PLAIN, PLANTED_PAIRS, PLANTS, planted_texts
from skillyard.evals.judgement.verdicts import (
    Assignment,
    Outcome,
    both_orders,
    breakdown,
    merge,
    one_order,
    verdict,
)
from skillyard.evals.models.calls import ModelRequest
from skillyard.evals.statistics.intervals import least_units
from skillyard.evals.statistics.verdicts import slots_won
from skillyard.evals.storage import SHARED

if TYPE_CHECKING:
    from skillyard.evals.layers.session import Judgement, ModelAnswer, ModelSession
    from skillyard.evals.layers.work import CaseResult, LayerWork, PairUnit

BASELINE = "baseline"
"""The condition without a skill, whose answers all skills share."""


class _Reading(NamedTuple):
    """One judgement, read as scores of the two conditions."""

    order: Assignment
    judgement: Judgement
    verdict: dict[str, Any] | None = None
    result: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "ab_assignment": dict(self.order.slots),
            **{
                key: self.result and self.result[key]
                for key in ("scores", "winner", "judge_winner")
            },
            "attempts": self.judgement.attempts,
            "error": self.judgement.error or None,
        }


class PairRunner:
    """Answers each prompt under its conditions, and has the answers judged in pairs."""

    def __init__(self, work: LayerWork, session: ModelSession) -> None:
        self._settings = work.settings
        self._session = session
        self._plants = _planted_kinds(work.cases)

    def results(self, unit: PairUnit, run: int) -> Iterator[CaseResult]:
        """Answer under each condition, judge each pair, and yield the case of each pair."""
        answers = {name: self._answer(unit, name, run) for name in unit.conditions}
        checks = {}
        for name, answer in answers.items():
            if not answer.error and not answer.truncated:
                scripts = self._session.allow_scripts
                outcomes = run_checks(
                    unit.case.checks, answer.text, unit.case.files, allow_scripts=scripts
                )
                checks[name] = [each.to_dict() for each in outcomes]
        paid: set[str] = set()
        for place, pair in enumerate(unit.comparisons):
            of_pair = {name: answers[name] for name in pair}
            is_first = (run, place) == (0, 0)
            kinds = self._plants.get((unit.skill, unit.prompt_index), ()) if is_first else ()
            case = self._head(unit, run, pair) | self._compared(unit, run, pair, of_pair, kinds)
            case["checks"] = {name: checks[name] for name in pair if checks.get(name)}
            # The cost of an answer falls on the first pair that needs it.
            costs = [answer.cost for name, answer in of_pair.items() if name not in paid]
            case["cost"] = round(sum(costs) + case["cost"], 9)
            paid.update(pair)
            yield case

    def blank(self, unit: PairUnit, run: int) -> list[CaseResult]:
        """Return the case of each pair without results."""
        return [self._head(unit, run, pair) for pair in unit.comparisons]

    def _answer(self, unit: PairUnit, condition: str, run: int) -> ModelAnswer:
        settings = self._settings
        if unit.offered is None:
            request = ModelRequest(
                model=settings.model,
                system=unit.arms.arms[condition].system,
                user=unit.prompt,
                max_tokens=settings.max_tokens,
                temperature=settings.temperature,
            )
        else:
            from skillyard.evals.agent.model import TOKENS
            from skillyard.evals.agent.workspace import Workspace

            request = ModelRequest(
                model=settings.model,
                system=settings.role,
                user=unit.prompt,
                max_tokens=TOKENS,
                temperature=None,
                workspace=Workspace(unit.offered[condition], unit.case.files),
            )
        folder = SHARED if condition == BASELINE else unit.skill
        return self._session.generate(folder, request, run)

    def _judge(
        self, unit: PairUnit, run: int, orders: Sequence[Assignment], texts: Mapping[str, str]
    ) -> list[_Reading]:
        """Let the judge compare two texts in each of the orders, and read what it says."""
        readings = []
        for order in orders:
            slots = (texts[order.slots["A"]], texts[order.slots["B"]])
            question = JudgeQuestion(
                self._settings.judge_model, unit.prompt, slots, unit.case.criteria, run
            )
            judgement = self._session.judge(unit.skill, question)
            reading = _Reading(order, judgement)
            if judgement.parsed is not None:
                parsed = verdict(judgement.parsed, unit.case.criteria)
                result = one_order(
                    parsed, unit.case.criteria, order.slots, [*texts], self._settings.tie_band
                )
                reading = _Reading(order, judgement, parsed, result)
            readings.append(reading)
        return readings

    def _orders(self, unit: PairUnit, run: int, pair: tuple[str, str]) -> tuple[Assignment, ...]:
        """Return the slots of the one or two calls to a judge."""
        orders = both_orders(self._settings.seed, unit.skill, unit.prompt_index, *pair, run)
        return orders if self._settings.orders == "both" else orders[:1]

    def _head(self, unit: PairUnit, run: int, pair: tuple[str, str]) -> CaseResult:
        """Return the case without results. It has the fields of every case."""
        settings, (first, second) = self._settings, pair
        order = self._orders(unit, run, pair)[0]
        return {
            "id": f"{unit.skill}/{unit.prompt_index}/{run}/{first}/{second}",
            "case_sha256": unit.sha256,
            "skill_name": unit.skill,
            "prompt_index": unit.prompt_index,
            "prompt": unit.prompt,
            "run_index": run,
            "comparison": f"{first}/{second}",
            "condition_a": first,
            "condition_b": second,
            "size_tier": unit.arms.tier,
            "body_bytes": unit.arms.body_bytes,
            "condition_sizes": {name: unit.arms.arms[name].size._asdict() for name in pair},
            "scores": None,
            "improvement": None,
            "winner": None,
            "judge_winner": None,
            "judge_agrees": None,
            "position_consistent": None,
            "per_criterion_breakdown": [],
            "judged": bool(unit.case.criteria),
            "checks": {},
            "ab_assignment": dict(order.slots),
            "case_seed": order.case_seed,
            "orders": [],
            "planted": [],
            "generations": {},
            "judgements": [],
            "lengths": {},
            "truncated": [],
            "lost": [],
            "model": settings.model,
            "judge_model": settings.judge_model,
            "seed": settings.seed,
            "cost": 0.0,
            "judge_attempts": 0,
            "errors": [],
            "skipped": None,
        }

    def _compared(
        self,
        unit: PairUnit,
        run: int,
        pair: tuple[str, str],
        answers: Mapping[str, ModelAnswer],
        plants: Sequence[str],
    ) -> dict[str, Any]:
        """Return the fields of a case that follow from its answers: judgements, or an error.

        A pair with a refused, empty or missing answer is an error. A pair with a truncated answer
        is skipped. A pair with an invalid reply in either order is an error. A unit without
        criteria has no other result than its checks.
        """
        truncated = [name for name, answer in answers.items() if answer.truncated]
        fields: dict[str, Any] = {
            "generations": {name: answer.path for name, answer in answers.items()},
            "lengths": {name: len(answer.text) for name, answer in answers.items()},
            "truncated": truncated,
            "lost": [
                name
                for name, answer in answers.items()
                if answer.truncated or (answer.error and not answer.missing)
            ],
            "errors": [
                _error(
                    "missing" if answer.missing else "generation_error", f"{name}: {answer.error}"
                )
                for name, answer in answers.items()
                if answer.error
            ],
        }
        criteria = unit.case.criteria
        readings: list[_Reading] = []
        if not fields["errors"] and truncated:
            fields["skipped"] = "truncated"
        elif not fields["errors"] and criteria:
            texts = {name: answer.text for name, answer in answers.items()}
            readings = self._judge(unit, run, self._orders(unit, run, pair), texts)
            fields |= _scores(readings)
            if not fields["errors"]:
                verdicts = [(each.verdict, each.order.slots) for each in readings if each.verdict]
                fields["per_criterion_breakdown"] = breakdown(verdicts, criteria)
        usable = (each for each in answers.values() if not each.error and not each.truncated)
        copied = next(usable, None)
        if copied is not None and plants:
            cell = (self._settings.seed, unit.skill, unit.prompt_index, PADDED, PLAIN, run)
            fields["planted"] = []
            for kind in plants:
                sides = planted_texts(kind, copied.text)
                planted = self._judge(unit, run, both_orders(*cell), sides)
                scores = _scores(planted)
                slots = slots_won(scores["orders"])
                pair_of_kind = {"kind": kind, "winner": scores.get("winner"), "slots": slots}
                fields["planted"].append(pair_of_kind)
                readings += planted
        judgements = [each.judgement for each in readings]
        return fields | {
            "judgements": [each.path for each in judgements],
            "judge_attempts": sum(each.attempts for each in judgements),
            "cost": sum(each.cost for each in judgements),
        }


def _planted_kinds(units: Sequence[PairUnit]) -> dict[tuple[str, int], list[str]]:
    """Return the kinds of planted pairs that are judged beside the first pair of units, by unit.

    They are spread over all units; there are none where no verdict can come.
    """
    judged = [each for each in units if each.comparisons and each.case.criteria]
    kinds: dict[tuple[str, int], list[str]] = {}
    if len(judged) >= least_units():
        for number in range(PLANTED_PAIRS):
            unit = judged[number * len(judged) // PLANTED_PAIRS]
            of_unit = kinds.setdefault((unit.skill, unit.prompt_index), [])
            of_unit.append(PLANTS[number % len(PLANTS)])
    return kinds


def _scores(readings: Sequence[_Reading]) -> dict[str, Any]:
    """Return the result of one or both orders, with the errors that prevent it."""
    fields: dict[str, Any] = {
        "orders": [each.to_dict() for each in readings],
        "errors": [
            _error(
                "missing" if judgement.missing else "judge_error", judgement.error, judgement.raw
            )
            for _, judgement, _, result in readings
            if result is None
        ],
    }
    results = [each.result for each in readings if each.result is not None]
    if fields["errors"]:
        return fields
    if len(results) == 1:
        return fields | results[0]
    merged = merge(results[0], results[1])
    del merged["order_winners"]  # each order of a case has its own winner
    return fields | merged


def _error(kind: str, message: str, raw: str = "") -> dict[str, Any]:
    error = {"kind": kind, "message": message}
    return {**error, "raw": raw} if raw else error
