"""One improvement from cases to verdict, its plan, and the change of the file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput
from skillyard.evals.layers.router import routed_skills
from skillyard.evals.layers.session import Session
from skillyard.evals.models.calls import Calls
from skillyard.evals.settings import MODEL, RunSettings
from skillyard.evals.storage.entries import GENERATIONS
from skillyard.shapes.improvements import (
    EvalImprove,
    EvalImprovePlan,
    ImproveRequests,
    Passes,
    Proposal,
)
from skillyard.skill import Skill
from skillyard.usecases.eval_runs import (
    EvalOptions,
    ReadyRun,
    new_run_id,
    open_models,
    prepare_run,
)
from skillyard.usecases.improvement.evidence import evidence_of, propose_from_evidence
from skillyard.usecases.improvement.halves import (
    Halves,
    cases_of_skill,
    count_cases,
    split_cases,
)
from skillyard.usecases.improvement.judging import (
    BETTER,
    CANNOT_TELL,
    ChangeVerdict,
    judge_change,
    more_cases_needed,
)
from skillyard.usecases.improvement.scoring import Scoring, passes_of
from skillyard.usecases.improvement.writing import ModelProposals, write_proposals
from skillyard.usecases.suggestions import Suggestions
from skillyard.validation.description_edit import plan_description
from skillyard.validation.fix_plan import write_plan

__all__ = ["ImproveOptions", "improve", "plan_improvement"]

EVAL_TYPE = "activation"
MAX_MODEL_PROPOSALS = 20
"""More fit into no reply, and each of them is routed."""
_PROBE = "Another description."


@dataclass(frozen=True, slots=True)
class ImproveOptions:
    """The options of an improvement beside the settings of its run."""

    run: EvalOptions
    model_proposals: int = 0
    """The most descriptions that a model writes; 0: none is asked."""
    write: bool = False
    """Write the description to the file if it is better."""
    anyway: bool = False
    """Write it whatever the verdict is."""


@dataclass(frozen=True, slots=True)
class _Task:
    """An improvement whose cases are read."""

    ready: ReadyRun
    skill: Skill
    halves: Halves
    evidence: Suggestions
    proposals: list[Proposal]
    """Those from evidence."""

    @property
    def settings(self) -> RunSettings:
        """The settings of the run."""
        return self.ready.settings


def improve(
    catalog: Catalog,
    name: str,
    options: ImproveOptions,
    *,
    stop: threading.Event | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> EvalImprove:
    """Return the best proposal for a skill's description, with the verdict on it.

    Raises SkillNotFound, AmbiguousName, BadCases and InvalidInput before anything is asked,
    ModelFailed for a missing key or library, and RunStopped for a budget or an interrupt.
    """
    task = _read(catalog, name, options, warn, plans=False)
    if options.write:
        plan_description(catalog, task.skill, _PROBE)  # refuses what cannot be written
    halt = stop or threading.Event()
    with ExitStack() as at_end:
        calls, session = None, None
        if _asks_models(task.settings, options):
            models = open_models(task.ready, new_run_id(options.run), halt, warn, at_end)
            calls, session = models.calls, models.session
        scoring = Scoring(catalog, task.skill, task.settings, session, halt)
        result = _result(task, options, scoring, calls)
    return _write(catalog, task.skill, result, options)


def _asks_models(settings: RunSettings, options: ImproveOptions) -> bool:
    return settings.asks_models or options.model_proposals > 0


def _read(
    catalog: Catalog,
    name: str,
    options: ImproveOptions,
    warn: Callable[[str], None],
    *,
    plans: bool,
) -> _Task:
    """Return the cases and what they say. The held-out half gives no evidence."""
    if options.model_proposals > MAX_MODEL_PROPOSALS:
        raise InvalidInput(f"a model writes at most {MAX_MODEL_PROPOSALS} proposals")
    skill = catalog.get(name)
    if skill not in routed_skills(catalog):
        raise InvalidInput(f"{skill.name} is not listed to routers, so no description helps it")
    ready = prepare_run(catalog, EVAL_TYPE, options.run, warn, plans=plans)
    cases = cases_of_skill(ready.work.cases, skill.name)
    halves = split_cases(cases, skill.name, ready.settings.seed)
    if not count_cases(cases, skill.name).should_fire:
        raise InvalidInput(f"no case says that {skill.name} should fire; write prompts for it")
    evidence = evidence_of(catalog, skill, halves.first)
    return _Task(ready, skill, halves, evidence, propose_from_evidence(skill, evidence))


def _result(
    task: _Task, options: ImproveOptions, scoring: Scoring, calls: Calls | None
) -> EvalImprove:
    written = _model_proposals(task, options, scoring.session)
    first, skill = task.halves.first, task.skill
    present = _passes(task, scoring, skill.description)
    proposals = [
        replace(each, first_half=_passes(task, scoring, each.description))
        for each in [*task.proposals, *written.proposals]
    ]
    chosen = _choose(proposals, present)
    judgement = _judge(task, scoring, proposals, chosen)
    counts = calls.counts if calls is not None else None
    return EvalImprove(
        skill=skill.name,
        path=skill.path,
        router=task.settings.router,
        model=task.settings.model if _asks_models(task.settings, options) else None,
        seed=task.settings.seed,
        description=skill.description,
        first_half=count_cases(first, skill.name),
        held_out_half=count_cases(task.halves.held_out, skill.name),
        present=present,
        proposals=tuple(proposals),
        refused=written.refused,
        chosen=chosen,
        held_out=judgement.held_out,
        verdict=judgement.verdict,
        reason=judgement.reason,
        more_cases=judgement.more_cases,
        calls=counts.attempts if counts is not None else 0,
        cost=round(counts.cost, 6) if counts is not None else 0.0,
        fake=scoring.session.counts.fake if scoring.session is not None else False,
        written=False,
    )


def _passes(task: _Task, scoring: Scoring, description: str) -> Passes:
    """Return how many cases of the first half pass with a description."""
    return passes_of(scoring.outcomes(task.halves.first, description), task.skill.name)


def _model_proposals(
    task: _Task, options: ImproveOptions, session: Session | None
) -> ModelProposals:
    if session is None or not options.model_proposals:
        return ModelProposals()
    return write_proposals(
        session,
        task.settings.model,
        task.skill,
        task.halves.first,
        task.evidence,
        options.model_proposals,
    )


def _choose(proposals: Sequence[Proposal], present: Passes) -> int | None:
    """Return the proposal with the most passes, the first of equals; None if none has more."""
    passes = [_sum(each.first_half) for each in proposals]
    best = max(passes, default=0.0)
    return passes.index(best) if best > _sum(present) else None


def _sum(passes: Passes | None) -> float:
    return 0.0 if passes is None else passes.should_fire + passes.should_not_fire


def _judge(
    task: _Task, scoring: Scoring, proposals: Sequence[Proposal], chosen: int | None
) -> ChangeVerdict:
    """Judge the chosen proposal on the held-out half."""
    held_out, runs = task.halves.held_out, task.settings.runs
    if chosen is not None:
        judgement = judge_change(
            scoring.outcomes(held_out, task.skill.description),
            scoring.outcomes(held_out, proposals[chosen].description),
            task.skill.name,
            runs=runs,
            seed=task.settings.seed,
        )
        if judgement is not None:
            return judgement
        reason = "the router answered no held-out case"
    elif proposals:
        reason = "no proposal passes more cases of the first half than the present description"
    else:
        reason = "the cases of the first half suggest no change"
    return ChangeVerdict(None, CANNOT_TELL, reason, more_cases_needed(len(held_out), runs))


def _write(
    catalog: Catalog, skill: Skill, result: EvalImprove, options: ImproveOptions
) -> EvalImprove:
    """Write the description where that is requested and the verdict allows it.

    A verdict from the picks of a stand-in says nothing about the skill, and allows nothing.
    """
    is_real = not (result.fake and result.router == MODEL)
    is_allowed = options.anyway or (result.verdict == BETTER and is_real)
    if not options.write or not is_allowed or result.chosen is None:
        return result
    write_plan(plan_description(catalog, skill, result.proposals[result.chosen].description))
    return replace(result, written=True)


def plan_improvement(
    catalog: Catalog,
    name: str,
    options: ImproveOptions,
    *,
    warn: Callable[[str], None] = lambda text: None,
) -> EvalImprovePlan:
    """Return what :func:`improve` would do and cost. Sends nothing, and needs no key."""
    task = _read(catalog, name, options, warn, plans=True)
    session = task.ready.plan_session()
    _model_proposals(task, options, session)
    if task.settings.asks_models:
        _route_everything(task, options, session)
    return EvalImprovePlan(
        skill=task.skill.name,
        router=task.settings.router,
        model=(task.settings.model or None) if _asks_models(task.settings, options) else None,
        seed=task.settings.seed,
        first_half=count_cases(task.halves.first, task.skill.name),
        held_out_half=count_cases(task.halves.held_out, task.skill.name),
        proposals=tuple(task.proposals),
        model_proposals=options.model_proposals,
        more_cases=more_cases_needed(len(task.halves.held_out), task.settings.runs),
        requests=ImproveRequests(**session.planned(GENERATIONS)),
        cost_low=session.cost(low=True),
        cost_high=session.cost(low=False),
    )


def _route_everything(task: _Task, options: ImproveOptions, session: Session) -> None:
    """Count the requests to a router. A text that is not known yet is one as long as the present.

    A number before it makes it another request than that of the present description.
    """
    settings = replace(task.settings, concurrency=1)  # the session of a plan has no locks
    scoring = Scoring(task.ready.work.catalog, task.skill, settings, session)
    present = task.skill.description
    unknown = [f"{number} {present}" for number in range(options.model_proposals + 1)]
    known = [each.description for each in task.proposals]
    for description in (present, *known, *unknown[1:]):
        scoring.outcomes(task.halves.first, description)
    for description in (present, unknown[0]):
        scoring.outcomes(task.halves.held_out, description)
