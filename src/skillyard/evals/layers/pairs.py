"""L5 and L6: generates answers under two conditions and has them judged against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from skillyard.evals.judgement.assignment import Assignment
from skillyard.evals.layers.pair_cases import (
    PairRules,
    PairUnit,
    case_head,
    complete_case,
    orders_of,
    unjudgeable_reason,
)
from skillyard.evals.layers.scheduler import Job
from skillyard.evals.layers.session import Answer, Judgement, Session
from skillyard.evals.models.protocol import Request
from skillyard.evals.storage.entries import SHARED

__all__ = ["BASELINE", "PairRun", "folder_of", "request_of"]

BASELINE = "baseline"
Pair = tuple[str, str]


@dataclass(slots=True)
class _UnitState:
    """The results of one unit in one run. Each field is written by one job."""

    answers: dict[str, Answer] = field(default_factory=dict)
    judgements: dict[Pair, dict[tuple[str, str], Judgement]] = field(default_factory=dict)
    cases: dict[Pair, dict[str, Any]] = field(default_factory=dict)


class PairRun:
    """The jobs of a run, and its cases once the jobs have ended.

    Runs go outermost, then units: a run that is stopped has looked at every skill about equally
    often. ``on_case`` gets each case when it is complete, on the thread that completed it.
    """

    def __init__(
        self,
        units: Sequence[PairUnit],
        rules: PairRules,
        session: Session,
        on_case: Callable[[dict[str, Any]], None] = lambda case: None,
    ) -> None:
        self._units = units
        self._rules = rules
        self._session = session
        self._on_case = on_case
        self._states = {
            (run, place): _UnitState() for run in range(rules.runs) for place in range(len(units))
        }

    def jobs(self) -> list[Job]:
        """Return the work, in the order in which it should begin.

        An answer that several units share waits for the first of them, so that it is always the
        same case that paid for it.
        """
        jobs: list[Job] = []
        shared: dict[tuple[int, str, str], int] = {}
        for (run, place), state in self._states.items():
            unit = self._units[place]
            job_of = {}
            for condition in unit.conditions:
                job_of[condition] = here = len(jobs)
                system = unit.arms[condition].system
                first = shared.setdefault((run, system, unit.prompt), here)
                after = () if first == here else (first,)
                jobs.append(Job(partial(self._generate, unit, state, condition, run), after))
            for pair in unit.comparisons:
                state.judgements[pair] = {}
                needs = (job_of[pair[0]], job_of[pair[1]])
                judging = []
                for model in self._rules.judge_models:
                    for order in orders_of(unit, pair, run, self._rules):
                        judging.append(len(jobs))
                        work = partial(self._judge, unit, state, pair, order, model, run)
                        jobs.append(Job(work, needs))
                jobs.append(Job(partial(self._close, unit, state, pair, run), tuple(judging)))
        return jobs

    def cases(self, skipped: str) -> list[dict[str, Any]]:
        """Return every case. Cases that were not completed have the reason in ``skipped``."""
        cases = []
        for (run, place), state in self._states.items():
            unit = self._units[place]
            for pair in unit.comparisons:
                case = state.cases.get(pair)
                if case is None:
                    case = {**case_head(unit, pair, run, self._rules), "skipped": skipped}
                cases.append(case)
        return cases

    def _generate(self, unit: PairUnit, state: _UnitState, condition: str, run: int) -> None:
        request = request_of(unit, condition, self._rules)
        state.answers[condition] = self._session.generate(folder_of(unit, condition), request, run)

    def _judge(
        self, unit: PairUnit, state: _UnitState, pair: Pair, order: Assignment, model: str, run: int
    ) -> None:
        if unjudgeable_reason(state.answers, pair) is not None:
            return
        texts = [state.answers[order.slots[slot]].text for slot in ("A", "B")]
        judgement = self._session.judge(unit.skill, unit.prompt, texts, unit.criteria, model, run)
        state.judgements[pair][model, order.slots["A"]] = judgement

    def _close(self, unit: PairUnit, state: _UnitState, pair: Pair, run: int) -> None:
        # Threads end in any order; what is written down has one order.
        judgements = {
            (model, order.slots["A"]): state.judgements[pair][model, order.slots["A"]]
            for model in self._rules.judge_models
            for order in orders_of(unit, pair, run, self._rules)
            if (model, order.slots["A"]) in state.judgements[pair]
        }
        case = complete_case(unit, pair, run, self._rules, state.answers, judgements)
        state.cases[pair] = case
        self._on_case(case)


def request_of(unit: PairUnit, condition: str, rules: PairRules) -> Request:
    """Return the request to the model under one condition."""
    return Request(
        model=rules.model,
        system=unit.arms[condition].system,
        user=unit.prompt,
        max_tokens=rules.max_tokens,
        temperature=rules.temperature,
    )


def folder_of(unit: PairUnit, condition: str) -> str:
    """Return the folder of an answer. Answers without a skill are shared by all skills."""
    return SHARED if condition == BASELINE else unit.skill
