"""A run: what it would cost, and its execution until its results file is written."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from skillyard.base.text import plural
from skillyard.base.version import __version__
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.session import ModelSession, PlanSession, moment
from skillyard.evals.layers.work import (
    LOOKS,
    CaseResult,
    Layer,
    LayerWork,
    UnitRunner,
    diagnostic_line,
    load_layer,
)
from skillyard.evals.models.calls import Calls, ModelRequest, RunStopped
from skillyard.evals.statistics.intervals import (
    FALSE_STATEMENTS,
    PlannedVerdict,
    least_units,
    planned_verdicts,
)
from skillyard.evals.statistics.verdicts import NOT_ENOUGH, OVERALL
from skillyard.evals.storage import (
    DEGRADED,
    GENERATIONS,
    JUDGEMENTS,
    SCHEMA,
    TRUNCATED_PAIR,
    write_results,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The output of ``--dry-run``."""

    eval_type: str
    cases: int
    generations: dict[str, int]
    """``planned``, ``kept`` (in the cache) and ``to_make``."""
    judgements: dict[str, int]
    cost_low: float | None
    """US dollars, every output as long as the median of those that are kept; None where a price
    is not known."""
    cost_high: float | None
    """US dollars, every output as long as it may be, and no retries."""
    price_source: str
    price_date: str
    unpriced: tuple[str, ...]
    """Models whose price is not known; one that is not named yet is empty."""
    warnings: tuple[str, ...]
    """Cases that could not be read and are left out, and other faults of the case files."""
    skills: tuple[dict[str, Any], ...]
    """For L5 and L6: sizes, tier and siblings of each skill under test."""
    verdicts: tuple[PlannedVerdict, ...]
    """For L5 and L6: what the prompts that are judged can show of each skill that has any."""
    checks_only: Mapping[str, int]
    """For L5 and L6: the prompts of each skill that have checks alone, and so no judge."""

    @property
    def pays(self) -> bool:
        """True if a request has to be sent."""
        return bool(self.generations["to_make"] + self.judgements["to_make"])

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Sentences on what the prompts of a skill can show, each with the skill."""
        unjudged = "with checks alone: a pass rate, and no verdict of a judge"
        return [
            *((each.skill, each.message) for each in self.verdicts),
            *((name, f"{plural(n, 'prompt')} {unjudged}") for name, n in self.checks_only.items()),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.eval-plan/1``."""
        return {"schema": "skillyard.eval-plan/1", **asdict(self)}


def plan(work: LayerWork, session: PlanSession) -> Plan:
    """Return the plan of a run.

    The cases are worked through with a session that looks into the cache and sends nothing.
    Judgements of answers that do not exist yet count as calls. A run makes fewer calls where two
    answers turn out to be equal.
    """
    settings = work.settings
    layer = LAYERS[settings.eval_type]
    runner = load_layer(layer.name).runner(work, session)
    if settings.asks_models:
        for run in range(settings.runs):
            for case in work.cases:
                list(runner.results(case, run))
    models = sorted({request.model for _, request, _ in session.to_make})
    prices = {name: session.prices.get(name) for name in models}
    known = next((price for price in prices.values() if price is not None), None)
    prompts = Counter(unit.skill for unit in work.cases if work.tested)
    judged = Counter(unit.skill for unit in work.cases if work.tested and unit.case.criteria)
    return Plan(
        eval_type=settings.eval_type,
        cases=_result_count(work, runner),
        generations=session.planned(GENERATIONS),
        judgements=session.planned(JUDGEMENTS),
        cost_low=session.cost(low=True),
        cost_high=session.cost(),
        price_source=known.source if known else "",
        price_date=known.date if known else "",
        unpriced=tuple(name for name, price in prices.items() if price is None),
        warnings=tuple(map(diagnostic_line, work.diagnostics)),
        skills=tuple(
            {"skill": skill, "prompts": prompts[skill], **fields}
            for skill, fields in work.tested.items()
            if prompts[skill]
        ),
        verdicts=planned_verdicts(judged, looks=work.looks) if layer.decides else (),
        checks_only=dict(sorted((prompts - judged).items())),
    )


