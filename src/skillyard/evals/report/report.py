"""The view model of a report: terminal, HTML, Markdown and JUnit are drawn from it.

The first tables answer in one line a skill. What else decided follows, and the rest is folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.work import load_layer
from skillyard.evals.report.values import (
    Badge,
    Json,
    LayerView,
    ReportTable,
    Results,
    cell_text,
    errors_of,
    many,
    money,
    outcome,
    percent,
    visible_line,
    whole,
)
from skillyard.evals.storage import DEGRADED, TRUNCATED_PAIR

_FAKE = "Made by a stand-in server: says nothing about any skill"
_FAKE_TEXT = (
    "The answers come from a program that imitates a model’s interface. They show that the "
    "evaluation runs, not how any skill does."
)
PROOF = (
    "It holds for these requests, this model and this judge, or for this router and this index.",
    "A score is a judge’s opinion: nothing has been run, and another judge may see it otherwise.",
    "“Not enough data” does not say that two arms are equal.",
    "Intervals hold for all skills together in 19 runs of 20.",
    "Answers see one skill: whether it is chosen beside others, `eval run activation` shows.",
    "The unit is the request: more runs of one request do not count as more requests.",
)
"""What results prove, and what they do not."""
_CHANGES = {
    "regression": Badge("▼", "regression", "bad"),
    "improvement": Badge("▲", "improvement", "good"),
}
"""By status; others are open."""
_RECORD = (
    *("total_cost", "calls", "run_cost", "run_calls", "lost_cost", "lost_calls", "cost_of_cached"),
    *("cache_hits", "unpriced", "price_source", "run_id", "timestamp"),
    *("provider", "model", "judge_model", "router", "runs", "orders", "seed", "skill"),
    *("temperature_requested", "temperature_sent", "dataset_sha256", "engine_version"),
)
"""All of ``meta`` that is needed to know the cost of a run, and to repeat it."""
_NAMED = 5
"""Skills that a banner names."""


class Banner(NamedTuple):
    """One warning above the figures, with a line for each run that it is about."""

    head: str
    lines: Sequence[str]
    is_fake: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report shows."""

    banners: tuple[Banner, ...]
    changes: tuple[Json, ...]
    """The lines of a comparison with the baseline (:mod:`skillyard.evals.statistics.changes`):
    ``eval_type``, ``entity``, ``measure``, ``status`` and ``message``; regressions first."""
    changed: ReportTable
    """What moved."""
    parts: tuple[tuple[Results, LayerView], ...]
    """Each run with what its layer shows, for formats that list every case."""


def build_report(
    envelopes: Sequence[Mapping[str, object]], *, changes: Sequence[Mapping[str, object]] = ()
) -> Report:
    """Return the report on results; ``changes`` are those against a baseline."""
    known = (each for each in envelopes if Json(each).text("meta", "eval_type") in LAYERS)
    runs = sorted(map(Results, known), key=_place)
    parts = tuple((run, _view_of(run)) for run in runs)
    warnings: dict[str, list[str]] = {}
    for run, view in parts:
        for head, text in _warnings(run, view):
            warnings.setdefault(head, []).append(f"{run.name}: {text}")
    if not any(run.cases for run in runs):
        warnings["No cases"] = ["There is nothing to report on."]
    banners = [Banner(*each) for each in warnings.items()]
    if fake := [run.name for run in runs if run.is_fake]:
        about = f"This is about {', '.join(fake)}. " if len(fake) < len(runs) else ""
        banners.insert(0, Banner(_FAKE, [f"{about}{_FAKE_TEXT}"], is_fake=True))
    in_order = sorted(map(Json, changes), key=lambda each: each.text("status") != "regression")
    return Report(tuple(banners), tuple(in_order), _changed(in_order), parts)


def _place(run: Results) -> tuple[bool, str, str, str]:
    """Return where results stand: those with verdicts first, by layer, then by time and run id."""
    times = run.text("meta", "timestamp"), run.text("meta", "run_id")
    return not run.layer.decides, run.layer.code, *times


def _view_of(run: Results) -> LayerView:
    """Return what reports show of results: what its layer shows, and how it was run.

    Nothing follows from a stand-in but to ask a model, and no colour suggests a result.
    """
    view = load_layer(run.layer.name).view(run.value)
    rows = []
    for *cells, action in view.verdicts.rows:
        text = "run it with a model" if run.is_fake else cell_text(action)
        rows.append((*cells, Badge("→", text, "act") if text else "keep"))
    stamp = " (stand-in)" if run.is_fake else ""
    title = f"{run.layer.code} {view.verdicts.title}{stamp}"
    tables = (*view.tables, _not_counted(run.cases), _record(run))
    return view._replace(
        verdicts=view.verdicts._replace(title=title, rows=tuple(rows)),
        tables=tuple(
            each._replace(title=f"{each.title}{'' if each.is_closed else stamp}")
            for each in sorted(tables, key=lambda each: each.is_closed)
            if each.rows
        ),
    )


