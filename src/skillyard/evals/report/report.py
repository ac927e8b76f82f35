"""The view model of a report: terminal, HTML, Markdown and JUnit are drawn from it.

The first table answers in one line a skill. What decided follows, and everything else is folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.layers.work import load_layer
from skillyard.evals.report.layer_view import (
    Badge,
    Cell,
    Facts,
    Fold,
    LayerView,
    ReportRow,
    ReportTable,
    Results,
    SkillResult,
    State,
    errors_of,
    outcome,
    states_of,
    table_of_facts,
)
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    UNKNOWN,
    duration,
    many,
    money,
    percent,
    visible_line,
    whole,
)
from skillyard.evals.storage.results import DEGRADED, TRUNCATED_PAIR

_ALL = "all together"
_NOTE = (
    "Difference: points on the judge’s scale from 1 to 5 against no skill, with the interval that "
    "decided. Worst prompt: where the skill lost most, or gained least."
)
_NOTHING_PROVED = "That the evaluation runs. It proves nothing about any skill: no model answered."
_UNIT = (
    "Intervals hold for all skills together in 19 runs of 20. The unit is the request: runs and "
    "orders of one request are averaged first. What a model, a skill or a judge wrote is shown as "
    "text."
)
_FAKE = "Made by a stand-in server: says nothing about any skill"
_FAKE_TEXT = (
    "The answers come from a program that imitates a model’s interface. They show that the "
    "evaluation runs, not how any skill does."
)
_STOP_REASONS = {
    "budget": "the limit on cost or calls was reached",
    "fail_fast": "the same failure came again and again",
    "interrupted": "somebody interrupted it",
}
_CHANGES = {
    "regression": Badge("▼", "regression", "bad"),
    "not compared": Badge("○", "not compared", "open"),
    "improvement": Badge("▲", "improvement", "good"),
    "new": Badge("+", "new", "open"),
    "gone": Badge("−", "gone", "open"),
    "worse": Badge("▽", "worse, not gated", "bad"),
    "cannot tell": Badge("○", "cannot tell", "open"),
    "unchanged": Badge("=", "unchanged", "even"),
}
"""By status, in the order in which changes are shown."""
_PROVENANCE = (
    *("run_id", "timestamp", "provider", "model", "judge_model", "router"),
    *("runs", "orders", "seed", "skill", "temperature_requested", "temperature_sent"),
    *("judge_prompt_version", "dataset_sha256", "engine_version", "sdk"),
)
"""All of ``meta`` that is needed to repeat a run."""
_LETTERS = 80
_NAMED = 5
"""Skills that a banner names."""


_Part = tuple[Results, LayerView]
_RunResult = tuple[Results, SkillResult]


class Banner(NamedTuple):
    """One warning above the figures."""

    kind: str
    """``fake``, ``stopped``, ``degraded``, ``limited`` or ``empty``: its class."""
    head: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One layer in a report."""

    anchor: str
    run: Results
    """The results, for a format that lists every case."""
    lead: str
    tables: tuple[ReportTable, ...]
    findings: tuple[tuple[str, str], ...]
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report shows."""

    title: str
    banners: tuple[Banner, ...]
    facts: tuple[tuple[str, str], ...]
    skills: ReportTable
    """One line a skill: the verdict, what decided it, and what to do next."""
    pooled: tuple[str, ...]
    """Sentences on all skills together."""
    changes: tuple[Json, ...]
    """The lines of a comparison with the baseline (:mod:`skillyard.evals.regression`):
    ``eval_type``, ``entity``, ``measure``, ``status`` and ``message``; regressions first."""
    changed: ReportTable
    """What moved."""
    sections: tuple[Section, ...]
    folds: tuple[Fold, ...]


def build_report(
    envelopes: Sequence[Mapping[str, object]],
    *,
    title: str = "Skill evaluation",
    changes: Sequence[Mapping[str, object]] = (),
) -> Report:
    """Return the report on results; ``changes`` are those against a baseline."""
    runs = sorted(map(Results, envelopes), key=lambda run: run.place)
    parts = [(run, _view_of(run)) for run in runs]
    order = {status: place for place, status in enumerate(_CHANGES)}
    keys = ("eval_type", "entity", "measure")
    in_order = sorted(
        map(Json, changes),
        key=lambda each: (order.get(each.text("status"), 99), *map(each.text, keys)),
    )
    return Report(
        visible_line(title) or "Evaluation",
        tuple(_banners(parts)),
        tuple((name, value) for name, value in _run_facts(runs) if value),
        _skills(parts),
        tuple(
            f"{run.layer.code}: {sentence}{' (stand-in)' if run.is_fake else ''}"
            for run, view in parts
            for sentence in view.pooled
        ),
        tuple(in_order),
        _changed(in_order),
        tuple(_section(f"part-{place}", *part) for place, part in enumerate(parts, 1)),
        (_proof(parts),),
    )


def _view_of(run: Results) -> LayerView:
    """Return what reports show of results; nothing for an unknown layer."""
    if not run.layer.implementation or not isinstance(run.value, Mapping):
        return LayerView()
    return load_layer(run.layer.name).view(run.value)


def _banners(parts: Sequence[_Part]) -> Iterator[Banner]:
    """Yield the warnings of a report, the weightiest first; each names the layers it is about."""
    runs = [run for run, _ in parts]
    fake = [run.name for run in runs if run.is_fake]
    about = f"This is about {', '.join(fake)}. " if len(fake) < len(runs) else ""
    lines_of: tuple[tuple[str, str, Callable[[Results], str]], ...] = (
        ("stopped", "Stopped before its end", _stopped),
        ("degraded", "The judge failed a check, so there is no verdict", _distrusted),
        ("degraded", "Too many errors to rely on the rates", _degraded),
        ("limited", "A sample, not the whole dataset", _limited),
        ("stopped", "Stored answers are missing", _missing),
    )
    if fake:
        yield Banner("fake", _FAKE, (f"{about}{_FAKE_TEXT}",))
    for kind, head, line_of in lines_of:
        if lines := tuple(filter(None, map(line_of, runs))):
            yield Banner(kind, head, lines)
    if lines := tuple(filter(None, map(_lost, parts))):
        yield Banner("degraded", "Answers that one arm did not give: the lowest score", lines)
    if not any(run.cases for run in runs):
        yield Banner("empty", "No cases", ("There is nothing to report on.",))


def _stopped(run: Results) -> str:
    meta, states = run.at("meta"), states_of(run.cases)
    if not meta.flag("aborted"):
        return ""
    reason, detail = meta.text("stop_reason"), meta.text("stop_message")
    why = _STOP_REASONS.get(reason, reason) or "no reason is recorded"
    return (
        f"{run.name}: {why}{f' ({detail})' if detail else ''}. Counted: {whole(_counted(states))} "
        f"of {many(states.total(), 'case')}; skipped: {whole(states['skipped'])}."
    )


def _counted(states: Counter[State]) -> int:
    """Return the number of cases from which the figures are computed."""
    return states["scored"] + states["lost"] + states["passed"] + states["failed"]


def _degraded(run: Results) -> str:
    failed = attempted = 0
    for case in run.cases:
        cut = case.text("skipped") == TRUNCATED_PAIR
        attempted += cut or outcome(case).state != "skipped"
        failed += cut or bool(errors_of(case))
    if not run.flag("meta", "degraded") and failed <= DEGRADED * attempted:
        return ""
    share = f" ({percent(failed / attempted)})" if attempted else ""
    return (
        f"{run.name}: {whole(failed)} of {many(attempted, 'case')}{share} ended in an error or "
        "with a cut answer. What is left may not be like them."
    )


def _distrusted(run: Results) -> str:
    trust = run.at("artifacts", "trust")
    return f"{run.name}: {trust.text('sentence')}" if trust.flag("trusted") is False else ""


def _lost(part: _Part) -> str:
    run, view = part
    lost = [f"{name}: {each}" for name, of in view.results.items() for each in of.lost]
    more = f" and {many(len(lost) - _NAMED, 'more line')}" if len(lost) > _NAMED else ""
    return f"{run.name}: {'; '.join(lost[:_NAMED])}{more}." if lost else ""


def _limited(run: Results) -> str:
    limit = run.count("meta", "limit")
    if limit is None:
        return ""
    return (
        f"{run.name}: a seeded sample of at most {whole(limit)}. Such a run cannot become a "
        "baseline."
    )


def _missing(run: Results) -> str:
    missing = run.count("meta", "missing")
    if not missing:
        return ""
    answers = many(missing, "answer")
    return f"{run.name}: a replay makes no calls, and it needs {answers} that are not stored."


def _run_facts(runs: Sequence[Results]) -> Iterator[tuple[str, str]]:
    """Yield what was run, over all layers."""
    states = states_of(case for run in runs for case in run.cases)
    apart = (
        ("with errors", states["error"]),
        ("skipped", states["skipped"]),
        ("without a verdict", states["unscored"]),
    )
    notes = ", ".join(f"{whole(amount)} {name}" for name, amount in apart if amount)
    times = sorted(filter(None, (run.text("meta", "timestamp") for run in runs)))
    days = dict.fromkeys(f"{time[:10]} {time[11:16]}" for time in (times[:1] + times[-1:]))
    yield "Run", f"{' to '.join(days)} UTC" if days else ""
    yield "Answered by", ", ".join(dict.fromkeys(run.answered_by for run in runs))
    for title, key in (("Model", "model"), ("Judge", "judge_model"), ("Router", "router")):
        values = dict.fromkeys(run.text("meta", key) for run in runs)
        yield title, ", ".join(visible_line(each, _LETTERS) for each in values if each)
    counted = f"{whole(_counted(states))} of {whole(states.total())} counted"
    yield "Cases", f"{counted} ({notes})" if notes else counted
    costs = [cost for run in runs if (cost := _run_cost(run.at("meta"))) is not None]
    yield "Cost", money(sum(costs)) if costs else ""


def _run_cost(meta: Json) -> float | None:
    """Return the cost over all resumes; older results hold only that of the last one."""
    run_cost = meta.number("run_cost")
    return meta.number("total_cost") if run_cost is None else run_cost


def _skills(parts: Sequence[_Part]) -> ReportTable:
    """Return one row a skill, with the results of all layers; skills by name."""
    judged = [(run, view) for run, view in parts if view.results and not view.column]
    others = [(run, view) for run, view in parts if view.results and view.column]
    costs = _costs(run for run, _ in judged)
    rows = []
    for name in sorted({name for _, view in parts for name in view.results}):
        verdicts = [(run, view.results[name]) for run, view in judged if name in view.results]
        routed = [(run, view.results.get(name)) for run, view in others]
        cells = _verdict_cells(verdicts) if judged else []
        cells += [_seen(result.estimate, run) if result else UNKNOWN for run, result in routed]
        cells += [money(costs.get(name))] if judged else []
        cells.append(_next(verdicts, [(run, result) for run, result in routed if result]))
        rows.append(ReportRow(name, tuple(cells)))
    columns = ["Verdict", "Difference", "Worst prompt"] if judged else []
    columns += [view.column for _, view in others]
    cost = "Cost, this part" if any(run.is_part for run, _ in judged) else "Cost"
    columns += [cost] if judged else []
    return ReportTable("", ("Skill", *columns, "Next"), tuple(rows), _NOTE if judged else "")


def _decisive(verdicts: Sequence[_RunResult]) -> _RunResult | None:
    """Return the verdict from the most prompts; of equal ones that of the later layer."""
    return max(reversed(verdicts), key=lambda each: each[1].units, default=None)


def _verdict_cells(verdicts: Sequence[_RunResult]) -> list[Cell]:
    decisive = _decisive(verdicts)
    if decisive is None:
        return [UNKNOWN, UNKNOWN, UNKNOWN]
    run, result = decisive
    return [_seen(result.badge or UNKNOWN, run), result.estimate, result.worst or UNKNOWN]


def _seen(cell: Cell, run: Results) -> Cell:
    """Return a cell; of a stand-in named as one, without a colour that suggests a result."""
    if not run.is_fake:
        return cell
    if isinstance(cell, str):
        return f"{cell} (stand-in)"
    return cell._replace(text=f"{cell.text} (stand-in)", kind="open")


def _next(verdicts: Sequence[_RunResult], routed: Sequence[_RunResult]) -> Cell:
    """Return what to do next. Nothing follows from a stand-in but to ask a model."""
    decisive = _decisive(verdicts)
    actions = [_disagreement(verdicts)]
    for run, result in [*([decisive] if decisive else []), *routed]:
        actions.append("run it with a model" if run.is_fake else result.action)
    needed = dict.fromkeys(filter(None, actions))
    return Badge("→", "; ".join(needed), "act") if needed else "keep"


def _disagreement(verdicts: Sequence[_RunResult]) -> str:
    real = [(run, result) for run, result in verdicts if not run.is_fake]
    words = {result.badge.text for _, result in real if result.badge is not None}
    codes = " and ".join(run.layer.code for run, _ in real)
    return f"{codes} disagree: look at both" if {"better", "worse"} <= words else ""


def _costs(runs: Iterable[Results]) -> dict[str, float]:
    costs: dict[str, float] = defaultdict(float)
    for run in runs:
        for case in run.cases:
            costs[case.text("skill_name")] += case.number("cost") or 0.0
    return costs


def _section(anchor: str, run: Results, view: LayerView) -> Section:
    folds = (
        *view.folds,
        Fold("Not counted", tables=(_not_counted(run.cases),)),
        Fold(
            "What it cost, and how it was run",
            tables=(table_of_facts("Cost", _costs_of(run)), table_of_facts("Run", _origin(run))),
        ),
    )
    shown = (
        fold._replace(tables=tuple(table for table in fold.tables if table.rows)) for fold in folds
    )
    return Section(
        anchor,
        run,
        f"{run.layer.method} Answered by {run.answered_by}.".strip(),
        tuple(
            table._replace(rows=tuple(_stamped(row, run) for row in table.rows))
            for table in view.tables
            if table.rows
        ),
        view.findings,
        tuple(fold for fold in shown if fold.sentences or fold.tables),
    )


def _stamped(row: ReportRow, run: Results) -> ReportRow:
    """Return a row; of a stand-in without colours, and with a stamp."""
    if not run.is_fake:
        return row
    cells = [each if isinstance(each, str) else each._replace(kind="open") for each in row.cells]
    place = next((place for place, cell in enumerate(cells) if isinstance(cell, Badge)), 0)
    cells[place] = _seen(cells[place], run)
    return row._replace(cells=tuple(cells))


def _costs_of(run: Results) -> Facts:
    """Yield the cost of one run: generations, judgements, and entries from the cache."""
    meta, parts = run.at("meta"), run.at("artifacts", "cost")
    calls, lost = meta.count("run_calls") or 0, meta.count("lost_calls") or 0
    unpriced = "; some have no known price and are not in it" if meta.flag("unpriced") else ""
    name = "In this part" if run.is_part else "In all"
    yield (
        name,
        f"{money(meta.number('total_cost'))} ({many(meta.count('calls'), 'call')}{unpriced})",
    )
    if lost or run.is_part:
        note = many(calls, "call")
        if lost:
            cost = money(meta.number("lost_cost"))
            note += f"; {whole(lost)} without a result, which may have been billed: {cost}"
        yield "In all parts of the run", f"{money(_run_cost(meta))} ({note})"
    yield "Making answers", money(parts.number("generation"))
    yield "Judging", money(parts.number("judging"))
    if hits := meta.count("cache_hits"):
        cached = money(meta.number("cost_of_cached"))
        yield "Stored by earlier runs", f"{cached} ({many(hits, 'answer')} not paid again)"
    max_cost, max_calls = meta.number("max_cost"), meta.count("max_calls")
    limits = [money(max_cost)] if max_cost is not None else []
    limits += [many(max_calls, "call")] if max_calls is not None else []
    yield "Limit", ", ".join(limits)
    yield "Prices from", meta.text("price_source")
    yield "Time", duration(meta.number("duration_s"))


def _origin(run: Results) -> Facts:
    """Yield all that is needed to repeat one run."""
    meta = run.at("meta")
    for name in _PROVENANCE:
        number = meta.number(name)
        text = meta.text(name) or ", ".join(meta.names(name))
        yield name.replace("_", " "), text or (f"{number:g}" if number is not None else "")


def _not_counted(cases: Sequence[Json]) -> ReportTable:
    """Return the causes by state and kind, each with its number of cases and one message.

    A case with errors of several kinds counts once for each.
    """
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for case in cases:
        state, why = outcome(case)
        if state in ("error", "skipped", "unscored", "lost"):
            causes = dict(reversed(errors_of(case))) or {why: ""}
            for kind, message in causes.items():
                counts[state, kind] += 1
                if message:
                    examples.setdefault((state, kind), message)
    return ReportTable(
        "",
        ("Why", "What", "Cases", "For example"),
        tuple(
            ReportRow(
                kind, (state, whole(number), visible_line(examples.get((state, kind), ""), 200))
            )
            for (state, kind), number in sorted(counts.items())
        ),
        "These cases gave no figure and are in none; lost ones count as the lowest score.",
    )


def _proof(parts: Sequence[_Part]) -> Fold:
    shows = dict.fromkeys(view.shows for run, view in parts if view.shows and not run.is_fake)
    limits = dict.fromkeys(limit for _, view in parts for limit in view.limits)
    return Fold(
        "What this proves, and what it does not",
        (
            *(f"It shows: {sentence}" for sentence in shows or [_NOTHING_PROVED]),
            *(f"It does not show: {sentence}" for sentence in limits),
            _UNIT,
        ),
    )


def _changed(changes: Sequence[Json]) -> ReportTable:
    """Return what moved; the numbers of the others are the note."""
    statuses = Counter(change.text("status") for change in changes)
    unchanged, unclear = statuses["unchanged"], statuses["cannot tell"]
    note = [f"{many(unchanged, 'measure')} unchanged."] if unchanged else []
    note += [f"Cannot tell for {many(unclear, 'measure')}: too few cases."] if unclear else []
    rows = []
    for each in changes:
        entity, status = each.text("entity"), each.text("status")
        badge = _CHANGES.get(status) or Badge("?", visible_line(status, 30) or "no status", "open")
        if status not in ("unchanged", "cannot tell"):
            cells = (_code_of(each), badge, each.text("message"))
            rows.append(ReportRow(_ALL if entity == "_overall" else entity, cells))
    columns = ("What", "Layer", "Change", "In figures")
    return ReportTable("Against the baseline", columns, tuple(rows), " ".join(note))


def _code_of(change: Json) -> str:
    """Return the code of the layer of a change."""
    return Results({"meta": {"eval_type": change.text("eval_type")}}).layer.code
