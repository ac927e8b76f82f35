"""The run of L5 and L6: answers under two conditions, judged against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

from skillyard.evals.checks.outcome import CheckOutcome
from skillyard.evals.judgement.prompt import JudgeQuestion
from skillyard.evals.judgement.remap import (
    Assignment,
    OneOrder,
    assignment,
    both_orders,
    breakdown,
    merge,
    one_order,
)
from skillyard.evals.judgement.trust import PADDED, PLAIN, PLANTED_PAIRS, PLANTS, planted_texts
from skillyard.evals.judgement.verdicts import BadVerdict, JudgeVerdict, verdict
from skillyard.evals.layers.scheduler import Job
from skillyard.evals.layers.session import Judgement, ModelAnswer, ModelSession
from skillyard.evals.layers.work import CaseResult, OnCase, PairUnit
from skillyard.evals.models.protocol import ModelRequest
from skillyard.evals.settings import RunSettings
from skillyard.evals.statistics.planning import least_units
from skillyard.evals.storage.entries import SHARED

BASELINE = "baseline"


def request_of(unit: PairUnit, condition: str, settings: RunSettings) -> ModelRequest:
    """Return the request to the model, or to an agent, under one condition."""
    if unit.offered is not None:
        from skillyard.evals.agent.model import TOKENS
        from skillyard.evals.agent.workspace import Workspace

        return ModelRequest(
            model=settings.model,
            system=settings.role,
            user=unit.prompt,
            max_tokens=TOKENS,
            temperature=None,
            workspace=Workspace(unit.offered[condition], unit.case.files),
        )
    return ModelRequest(
        model=settings.model,
        system=unit.arms.arms[condition].system,
        user=unit.prompt,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
    )


def folder_of(unit: PairUnit, condition: str) -> str:
    """Return the folder of an answer. Answers without a skill are shared by all skills."""
    return SHARED if condition == BASELINE else unit.skill


@dataclass(slots=True)
class _UnitRun:
    """One unit in one run."""

    unit: PairUnit
    run: int
    answers: dict[str, ModelAnswer] = field(default_factory=dict)
    checks: dict[str, tuple[CheckOutcome, ...]] = field(default_factory=dict)
    pairs: tuple[_Pair, ...] = ()


class PairRun:
    """The jobs of a run, and its cases once the jobs have ended.

    Runs go outermost, then units: a run that is stopped has looked at every skill about equally
    often. ``on_case`` gets each case when it is complete, on the thread that completed it.
    """

    def __init__(
        self,
        units: Sequence[PairUnit],
        settings: RunSettings,
        session: ModelSession,
        on_case: OnCase = lambda case: None,
    ) -> None:
        self._settings = settings
        self._session = session
        self._on_case = on_case
        self._units = [_UnitRun(unit, run) for run in range(settings.runs) for unit in units]
        for each in self._units:
            each.pairs = tuple(_Pair(each, pair, settings) for pair in each.unit.comparisons)
        self._plant()

    def _plant(self) -> None:
        """Choose the units with a planted pair, spread over all; none where no verdict can come."""
        judged = [
            each for each in self._units if each.run == 0 and each.pairs and each.unit.case.criteria
        ]
        if len(judged) >= least_units():
            for number in range(PLANTED_PAIRS):
                pair = judged[number * len(judged) // PLANTED_PAIRS].pairs[0]
                pair.plants.append(_Plant(pair, PLANTS[number % len(PLANTS)]))

    def jobs(self) -> list[Job]:
        """Return the work, a job for each unit of a run, in the order in which it should begin."""
        return [partial(self._work, each) for each in self._units]

    def _work(self, each: _UnitRun) -> None:
        """Answer under each condition, and judge each pair."""
        for condition in each.unit.conditions:
            self._generate(each, condition)
        for pair in each.pairs:
            for order in pair.calls:
                pair.judge(self._session, order)
            for plant in pair.plants:
                plant.judge(self._session)
            pair.case = pair.complete()
            self._on_case(pair.case)

    def cases(self, skipped: str) -> list[CaseResult]:
        """Return every case. Cases that were not completed have the reason in ``skipped``."""
        return [
            pair.case or {**pair.head(), "skipped": skipped}
            for each in self._units
            for pair in each.pairs
        ]

    def _generate(self, each: _UnitRun, condition: str) -> None:
        unit = each.unit
        request = request_of(unit, condition, self._settings)
        answer = self._session.generate(folder_of(unit, condition), request, each.run)
        if not answer.error and not answer.truncated:
            each.checks[condition] = self._session.check(
                unit.case.checks, answer.text, unit.case.files
            )
        each.answers[condition] = answer


@dataclass(slots=True)
class _Pair:
    """Two conditions of a unit in one run, and the case that comes of comparing them."""

    of: _UnitRun
    conditions: tuple[str, str]
    settings: RunSettings
    judgements: dict[str, Judgement] = field(default_factory=dict)
    """By the condition that stood in slot A."""
    case: CaseResult | None = None
    plants: list[_Plant] = field(default_factory=list)

    @property
    def orders(self) -> tuple[Assignment, ...]:
        """The slots of the one or two calls to a judge."""
        unit = self.of.unit
        cell = (
            self.settings.seed,
            unit.skill,
            unit.prompt_index,
            *self.conditions,
            self.of.run,
        )
        return both_orders(*cell) if self.settings.orders == "both" else (assignment(*cell),)

    @property
    def calls(self) -> tuple[Assignment, ...]:
        """The slots of each call to the judge; none where the checks alone decide."""
        return self.orders if self.of.unit.case.criteria else ()

    @property
    def answers(self) -> dict[str, ModelAnswer]:
        """The two answers."""
        return {condition: self.of.answers[condition] for condition in self.conditions}

    @property
    def unjudgeable_reason(self) -> str | None:
        """Why the answers are not judged: ``generation_error``, ``truncated``; else None."""
        if any(answer.error for answer in self.answers.values()):
            return "generation_error"
        if any(answer.truncated for answer in self.answers.values()):
            return "truncated"
        return None

    def judge(self, session: ModelSession, order: Assignment) -> None:
        """Let the judge compare the answers in one order."""
        if self.unjudgeable_reason is not None:
            return
        unit, model = self.of.unit, self.settings.judge_model
        texts = (self.answers[order.slots["A"]].text, self.answers[order.slots["B"]].text)
        question = JudgeQuestion(model, unit.prompt, texts, unit.case.criteria, self.of.run)
        self.judgements[order.slots["A"]] = session.judge(unit.skill, question)

    def head(self) -> CaseResult:
        """Return the case without results. It has the fields of every case."""
        unit, settings = self.of.unit, self.settings
        first, second = self.conditions
        order = self.orders[0]
        return {
            "id": f"{unit.skill}/{unit.prompt_index}/{self.of.run}/{first}/{second}",
            "case_sha256": unit.sha256,
            "skill_name": unit.skill,
            "prompt_index": unit.prompt_index,
            "prompt": unit.prompt,
            "run_index": self.of.run,
            "comparison": f"{first}/{second}",
            "condition_a": first,
            "condition_b": second,
            "size_tier": unit.arms.tier,
            "body_bytes": unit.arms.body_bytes,
            "condition_sizes": {name: unit.arms.arms[name].sizes() for name in self.conditions},
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

    def complete(self) -> CaseResult:
        """Return the case with its answers and judgements, or with the error that prevents them.

        A pair with a refused, empty or missing answer is an error. A pair with a truncated answer
        is skipped. A pair with an invalid reply in either order is an error. A unit without
        criteria has no other result than its checks.
        """
        answers = self.answers
        # Threads end in any order; what is written down has one order.
        slots = [order.slots["A"] for order in self.calls]
        judgements = [self.judgements[slot] for slot in slots if slot in self.judgements]
        for plant in self.plants:
            judgements += plant.judgements.values()
        case = self.head() | {
            "planted": [plant.to_dict() for plant in self.plants],
            "generations": {name: answer.path for name, answer in answers.items()},
            "lengths": {name: len(answer.text) for name, answer in answers.items()},
            "truncated": [name for name, answer in answers.items() if answer.truncated],
            "lost": [
                name
                for name, answer in answers.items()
                if answer.truncated or (answer.error and not answer.missing)
            ],
            "judgements": [each.path for each in judgements],
            "judge_attempts": sum(each.attempts for each in judgements),
            "cost": self._cost(judgements),
            "checks": {
                name: [each.to_dict() for each in outcomes]
                for name in self.conditions
                if (outcomes := self.of.checks.get(name))
            },
        }
        reason = self.unjudgeable_reason
        if reason == "truncated":
            return case | {"skipped": reason}
        if reason is not None:
            errors = [
                _error("missing" if answer.missing else reason, f"{name}: {answer.error}")
                for name, answer in answers.items()
                if answer.error
            ]
            return case | {"errors": errors}
        return case | self._scores() if self.of.unit.case.criteria else case

    def _cost(self, judgements: Sequence[Judgement]) -> float:
        """Return what this run paid; an answer's cost falls on the first pair that needs it."""
        comparisons = self.of.unit.comparisons
        costs = [
            answer.cost
            for name, answer in self.answers.items()
            if self.conditions == next(pair for pair in comparisons if name in pair)
        ]
        return round(sum(costs) + sum(each.cost for each in judgements), 9)

    def _scores(self) -> dict[str, Any]:
        """Return the fields that follow from the judgements."""
        readings = [
            self.read(order, self.judgements[order.slots["A"]], self.conditions)
            for order in self.orders
        ]
        fields: dict[str, Any] = {
            "orders": [each.to_dict() for each in readings],
            "errors": [each.failure() for each in readings if each.error],
        }
        if fields["errors"]:
            return fields
        verdicts = [
            (each.verdict, each.order.slots) for each in readings if each.verdict is not None
        ]
        criteria = self.of.unit.case.criteria
        return {
            **fields,
            **_merged(readings),
            "per_criterion_breakdown": breakdown(verdicts, criteria),
        }

    def read(
        self, order: Assignment, judgement: Judgement, conditions: tuple[str, str]
    ) -> _Reading:
        """Return what a judge said. It is checked again: a cached file may have been changed."""
        if judgement.parsed is None:
            return _Reading(order, judgement, error=judgement.error)
        criteria = self.of.unit.case.criteria
        try:
            parsed = verdict(judgement.parsed, criteria)
        except BadVerdict as bad:
            return _Reading(order, judgement, error=f"{bad.kind}: {bad}")
        result = one_order(parsed, criteria, order.slots, conditions, self.settings.tie_band)
        return _Reading(order, judgement, parsed, result)


