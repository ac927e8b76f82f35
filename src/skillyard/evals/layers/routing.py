"""Layers whose cases a router answers (L3 and L4): their jobs, and what their summaries share.

The runs of a case are averaged, so each case counts once (evals.md §1.15).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from skillyard.base.sums import wilson
from skillyard.evals.layers.case_run import CaseRun, CaseTask
from skillyard.evals.layers.protocol import OnCase
from skillyard.evals.layers.router import Router, RouterChoice, routed_skills, routers_of
from skillyard.evals.layers.work import Work
from skillyard.evals.statistics.intervals import mean_of, spread_of
from skillyard.evals.statistics.pairs import PLACES

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.layers.session import Session

Case = Mapping[str, Any]

_UNANSWERED: Case = {
    "picked": [],
    "dropped": [],
    "passed": None,
    "fallback": False,
    "confidence": None,
    "generations": [],
    "input_tokens": None,
}


class RoutingLayer(ABC):
    """The run that L3 and L4 share. A layer says which requests its cases are."""

    @abstractmethod
    def tasks(self, work: Work, routers: Mapping[str, Router]) -> list[CaseTask]:
        """Return the requests of one run. ``routers`` has the router of each group."""

    def run(self, work: Work, session: Session | None, on_case: OnCase) -> CaseRun:
        """Return the run of the cases."""
        routers = routers_of(work, session)
        return CaseRun(self.tasks(work, routers), runs=work.settings.runs, on_case=on_case)


def routing_task(
    router: Router,
    prompt: str,
    candidates: Sequence[str],
    head: Mapping[str, Any],
    score: Callable[[RouterChoice], dict[str, Any]],
) -> CaseTask:
    """Return one request to a router as a case.

    ``candidates`` are asked for one by one where the reply of a model is unreadable. ``head`` are
    the fields that are known before; ``score`` returns those that follow from the choice, also of
    a failed one.
    """

    def answer(run: int) -> dict[str, Any]:
        choice = router.route(prompt, candidates, run)
        return {**_fields_of(choice), **score(choice)}

    return CaseTask({**head, **_UNANSWERED}, answer)


def _fields_of(choice: RouterChoice) -> dict[str, Any]:
    """Return the fields of a case that follow from the choice, with its error if any."""
    fields: dict[str, Any] = {
        "picked": list(choice.picked),
        "dropped": list(choice.dropped),
        "fallback": choice.fallback,
        "confidence": choice.confidence,
        "cost": choice.cost,
        "generations": list(choice.generations),
        "input_tokens": choice.input_tokens,
    }
    if choice.error:
        kind = "missing" if choice.missing else "generation_error"
        fields["errors"] = [{"kind": kind, "message": choice.error}]
    return fields


def skill_digests(catalog: Catalog, groups: Mapping[str, Sequence[str]] | None) -> dict[str, str]:
    """Return the content hash of every skill that a router may pick, by name.

    ``groups`` restricts them to the members of groups; None: all skills.
    """
    members = None if groups is None else {name for names in groups.values() for name in names}
    return {
        skill.name: skill.hash
        for skill in routed_skills(catalog)
        if members is None or skill.name in members
    }


def runs_by_case(cases: Iterable[Case]) -> list[list[Case]]:
    """Return the runs of each case together."""
    runs: dict[str, list[Case]] = {}
    for case in cases:
        runs.setdefault(case["id"], []).append(case)
    return list(runs.values())


def mean_over_runs(runs: Sequence[Case], field: str) -> float:
    """Return the mean of a field over the runs of one case."""
    return mean_of([float(case[field]) for case in runs])


def mean_over_cases(cases: Sequence[Sequence[Case]], field: str) -> float | None:
    """Return the mean of a field over cases, each with its runs; None without cases."""
    return mean_and_spread([mean_over_runs(runs, field) for runs in cases])["mean"]


def mean_and_spread(values: Sequence[float]) -> dict[str, float | None]:
    """Return the ``mean`` (None without values) and the ``stddev`` of values, rounded."""
    return {
        "mean": rounded(mean_of(values)) if values else None,
        "stddev": rounded(spread_of(values)),
    }


def rate(name: str, values: Sequence[float], ends: str | None = None) -> dict[str, float | None]:
    """Return a share of cases with its Wilson interval; a case half of whose runs pass is half.

    The ends are named ``low`` and ``high`` with ``ends`` before them, by default ``name_``.
    """
    prefix = f"{name}_" if ends is None else ends
    if not values:
        return {name: None, f"{prefix}low": None, f"{prefix}high": None}
    low, high = wilson(fsum(values), len(values))
    return {
        name: rounded(mean_of(values)),
        f"{prefix}low": rounded(low),
        f"{prefix}high": rounded(high),
    }


def rounded(value: float) -> float:
    """Return a figure of the results, rounded."""
    return round(value, PLACES)
