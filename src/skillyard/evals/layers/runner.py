"""Executes a prepared run and writes its results file, also when the run is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import fsum
from typing import Any, NamedTuple

from skillyard.evals.layers.looks import run_in_looks
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.scheduler import run_jobs
from skillyard.evals.layers.session import ModelSession, SessionCounts
from skillyard.evals.layers.work import LayerWork, load_layer
from skillyard.evals.models.calls import Calls, Counts
from skillyard.evals.models.ledger import Spending
from skillyard.evals.models.protocol import RunStopped
from skillyard.evals.settings import RunSettings
from skillyard.evals.statistics.pairs import OVERALL
from skillyard.evals.storage.entries import GENERATIONS, JUDGEMENTS
from skillyard.evals.storage.events import START, Events
from skillyard.evals.storage.results import (
    DEGRADED,
    SCHEMA,
    TRUNCATED_PAIR,
    write_results,
)

COST_DIGITS = 6


def moment() -> str:
    """Return the time now: ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class RunStep:
    """The progress of a run."""

    done: int
    total: int
    """Cases."""
    calls: int
    """Requests sent so far."""
    cost: float
    """US dollars so far."""


class RunModels(NamedTuple):
    """The models of a run, behind its budget and its cache."""

    session: ModelSession | None = None
    """None for a run without a model."""
    calls: Calls | None = None
    """None for a run without network."""
    price_source: str = ""
    """Empty where no price is known."""


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
        if LAYERS[self.envelope["meta"]["eval_type"]].routes:
            overall = self.envelope["summary"][OVERALL]
            if not overall["n"]:
                return 0
        return sum(not case["errors"] and not case["skipped"] for case in self.envelope["cases"])


def execute(
    work: LayerWork,
    *,
    results: str,
    run_id: str,
    models: RunModels | None,
    stop: threading.Event,
    on_step: Callable[[RunStep], None] = lambda step: None,
    engine_version: str = "",
) -> EvaluationResult:
    """Run the cases, write ``<type>_<run_id>.json``, and return its content.

    ``models`` is None for runs without a model. A stopped run writes its cases so far and the
    reason. Raises SkillIoError if the file cannot be written, and InvalidInput for a scorer that is
    not available.
    """
    started, settings = time.monotonic(), work.settings
    session, calls, price_source = models or RunModels()
    events = Events(results, run_id)
    try:
        started_at = moment()
        events.append(
            START,
            timestamp=started_at,
            settings=settings.to_dict(),
            dataset_sha256=work.dataset_sha256,
        )
        progress = _ProgressReporter(events, calls, on_step)
        layer = load_layer(settings.eval_type)
        run = layer.run(work, session, progress.case)
        progress.total = len(run.cases(""))
        # Without network calls, more threads only share one interpreter.
        concurrency = settings.concurrency if calls is not None else 1
        looks = None
        if settings.until_decided:
            looks = run_in_looks(
                layer,
                work,
                session,
                progress.case,
                lambda jobs: run_jobs(jobs, concurrency, stop),
            )
            cases, stopped = looks.cases, looks.stopped
        else:
            stopped = run_jobs(run.jobs(), concurrency, stop)
            cases = run.cases(stopped.reason if stopped is not None else "")
        meta = _meta(work, run_id, started_at, session, calls, stopped)
        meta["until_decided"] = looks.to_dict() if looks is not None else None
        meta["price_source"] = price_source or None
        meta["engine_version"] = engine_version or None
        for case in cases:
            case["run_id"], case["timestamp"] = run_id, started_at
        summary, artifacts = layer.summarise(cases, work)
        if session is not None:
            artifacts["cost"] = _cost_by_kind(session.counts.costs)
        meta["degraded"] = _degraded(cases)
        meta["duration_s"] = round(time.monotonic() - started, 3)
        envelope = {"meta": meta, "summary": summary, "cases": cases, "artifacts": artifacts}
        path = write_results(results, envelope)
        events.append("end", timestamp=moment(), stop_reason=meta["stop_reason"])
        missing = tuple(sorted(session.counts.missing)) if session is not None else ()
        return EvaluationResult(path, envelope, missing)
    finally:
        events.close()


def _degraded(cases: Sequence[Mapping[str, Any]]) -> bool:
    """True when too many of the cases that were worked on are errors, or have a cut answer."""
    worked_on = [case for case in cases if case["skipped"] in (None, TRUNCATED_PAIR)]
    failed = sum(bool(case["errors"] or case["skipped"]) for case in worked_on)
    return failed > DEGRADED * len(worked_on)