def _warnings(run: Results, view: LayerView) -> Iterator[tuple[str, str]]:
    """Yield what must be known before the figures of a run: a head and a sentence."""
    meta, trust = run.at("meta"), run.at("artifacts", "trust")
    if meta.flag("aborted"):
        why = meta.text("stop_message") or meta.text("stop_reason") or "no reason is recorded"
        counted = f"{whole(_counted(run.cases))} of {many(len(run.cases), 'case')}"
        yield "Stopped before its end", f"{why}. Counted: {counted}."
    if trust.flag("trusted") is False:
        yield "The judge failed a check, so there is no verdict", trust.text("sentence")
    cut = sum(case.text("skipped") == TRUNCATED_PAIR for case in run.cases)
    failed = cut + sum(bool(errors_of(case)) for case in run.cases)
    attempted = sum(case.text("skipped") in ("", TRUNCATED_PAIR) for case in run.cases)
    if meta.flag("degraded") or failed > DEGRADED * attempted:
        share = f" ({percent(failed / attempted)})" if attempted else ""
        of = f"{whole(failed)} of {many(attempted, 'case')}{share}"
        text = f"{of} ended in an error or with a cut answer. The rest may differ."
        yield "Too many errors to rely on the rates", text
    if (limit := meta.count("limit")) is not None:
        text = f"at most {whole(limit)} cases. It cannot become a baseline."
        yield "A sample, not the whole dataset", text
    if missing := meta.count("missing"):
        text = f"a replay needs {many(missing, 'answer')} more, and makes no calls."
        yield "Stored answers are missing", text
    if view.lost:
        more = len(view.lost) - _NAMED
        end = f" and {many(more, 'more line')}" if more > 0 else ""
        text = f"{'; '.join(view.lost[:_NAMED])}{end}."
        yield "Answers that one arm did not give: the lowest score", text


def _counted(cases: Sequence[Json]) -> int:
    """Return the number of cases from which the figures are computed."""
    return sum(outcome(case)[0] not in ("error", "skipped", "unscored") for case in cases)


def _record(run: Results) -> ReportTable:
    """Return the cost of one run, and all that is needed to repeat it."""
    meta, rows = run.at("meta"), []
    for name in _RECORD:
        number = meta.number(name)
        text = meta.text(name) or ", ".join(meta.names(name)) or ("yes" if meta.flag(name) else "")
        if number is not None:
            text = money(number) if "cost" in name else f"{number:g}"
        if text and not (run.is_fake and ("cost" in name or "price" in name)):
            rows.append((name.replace("_", " "), text))
    title, columns = "What it cost, and how it was run", ("What", "Value")
    return ReportTable(title, columns, tuple(rows), is_closed=True)


def _not_counted(cases: Sequence[Json]) -> ReportTable:
    """Return the causes by kind and state, each with its number of cases and one message.

    A case with errors of several kinds counts once for each.
    """
    messages: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        state, why = outcome(case)
        if state in ("error", "skipped", "unscored", "lost"):
            for kind, message in (dict(reversed(errors_of(case))) or {why: ""}).items():
                messages.setdefault((kind, state), []).append(message)
    rows = (
        (kind, state, whole(len(each)), visible_line(max(each, key=bool), 200))
        for (kind, state), each in sorted(messages.items())
    )
    note = "These cases gave no figure and are in none; lost ones count as the lowest score."
    columns = ("Why", "What", "Cases", "For example")
    return ReportTable("Not counted", columns, tuple(rows), note, is_closed=True)


def _changed(changes: Sequence[Json]) -> ReportTable:
    """Return what moved; the numbers of the others are the note."""
    statuses = Counter(change.text("status") for change in changes)
    unchanged, unclear = statuses["unchanged"], statuses["cannot tell"]
    note = [f"{many(unchanged, 'measure')} unchanged."] if unchanged else []
    note += [f"Cannot tell for {many(unclear, 'measure')}: too few cases."] if unclear else []
    rows = []
    for each in changes:
        entity, status = each.text("entity"), each.text("status")
        badge = _CHANGES.get(status) or Badge("○", visible_line(status, 30) or "no status", "open")
        if status not in ("unchanged", "cannot tell"):
            layer = LAYERS.get(each.text("eval_type"))
            name = "all together" if entity == "_overall" else entity
            rows.append((name, layer.code if layer else "", badge, each.text("message")))
    columns = ("What", "Layer", "Change", "In figures")
    return ReportTable("Against the baseline", columns, tuple(rows), " ".join(note))