def _result_count(work: LayerWork, runner: UnitRunner) -> int:
    return work.settings.runs * sum(len(runner.blank(case, 0)) for case in work.cases)


DECIDED = "decided"
"""The reason in the cases of a skill that was decided before they were reached."""
_COST_DIGITS = 6


OnStep = Callable[[int, int, int, float], None]
"""It gets the cases that are done and all cases, the requests sent so far, and their US dollars."""


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The result of a run."""

    path: str
    """Of the results file."""
    envelope: dict[str, Any]
    missing: tuple[str, ...] = ()
    """Entries that a replay would have needed."""

    @property
    def usable(self) -> int:
        """Cases with a result; none where too many have none for any figure."""
        routes = LAYERS[self.envelope["meta"]["eval_type"]].routes
        if routes and not self.envelope["summary"][OVERALL]["n"]:
            return 0
        return sum(not case["errors"] and not case["skipped"] for case in self.envelope["cases"])


def execute(
    work: LayerWork,
    session: ModelSession,
    *,
    results: str,
    run_id: str,
    stop: threading.Event,
    on_step: OnStep,
) -> EvaluationResult:
    """Run the cases, write ``<type>_<run_id>.json``, and return its content.

    A stopped run writes its cases so far and the reason. Raises SkillIoError if the file cannot be
    written, and InvalidInput for a scorer that is not available.
    """
    begin, started_at = time.monotonic(), moment()
    settings = work.settings
    layer = load_layer(settings.eval_type)
    run = _Run(work, layer, session, stop, on_step)
    cases = run.in_looks() if settings.until_decided else run.of(work.cases)
    for case in cases:
        case["run_id"], case["timestamp"] = run_id, started_at
    summary, artifacts = layer.summarise(cases, work)
    meta = {
        **_meta(work, session, run.stopped),
        "run_id": run_id,
        "timestamp": started_at,
        "until_decided": run.looks_dict(cases) if settings.until_decided else None,
        "engine_version": __version__,
        "degraded": _degraded(cases),
        "duration_s": round(time.monotonic() - begin, 3),
    }
    envelope = {"meta": meta, "summary": summary, "cases": cases, "artifacts": artifacts}
    path = write_results(results, envelope)
    missing = tuple(sorted(session.missing))
    return EvaluationResult(path, envelope, missing)


@dataclass(eq=False)
class _Run:
    """The cases of a run, on a few threads."""

    work: LayerWork
    layer: Layer
    session: ModelSession
    stop: threading.Event
    on_step: OnStep

    def __post_init__(self) -> None:
        self._guard = threading.Lock()
        runner = self.layer.runner(self.work, self.session)
        self._done, self._total = 0, _result_count(self.work, runner)
        self.stopped: RunStopped | None = None
        self.decided_after: dict[str, int] = {}
        """Prompts after which the verdict of a skill was decided, by skill."""

    def of(self, cases: Sequence[Any], skipped: str = "") -> list[CaseResult]:
        """Return the results of some cases; with ``skipped``, without asking anything.

        Runs go outermost: a run that is stopped has looked at every skill about equally often.
        """
        settings = self.work.settings
        runner = self.layer.runner(replace(self.work, cases=cases), self.session)
        units = [(case, run) for run in range(settings.runs) for case in cases]
        done: list[list[CaseResult]] = [[] for _ in units]

        def ask(place: int) -> None:
            for result in runner.results(*units[place]):
                done[place].append(result)
                self._report()

        if not skipped:
            # Without network calls, more threads only share one interpreter.
            threads = settings.concurrency if isinstance(self.session.model, Calls) else 1
            self.stopped = run_in_threads(ask, len(units), threads, self.stop)
            skipped = self.stopped.reason if self.stopped is not None else ""
        results = []
        for unit, of_unit in zip(units, done, strict=True):
            rest = runner.blank(*unit)[len(of_unit) :]
            results += [*of_unit, *({**each, "skipped": skipped} for each in rest)]
        return results

    def in_looks(self) -> list[CaseResult]:
        """Return the results of all cases; after each look, skills that are decided are left out.

        Looking several times at growing results and stopping at the first that counts would find
        differences that are not there. So each of three looks spends a third of the 5 % (a
        Bonferroni spending rule), and the intervals of all looks hold together.
        """
        results: list[CaseResult] = []
        queues = _queues(self.work)
        start = dict.fromkeys(queues, 0)
        for look in range(LOOKS):
            units = []
            for skill in [skill for skill in queues if skill not in self.decided_after]:
                sizes = look_sizes(len(queues[skill]), len(queues))
                end = sizes[min(look, len(sizes) - 1)]
                units += queues[skill][start[skill] : end]
                start[skill] = end
            results += self.of(units)
            if self.stopped is not None:
                break
            summary, _ = self.layer.summarise(results, self.work)
            for skill in queues:
                word = summary[skill]["word"] if skill in summary else NOT_ENOUGH
                if word != NOT_ENOUGH:
                    self.decided_after.setdefault(skill, start[skill])
        rest = [unit for skill, queue in queues.items() for unit in queue[start[skill] :]]
        return results + self.of(rest, self.stopped.reason if self.stopped else DECIDED)

    def looks_dict(self, cases: Sequence[CaseResult]) -> dict[str, Any]:
        """Return what ``meta`` says of the looks."""
        return {
            "looks": LOOKS,
            "decided_after": dict(sorted(self.decided_after.items())),
            "cases_saved": sum(case["skipped"] == DECIDED for case in cases),
        }

    def _report(self) -> None:
        spending = self.session.budget.own
        with self._guard:
            self._done += 1
            cost = 0.0 if self.session.fake else spending.cost
            self.on_step(self._done, self._total, spending.calls, cost)


def run_in_threads(
    job: Callable[[int], None], count: int, threads: int, stop: threading.Event
) -> RunStopped | None:
    """Call a job with 0 to ``count - 1``, in order, on some threads; return what stopped it.

    When a job raises RunStopped, or ``stop`` is set, no further job starts. Running jobs finish,
    because their answers are paid for. Any other exception has the same effect and is raised here.
    An interrupt of the waiting thread sets ``stop`` and waits as well; a second interrupt is
    raised, and the threads do not keep the process. If all jobs had ended by then, the run was not
    stopped.
    """
    places = iter(range(count))
    guard = threading.Lock()
    failures: list[BaseException] = []
    ended: list[int] = []

    def work(end: threading.Event) -> None:
        while True:
            with guard:
                place = None if stop.is_set() else next(places, None)
            if place is None:
                break
            try:
                job(place)
                ended.append(place)
            except BaseException as failure:  # noqa: BLE001 - raised where the run waits
                failures.append(failure)
                stop.set()
        end.set()

    ends = [threading.Event() for _ in range(min(threads, count))]
    for end in ends:
        threading.Thread(target=work, args=(end,), daemon=True).start()
    interrupted = False
    # Not Thread.join: up to Python 3.12 an interrupt inside it marks a running thread as ended.
    for end in ends:
        while not end.is_set():
            try:
                _wait(end)
            except KeyboardInterrupt:
                # The command line takes the first interrupt itself, and sets ``stop``.
                if interrupted or (stop.is_set() and not failures):
                    raise
                interrupted = True
                stop.set()
    for failure in failures:
        if not isinstance(failure, RunStopped):
            raise failure
    if failures:
        return failures[0]  # type: ignore[return-value]  # the only kind that is left
    is_stopped = stop.is_set() and len(ended) < count
    return RunStopped("interrupted", "the run was interrupted") if is_stopped else None


def _wait(end: threading.Event) -> None:
    end.wait()


def look_sizes(prompts: int, skills: int) -> tuple[int, ...]:
    """Return after how many prompts of a skill its results are looked at.

    The first look is where a result can first count, the last at the end.
    """
    least = least_units(FALSE_STATEMENTS / (skills * LOOKS))
    if prompts <= least:
        return (prompts,)
    step = (prompts - least) / (LOOKS - 1)
    return tuple(sorted({round(least + step * look) for look in range(LOOKS)}))


def _queues(work: LayerWork) -> dict[str, list[Any]]:
    """Return the units of each skill in an order drawn by seed, that is not the author's."""
    seed = work.settings.seed
    queues: dict[str, list[Any]] = {}
    for unit in work.cases:
        queues.setdefault(unit.skill, []).append(unit)
    for queue in queues.values():
        queue.sort(key=lambda u: sha256(f"{seed}/{u.skill}/{u.case.prompt}".encode()).digest())
    return queues


