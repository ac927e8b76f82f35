"""Which cases pass with a description: the router picks among the library with that description."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from skillyard.catalog import Catalog
from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.layers.activation import ActivationLayer
from skillyard.evals.layers.protocol import CaseResult, Work
from skillyard.evals.layers.scheduler import run_jobs
from skillyard.evals.layers.session import Session
from skillyard.evals.settings import RunSettings
from skillyard.evals.statistics.intervals import mean_of
from skillyard.shapes.improvements import Passes
from skillyard.skill import Skill
from skillyard.usecases.improvement.halves import should_fire

__all__ = ["CaseOutcome", "Outcomes", "Scoring", "passes_of"]


class CaseOutcome(NamedTuple):
    """The result of one case over its runs."""

    case: ActivationCase
    passes: tuple[float, ...]
    """1 for each run that passes, 0 for the others."""
    fires: float
    """The share of the runs in which the skill is picked."""
    served: float
    """The share of the runs in which a skill is picked that the case expects."""

    @property
    def pass_rate(self) -> float:
        """The share of the runs that pass."""
        return mean_of(self.passes)


Outcomes = Mapping[str, CaseOutcome]
"""By the id of the case; a case that the router could not answer has none."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores descriptions of one skill in memory. Nothing is written."""

    catalog: Catalog
    skill: Skill
    settings: RunSettings
    session: Session | None = None
    """None for a router that is a scorer."""
    stop: threading.Event = field(default_factory=threading.Event)

    def outcomes(self, cases: Sequence[ActivationCase], description: str) -> Outcomes:
        """Return which cases pass with a description. Raises RunStopped."""
        results: dict[str, list[CaseResult]] = {}
        for each in self._route(cases, description):
            results.setdefault(each["id"], []).append(each)
        return {
            case.id: _outcome(case, results[case.id], self.skill.name)
            for case in cases
            if case.id in results
        }

    def _route(self, cases: Sequence[ActivationCase], description: str) -> list[CaseResult]:
        """Return the results that have no error."""
        work = Work(self.settings, self.library_with(description), cases, "", {})
        run = ActivationLayer().run(work, self.session, lambda case: None)
        stopped = run_jobs(run.jobs(), self.settings.concurrency, self.stop)
        if stopped is not None:
            raise stopped
        return [each for each in run.cases("") if each["passed"] is not None]

    def library_with(self, description: str) -> Catalog:
        """Return the library with another description of the skill."""
        changed = self.skill.replace(description=description)
        return Catalog.from_skills(
            [changed if each is self.skill else each for each in self.catalog.candidates]
        )


def _outcome(case: ActivationCase, results: Sequence[CaseResult], skill: str) -> CaseOutcome:
    """Return the outcome of a case.

    A request that the skill should get passes by the rule of ``eval activation``. Any other one
    passes if this skill is not picked; whether another one is, is not its doing.
    """
    fires = [float(skill in each["picked"]) for each in results]
    served = [float(each["passed"]) for each in results]
    passes = served if should_fire(case, skill) else [1 - fired for fired in fires]
    return CaseOutcome(case, tuple(passes), mean_of(fires), mean_of(served))


def passes_of(outcomes: Outcomes, skill: str) -> Passes:
    """Return how many cases pass, those that should fire and the others."""
    by_kind = {True: [0.0], False: [0.0]}
    for each in outcomes.values():
        by_kind[should_fire(each.case, skill)].append(each.pass_rate)
    return Passes(should_fire=sum(by_kind[True]), should_not_fire=sum(by_kind[False]))
