"""The head of a report: what was run, the backend, the cost, and warnings in banners.

A banner marks a run with a stand-in server, and one that was stopped, sampled or degraded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from skillyard.evals.report.layers import layer_of
from skillyard.evals.report.markup import visible_line
from skillyard.evals.report.outcomes import tally
from skillyard.evals.report.values import at, count, flag, mapping, names, number, rows, word
from skillyard.evals.report.words import UNKNOWN, decimal, duration, many, money, percent, whole

__all__ = [
    "FAKE",
    "Banner",
    "Fact",
    "backend",
    "banners",
    "cost",
    "facts",
    "is_degraded",
    "provenance",
]

FAKE = "Made by a stand-in server: says nothing about any skill"
_FAKE_TEXT = (
    "The answers and verdicts come from a program that imitates a model’s interface. They show "
    "that the evaluation runs, not how any skill does."
)
_LETTERS = 80
DEGRADED = 0.10
"""More than this share of errors marks a run as degraded (spec 1.14)."""


class Banner(NamedTuple):
    """One warning above the figures."""

    kind: str
    """``fake``, ``stopped``, ``degraded``, ``limited`` or ``empty``: its class."""
    head: str
    lines: tuple[str, ...]


class Fact(NamedTuple):
    """One line of a list of facts."""

    name: str
    value: str
    note: str = ""


_BACKENDS = {
    "live": "a live model",
    "replay": "kept answers of an earlier run; no call was made",
    "fake": "a stand-in server, not a model",
    "none": "skillyard’s own scorer; no model",
}
_SHORT = {"live": "live", "replay": "replayed", "fake": "stand-in", "none": "own scorer"}
_STOP_REASONS = {
    "budget": "the limit on cost or calls was reached",
    "fail_fast": "the same failure came again and again",
    "interrupted": "somebody interrupted it",
}


def backend(envelope: Mapping[str, object]) -> str:
    """Return who answered, in words."""
    name = word(at(envelope, "meta", "backend"))
    return _BACKENDS.get(name, name or "not recorded")


def banners(envelopes: Sequence[Mapping[str, object]]) -> tuple[Banner, ...]:
    """Return the warnings of a report, the weightiest first; each names the layers it is about."""
    fake = [each for each in envelopes if word(at(each, "meta", "backend")) == "fake"]
    stop_lines = [_stop_line(each) for each in envelopes if flag(at(each, "meta", "aborted"))]
    degraded = [_degraded(each) for each in envelopes if is_degraded(each)]
    limited = _limited(envelopes)
    result = []
    if fake:
        about = _about(fake) + " " if len(fake) < len(envelopes) else ""
        result.append(Banner("fake", FAKE, (about + _FAKE_TEXT,)))
    if stop_lines:
        result.append(Banner("stopped", "Stopped before its end", tuple(stop_lines)))
    if degraded:
        result.append(Banner("degraded", "Too many errors to rely on the rates", tuple(degraded)))
    if limited:
        result.append(Banner("limited", "A sample, not the whole dataset", tuple(limited)))
    missing = [_missing_line(each) for each in envelopes if count(at(each, "meta", "missing"))]
    if missing:
        result.append(Banner("stopped", "Kept answers are missing", tuple(missing)))
    if not any(rows(each.get("cases")) for each in envelopes):
        result.append(Banner("empty", "No cases", ("There is nothing to report on.",)))
    return tuple(result)


def _name(envelope: Mapping[str, object]) -> str:
    layer = layer_of(envelope)
    return f"{layer.code} {layer.name}"


def _about(some: Sequence[Mapping[str, object]]) -> str:
    return f"This is about {', '.join(_name(each) for each in some)}."


def _stop_line(envelope: Mapping[str, object]) -> str:
    meta = mapping(envelope.get("meta"))
    counts = tally(rows(envelope.get("cases")))
    reason = word(meta.get("stop_reason"))
    why = _STOP_REASONS.get(reason, reason) or "no reason is recorded"
    detail = word(meta.get("fail_fast_reason")) or word(meta.get("stop_message"))
    return (
        f"{_name(envelope)}: {why}{f' ({detail})' if detail else ''}. "
        f"Counted: {whole(counts.with_result)} of {many(counts.cases, 'case')}; "
        f"skipped: {whole(counts.skipped)}."
    )


def is_degraded(envelope: Mapping[str, object]) -> bool:
    """True if the run is marked as degraded, or over a tenth of its attempted cases are errors."""
    counts = tally(rows(envelope.get("cases")))
    attempted = counts.cases - counts.skipped
    return bool(flag(at(envelope, "meta", "degraded"))) or counts.errors > DEGRADED * attempted


def _degraded(envelope: Mapping[str, object]) -> str:
    counts = tally(rows(envelope.get("cases")))
    attempted = counts.cases - counts.skipped
    share = f" ({percent(counts.errors / attempted)})" if attempted else ""
    return (
        f"{_name(envelope)}: {whole(counts.errors)} of {many(attempted, 'case')}{share} ended "
        "in an error. They are in no figure, and what is left may not be like them."
    )


def _missing_line(envelope: Mapping[str, object]) -> str:
    answers = many(count(at(envelope, "meta", "missing")), "kept answer")
    return f"{_name(envelope)}: a replay makes no calls, and {answers} that it needs are not here."


def _limited(envelopes: Sequence[Mapping[str, object]]) -> list[str]:
    by_limit: dict[int, list[str]] = {}
    for each in envelopes:
        limit = count(at(each, "meta", "limit"))
        if limit is not None:
            by_limit.setdefault(limit, []).append(_name(each))
    return [
        f"{', '.join(layers)}: a seeded sample of at most {whole(limit)} was run. Such a run can "
        "never become a baseline."
        for limit, layers in by_limit.items()
    ]


def _distinct(envelopes: Iterable[Mapping[str, object]], *path: str) -> str:
    values = dict.fromkeys(word(at(each, *path)) for each in envelopes)
    return ", ".join(visible_line(each, _LETTERS) for each in values if each)


def facts(envelopes: Sequence[Mapping[str, object]]) -> tuple[Fact, ...]:
    """Return what was run, over all layers: at the head of a report."""
    times = sorted(time for each in envelopes if (time := word(at(each, "meta", "timestamp"))))
    counts = tally(case for each in envelopes for case in rows(each.get("cases")))
    apart = [
        f"{whole(count)} {name}"
        for count, name in (
            (counts.errors, "with errors"),
            (counts.skipped, "skipped"),
            (counts.unscored, "without a verdict"),
        )
        if count
    ]
    costs = [number(at(each, "meta", "total_cost")) for each in envelopes]
    known_costs = [each for each in costs if each is not None]
    all_facts = (
        Fact("Run", _when(times)),
        Fact("Answered by", _answered_by(envelopes)),
        Fact("Model", _distinct(envelopes, "meta", "model")),
        Fact("Judge", _distinct(envelopes, "meta", "judge_model")),
        Fact("Router", _routers(envelopes)),
        Fact(
            "Cases",
            f"{whole(counts.with_result)} of {whole(counts.cases)} counted",
            ", ".join(apart),
        ),
        Fact("Cost", money(sum(known_costs)) if known_costs else UNKNOWN),
    )
    return tuple(fact for fact in all_facts if fact.value and fact.value != UNKNOWN)


def _answered_by(envelopes: Sequence[Mapping[str, object]]) -> str:
    """Return who answered; by layer where it was not the same for all."""
    codes_by_backend: dict[str, list[str]] = {}
    for each in envelopes:
        name = word(at(each, "meta", "backend"))
        codes_by_backend.setdefault(_SHORT.get(name, name or "not recorded"), []).append(
            layer_of(each).code
        )
    if len(codes_by_backend) == 1:
        return backend(envelopes[0])
    return ", ".join(f"{who} ({', '.join(codes)})" for who, codes in codes_by_backend.items())


def _routers(envelopes: Sequence[Mapping[str, object]]) -> str:
    routers = dict.fromkeys(word(at(each, "meta", "router")) for each in envelopes if _routed(each))
    titles = {"model": "the model"}
    return ", ".join(
        titles.get(each, f"skillyard’s {visible_line(each, _LETTERS)}") for each in routers if each
    )


def _routed(envelope: Mapping[str, object]) -> bool:
    return word(at(envelope, "meta", "eval_type")) in ("activation", "confusion")


def _when(times: Sequence[str]) -> str:
    if not times:
        return ""
    days = [f"{time[:10]} {time[11:16]}".strip() for time in (times[0], times[-1])]
    return f"{days[0]} UTC" if days[0] == days[1] else f"{days[0]} to {days[1]} UTC"


def cost(envelope: Mapping[str, object]) -> tuple[Fact, ...]:
    """Return the cost of one run: generations, judgements, and entries from the cache."""
    meta = mapping(envelope.get("meta"))
    parts = mapping(at(envelope, "artifacts", "cost"))
    hits = count(meta.get("cache_hits"))
    max_cost, max_calls = number(meta.get("max_cost")), count(meta.get("max_calls"))
    all_facts = (
        Fact("In all", money(number(meta.get("total_cost"))), _calls(meta)),
        Fact("Making answers", money(number(parts.get("generation")))),
        Fact("Judging", money(number(parts.get("judging")))),
        Fact(
            "Kept from earlier runs",
            money(number(meta.get("cost_of_cached"))),
            f"{many(hits, 'answer')} not paid again" if hits is not None else "",
        ),
        Fact("Limit", _limit(max_cost, max_calls)),
        Fact("Prices from", word(meta.get("price_source"))),
        Fact("Time", duration(number(meta.get("duration_s")))),
    )
    return tuple(fact for fact in all_facts if fact.value and fact.value != UNKNOWN)


def _calls(meta: Mapping[str, object]) -> str:
    calls = many(count(meta.get("calls")), "call")
    unknown = "; some are not in it, for their price is not known"
    return f"{calls}{unknown if flag(meta.get('unpriced')) else ''}"


def _limit(max_cost: float | None, max_calls: int | None) -> str:
    parts = [money(max_cost)] if max_cost is not None else []
    parts += [many(max_calls, "call")] if max_calls is not None else []
    return ", ".join(parts)


def provenance(envelope: Mapping[str, object]) -> tuple[Fact, ...]:
    """Return all that is needed to repeat one run."""
    meta = mapping(envelope.get("meta"))
    temperature_sent = number(meta.get("temperature_sent"))
    temperature_requested = number(meta.get("temperature_requested"))
    heat = ""
    if temperature_requested is not None:
        sent_text = (
            "not sent: the model takes none"
            if temperature_sent is None
            else f"{decimal(temperature_sent, 1)} sent"
        )
        heat = f"{decimal(temperature_requested, 1)} asked for, {sent_text}"
    orders = {"both": "both, swapped and merged", "single": "one, drawn by the seed"}
    orders_name = word(meta.get("orders"))
    all_facts = [
        Fact("Run", word(meta.get("run_id"))),
        Fact("Time", word(meta.get("timestamp"))),
        Fact("Answered by", backend(envelope)),
        Fact("Provider", word(meta.get("provider"))),
        Fact("Model", word(meta.get("model"))),
        Fact("Judge", word(meta.get("judge_model"))),
        Fact("Further judges", ", ".join(names(meta.get("more_judges")))),
        Fact("Index", word(meta.get("index"))),
        Fact("Router", word(meta.get("router"))),
        Fact("Runs", whole(count(meta.get("runs")))),
        Fact("Orders of judging", orders.get(orders_name, orders_name)),
        Fact("Seed", whole(number(meta.get("seed"))).replace(",", "")),
        Fact("Filter", word(meta.get("skill")) or word(meta.get("group"))),
        Fact("Temperature", heat),
        Fact("Judge prompt", word(meta.get("judge_prompt_version"))),
        Fact("Dataset SHA-256", word(meta.get("dataset_sha256"))),
        Fact("Engine", word(meta.get("engine_version"))),
        Fact("Client library", word(meta.get("sdk")) or ", ".join(names(meta.get("sdk")))),
    ]
    hashes = mapping(meta.get("skill_sha256s"))
    all_facts += [Fact(f"SHA-256 of {name}", word(hashes[name])) for name in sorted(hashes)]
    return tuple(fact for fact in all_facts if fact.value and fact.value != UNKNOWN)