class _ProgressReporter:
    """Writes an event for each finished case, and reports the progress."""

    def __init__(
        self, events: Events, calls: Calls | None, on_step: Callable[[RunStep], None]
    ) -> None:
        self._events = events
        self._calls = calls
        self._on_step = on_step
        self._guard = threading.Lock()
        self._cases_done = 0
        self._attempts = 0
        self.total = 0

    def case(self, case: Mapping[str, Any]) -> None:
        counts = self._calls.counts if self._calls is not None else Counts()
        with self._guard:
            paid, self._attempts = (
                counts.attempts > self._attempts,
                max(self._attempts, counts.attempts),
            )
        fields = _event_fields(case)
        self._events.append(
            "case", wait=paid, case=case["id"], run_index=case["run_index"], **fields
        )
        with self._guard:
            self._cases_done += 1
            self._on_step(RunStep(self._cases_done, self.total, counts.attempts, counts.cost))


def _event_fields(case: Mapping[str, Any]) -> dict[str, Any]:
    names = ("winner", "improvement", "passed", "predicted", "skipped", "cost")
    fields = {name: case[name] for name in names if case.get(name) is not None}
    return {**fields, "errors": [error["kind"] for error in case["errors"]]}


def _cost_by_kind(costs: Mapping[str, float]) -> dict[str, float]:
    """Return the cost of the answers and of the judgements of a run, including cached ones."""
    folders = {"generation": GENERATIONS, "judging": JUDGEMENTS}
    return {
        name: round(
            fsum(cost for path, cost in costs.items() if path.startswith(kind)), COST_DIGITS
        )
        for name, kind in folders.items()
    }


def _meta(
    work: LayerWork,
    run_id: str,
    started_at: str,
    session: ModelSession | None,
    calls: Calls | None,
    stopped: RunStopped | None,
) -> dict[str, Any]:
    settings = work.settings
    counts = calls.counts if calls is not None else Counts()
    spending = calls.spending() if calls is not None else Spending()
    spent = session.counts if session is not None else SessionCounts()
    asks = settings.asks_models
    options = LAYERS[settings.eval_type].options
    reason = stopped.reason if stopped is not None else None
    message = str(stopped) if stopped is not None else None
    return {
        "schema": SCHEMA,
        "run_id": run_id,
        "timestamp": started_at,
        "eval_type": settings.eval_type,
        "backend": _backend(session, calls),
        "provider": settings.provider if asks else None,
        "host": settings.host if asks else None,
        "model": settings.model if asks else None,
        "judge_model": settings.judge_model if "judge" in options else None,
        "router": settings.router if "router" in options else None,
        "seed": settings.seed,
        "runs": settings.runs,
        "orders": settings.orders if "judge" in options else None,
        "limit": settings.limit,
        "skill": settings.skill,
        "old_version": settings.old_version,
        "sandbox": settings.sandbox,
        "temperature_requested": settings.temperature if asks else None,
        "temperature_sent": _temperature(settings, session),
        "total_cost": round(counts.cost, COST_DIGITS),
        "cost_of_cached": round(spent.cost_of_cached, COST_DIGITS),
        "calls": counts.attempts,
        # What the run id has cost over all of its resumes and processes.
        "run_calls": spending.calls,
        "run_cost": round(spending.cost, COST_DIGITS),
        "lost_calls": spending.lost_calls,
        "lost_cost": round(spending.lost_cost, COST_DIGITS),
        "cache_hits": spent.cache_hits,
        "unpriced": spent.unpriced,
        "max_cost": settings.max_cost if asks else None,
        "max_calls": settings.max_calls if asks else None,
        "sdk": sorted(spent.sdks),
        "judge_prompt_version": ", ".join(sorted(spent.judge_versions)) or None,
        "dataset_sha256": work.dataset_sha256,
        "skill_sha256s": dict(sorted(work.skill_sha256s.items())),
        "aborted": stopped is not None,
        "stop_reason": reason,
        "stop_message": message,
        "fail_fast_reason": message if reason == "fail_fast" else None,
        "missing": len(spent.missing),
    }


def _backend(session: ModelSession | None, calls: Calls | None) -> str:
    """Return the backend: ``none`` (scorers), ``fake``, ``live``, or ``replay`` (all cached)."""
    if session is None:
        return "none"
    if session.counts.fake:
        return "fake"
    return "live" if calls is not None and session.counts.live else "replay"


def _temperature(settings: RunSettings, session: ModelSession | None) -> float | None:
    if session is None or not settings.model:
        return None
    from skillyard.evals.models.protocol import ModelRequest

    parameters = session.model.sent(
        ModelRequest(settings.model, "", "", temperature=settings.temperature)
    )
    temperature = parameters.get("temperature")
    return float(temperature) if isinstance(temperature, int | float) else None
