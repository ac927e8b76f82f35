"""The head of a report: warnings in banners, and the facts of its runs.

A banner marks a run with a stand-in server, and one that was stopped, sampled or degraded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from skillyard.evals.report.layer_view import Fact
from skillyard.evals.report.results import Results, State, states_of
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    decimal,
    duration,
    many,
    money,
    percent,
    visible_line,
    whole,
)
from skillyard.evals.storage.results import DEGRADED

_FAKE = "Made by a stand-in server: says nothing about any skill"
_FAKE_TEXT = (
    "The answers come from a program that imitates a model’s interface. They show that the "
    "evaluation runs, not how any skill does."
)
_LETTERS = 80
_STOP_REASONS = {
    "budget": "the limit on cost or calls was reached",
    "fail_fast": "the same failure came again and again",
    "interrupted": "somebody interrupted it",
}
_ORDERS = {"both": "both, swapped and merged", "single": "one, drawn by the seed"}


class Banner(NamedTuple):
    """One warning above the figures."""

    kind: str
    """``fake``, ``stopped``, ``degraded``, ``limited`` or ``empty``: its class."""
    head: str
    lines: tuple[str, ...]


def banners(runs: Sequence[Results]) -> tuple[Banner, ...]:
    """Return the warnings of a report, the weightiest first; each names the layers it is about."""
    fake = [run.name for run in runs if run.is_fake]
    about = f"This is about {', '.join(fake)}. " if len(fake) < len(runs) else ""
    possible = (
        Banner("fake", _FAKE, (f"{about}{_FAKE_TEXT}",) if fake else ()),
        Banner("stopped", "Stopped before its end", _lines(_stopped, runs)),
        Banner("degraded", "Too many errors to rely on the rates", _lines(_degraded, runs)),
        Banner("limited", "A sample, not the whole dataset", tuple(_limited(runs))),
        Banner("stopped", "Stored answers are missing", _lines(_missing, runs)),
    )
    shown = [banner for banner in possible if banner.lines]
    if not any(run.cases for run in runs):
        shown.append(Banner("empty", "No cases", ("There is nothing to report on.",)))
    return tuple(shown)


def _lines(line_of: Callable[[Results], str], runs: Sequence[Results]) -> tuple[str, ...]:
    return tuple(filter(None, map(line_of, runs)))


def _stopped(run: Results) -> str:
    meta, states = run.at("meta"), states_of(run.cases)
    if not meta.flag("aborted"):
        return ""
    reason = meta.text("stop_reason")
    why = _STOP_REASONS.get(reason, reason) or "no reason is recorded"
    detail = meta.text("fail_fast_reason") or meta.text("stop_message")
    return (
        f"{run.name}: {why}{f' ({detail})' if detail else ''}. "
        f"Counted: {whole(_counted(states))} of {many(states.total(), 'case')}; "
        f"skipped: {whole(states['skipped'])}."
    )


def _counted(states: Counter[State]) -> int:
    """Return the number of cases from which the figures are computed."""
    return states["scored"] + states["passed"] + states["failed"]


def _degraded(run: Results) -> str:
    states = states_of(run.cases)
    errors, attempted = states["error"], states.total() - states["skipped"]
    if not run.flag("meta", "degraded") and errors <= DEGRADED * attempted:
        return ""
    share = f" ({percent(errors / attempted)})" if attempted else ""
    return (
        f"{run.name}: {whole(errors)} of {many(attempted, 'case')}{share} ended "
        "in an error. They are in no figure, and what is left may not be like them."
    )


def _limited(runs: Sequence[Results]) -> Iterator[str]:
    by_limit: dict[int, list[str]] = {}
    for run in runs:
        limit = run.count("meta", "limit")
        if limit is not None:
            by_limit.setdefault(limit, []).append(run.name)
    for limit, layers in by_limit.items():
        yield (
            f"{', '.join(layers)}: a seeded sample of at most {whole(limit)}. Such a run cannot "
            "become a baseline."
        )


def _missing(run: Results) -> str:
    missing = run.count("meta", "missing")
    if not missing:
        return ""
    answers = many(missing, "answer")
    return f"{run.name}: a replay makes no calls, and it needs {answers} that are not stored."


def run_facts(runs: Sequence[Results]) -> tuple[Fact, ...]:
    """Return what was run, over all layers."""
    states = states_of(case for run in runs for case in run.cases)
    apart = (
        ("with errors", states["error"]),
        ("skipped", states["skipped"]),
        ("without a verdict", states["unscored"]),
    )
    costs = [cost for run in runs if (cost := _run_cost(run.at("meta"))) is not None]
    facts = (
        Fact("Run", _when(runs)),
        Fact("Answered by", ", ".join(dict.fromkeys(run.answered_by for run in runs))),
        Fact("Model", _distinct(runs, "model")),
        Fact("Judge", _distinct(runs, "judge_model")),
        Fact("Router", _distinct(runs, "router")),
        Fact(
            "Cases",
            f"{whole(_counted(states))} of {whole(states.total())} counted",
            ", ".join(f"{whole(amount)} {name}" for name, amount in apart if amount),
        ),
        Fact("Cost", money(sum(costs)) if costs else ""),
    )
    return tuple(fact for fact in facts if fact.value)


def _distinct(runs: Sequence[Results], name: str) -> str:
    values = dict.fromkeys(run.text("meta", name) for run in runs)
    return ", ".join(visible_line(each, _LETTERS) for each in values if each)


def _when(runs: Sequence[Results]) -> str:
    times = sorted(filter(None, (run.text("meta", "timestamp") for run in runs)))
    if not times:
        return ""
    first, last = (f"{time[:10]} {time[11:16]}".strip() for time in (times[0], times[-1]))
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def cost_facts(run: Results) -> tuple[Fact, ...]:
    """Return the cost of one run: generations, judgements, and entries from the cache."""
    meta, parts = run.at("meta"), run.at("artifacts", "cost")
    hits, max_cost, max_calls = (
        meta.count("cache_hits"),
        meta.number("max_cost"),
        meta.count("max_calls"),
    )
    limits = [money(max_cost)] if max_cost is not None else []
    limits += [many(max_calls, "call")] if max_calls is not None else []
    unpriced = "; some have no known price and are not in it" if meta.flag("unpriced") else ""
    return (
        Fact(
            "In this part" if run.is_part else "In all",
            money(meta.number("total_cost")),
            f"{many(meta.count('calls'), 'call')}{unpriced}",
        ),
        *_whole_run(run),
        Fact("Making answers", money(parts.number("generation"))),
        Fact("Judging", money(parts.number("judging"))),
        Fact(
            "Stored by earlier runs",
            money(meta.number("cost_of_cached")),
            f"{many(hits, 'answer')} not paid again" if hits is not None else "",
        ),
        Fact("Limit", ", ".join(limits)),
        Fact("Prices from", meta.text("price_source")),
        Fact("Time", duration(meta.number("duration_s"))),
    )


def _run_cost(meta: Json) -> float | None:
    """Return the cost over all resumes; older results hold only that of the last one."""
    run_cost = meta.number("run_cost")
    return meta.number("total_cost") if run_cost is None else run_cost


def _whole_run(run: Results) -> Iterator[Fact]:
    """Yield the cost of all resumes and what of it has no result, if there is more."""
    meta = run.at("meta")
    calls, lost = meta.count("run_calls") or 0, meta.count("lost_calls") or 0
    if not lost and not run.is_part:
        return
    note = many(calls, "call")
    if lost:
        cost_of_lost = money(meta.number("lost_cost"))
        note = f"{note}; {whole(lost)} without a result, which may have been billed: {cost_of_lost}"
    yield Fact("In all parts of the run", money(_run_cost(meta)), note)


def provenance_facts(run: Json) -> tuple[Fact, ...]:
    """Return all that is needed to repeat one run."""
    meta = run.at("meta")
    orders = meta.text("orders")
    return (
        Fact("Run", meta.text("run_id")),
        Fact("Time", meta.text("timestamp")),
        Fact("Provider", meta.text("provider")),
        Fact("Model", meta.text("model")),
        Fact("Judge", meta.text("judge_model")),
        Fact("Further judges", ", ".join(meta.names("more_judges"))),
        Fact("Index", meta.text("index")),
        Fact("Router", meta.text("router")),
        Fact("Runs", whole(meta.count("runs"))),
        Fact("Orders of judging", _ORDERS.get(orders, orders)),
        Fact("Seed", whole(meta.number("seed")).replace(",", "")),
        Fact("Filter", meta.text("skill") or meta.text("group")),
        Fact("Temperature", _temperature(meta)),
        Fact("Judge prompt", meta.text("judge_prompt_version")),
        Fact("Dataset SHA-256", meta.text("dataset_sha256")),
        Fact("Engine", meta.text("engine_version")),
        Fact("Client library", meta.text("sdk") or ", ".join(meta.names("sdk"))),
    )


def _temperature(meta: Json) -> str:
    requested, actual = meta.number("temperature_requested"), meta.number("temperature_sent")
    if requested is None:
        return ""
    end = "not sent: the model takes none" if actual is None else f"{decimal(actual, 1)} sent"
    return f"{decimal(requested, 1)} requested, {end}"