class _Plant:
    """A planted pair: an answer of a pair against itself with something added."""

    def __init__(self, pair: _Pair, kind: str) -> None:
        self._pair = pair
        self._kind = kind
        unit = pair.of.unit
        cell = (pair.settings.seed, unit.skill, unit.prompt_index, PADDED, PLAIN, pair.of.run)
        self.orders = both_orders(*cell)
        self.judgements: dict[str, Judgement] = {}
        """By the side that stood in slot A."""

    def judge(self, session: ModelSession) -> None:
        """Let the judge compare both sides in both orders."""
        of, model = self._pair.of, self._pair.settings.judge_model
        usable = (each for each in self._pair.answers.values() if not each.error)
        answer = next((each for each in usable if not each.truncated), None)
        if answer is None:
            return
        texts = planted_texts(self._kind, answer.text)
        for order in self.orders:
            slots = (texts[order.slots["A"]], texts[order.slots["B"]])
            question = JudgeQuestion(model, of.unit.prompt, slots, of.unit.case.criteria, of.run)
            self.judgements[order.slots["A"]] = session.judge(of.unit.skill, question)

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the side that won; None where the judge did not say."""
        readings = [
            self._pair.read(order, self.judgements[order.slots["A"]], (PADDED, PLAIN))
            for order in self.orders
            if order.slots["A"] in self.judgements
        ]
        whole = len(readings) == len(self.orders) and not any(each.error for each in readings)
        return {"kind": self._kind, "winner": _merged(readings)["winner"] if whole else None}


class _Reading(NamedTuple):
    """One judgement, read as scores of the two conditions."""

    order: Assignment
    judgement: Judgement
    verdict: JudgeVerdict | None = None
    result: OneOrder | None = None
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "ab_assignment": dict(self.order.slots),
            "scores": self.result and self.result.scores,
            "winner": self.result and self.result.winner,
            "judge_winner": self.result and self.result.judge_winner,
            "attempts": self.judgement.attempts,
            "error": self.error or None,
        }

    def failure(self) -> dict[str, Any]:
        kind = "missing" if self.judgement.missing else "judge_error"
        return _error(kind, self.error, self.judgement.raw)


def _merged(readings: Sequence[_Reading]) -> dict[str, Any]:
    """Return the result of one or both orders, none of which is an error."""
    results = [each.result for each in readings if each.result is not None]
    if len(results) == 1:
        return asdict(results[0])
    fields = asdict(merge(results[0], results[1]))
    del fields["order_winners"]  # each order of a case has its own winner
    return fields


def _error(kind: str, message: str, raw: str = "") -> dict[str, Any]:
    error = {"kind": kind, "message": message}
    return {**error, "raw": raw} if raw else error