def _degraded(cases: Sequence[Mapping[str, Any]]) -> bool:
    """True when too many of the cases that were worked on are errors, or have a cut answer."""
    worked_on = [case for case in cases if case["skipped"] in (None, TRUNCATED_PAIR)]
    failed = sum(bool(case["errors"] or case["skipped"]) for case in worked_on)
    return failed > DEGRADED * len(worked_on)


def _meta(work: LayerWork, session: ModelSession, stopped: RunStopped | None) -> dict[str, Any]:
    settings = work.settings
    own, spending, asks = session.budget.own, session.budget.spending(), settings.asks_models
    options = LAYERS[settings.eval_type].options
    judges = "judge" in options
    reason = stopped.reason if stopped is not None else None
    message = str(stopped) if stopped is not None else None
    return {
        "schema": SCHEMA,
        "eval_type": settings.eval_type,
        "backend": _backend(session) if asks else "none",
        "provider": settings.provider if asks else None,
        "host": settings.host if asks else None,
        "model": settings.model if asks else None,
        "judge_model": settings.judge_model if judges else None,
        "router": settings.router if "router" in options else None,
        "seed": settings.seed,
        "runs": settings.runs,
        "orders": settings.orders if judges else None,
        "limit": settings.limit,
        "skill": settings.skill,
        "old_version": settings.old_version,
        "sandbox": settings.sandbox,
        "temperature_requested": settings.temperature if asks else None,
        "temperature_sent": _temperature(session) if asks else None,
        "total_cost": round(own.cost, _COST_DIGITS),
        "cost_of_cached": round(session.cost_of_cached, _COST_DIGITS),
        "calls": own.calls,
        # What the run id has cost over all of its resumes and processes.
        "run_calls": spending.calls,
        "run_cost": round(spending.cost, _COST_DIGITS),
        "lost_calls": spending.lost_calls,
        "lost_cost": round(spending.lost_cost, _COST_DIGITS),
        "cache_hits": session.cache_hits,
        "unpriced": own.calls > 0 and None in session.prices.values(),
        "price_source": next((each.source for each in session.prices.values() if each), None),
        "dataset_sha256": work.dataset_sha256,
        "skill_sha256s": dict(sorted(work.skill_sha256s.items())),
        "aborted": stopped is not None,
        "stop_reason": reason,
        "stop_message": message,
        "fail_fast_reason": message if reason == "fail_fast" else None,
        "missing": len(session.missing),
    }


def _backend(session: ModelSession) -> str:
    """Return who answered: ``fake``, ``live``, or ``replay`` where all answers are cached."""
    return "fake" if session.fake else "live" if session.live else "replay"


def _temperature(session: ModelSession) -> float | None:
    settings = session.settings
    request = ModelRequest(settings.model, "", "", temperature=settings.temperature)
    temperature = session.model.parameters(request).get("temperature")
    return float(temperature) if isinstance(temperature, int | float) else None
