"""The view model of a report: terminal, HTML, Markdown, JUnit and GitHub are drawn from it.

The first table answers in one line a skill. What decided follows, and everything else is folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.case_tables import case_tables
from skillyard.evals.report.head import (
    Banner,
    banners,
    cost_facts,
    provenance_facts,
    run_facts,
)
from skillyard.evals.report.layer_view import (
    Badge,
    Cell,
    Fact,
    Fold,
    LayerView,
    Row,
    SkillResult,
    Table,
    table_of_facts,
    with_note,
    with_rows,
)
from skillyard.evals.report.results import Results, State, errors_of, layer_of, outcome
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import UNKNOWN, many, money, visible_line, whole

_ALL = "all together"
_NOTE = (
    "Difference: points on the judge’s scale from 1 to 5 against no skill, with the interval that "
    "decided. Shrunken: the same, moved towards the mean of all skills."
)
_NOTHING_PROVED = "That the evaluation runs. It proves nothing about any skill: no model answered."
_UNIT = (
    "Intervals hold for all skills together in 19 runs of 20. The unit is the request: runs and "
    "orders of one request are averaged first. What a model, a skill or a judge wrote is shown as "
    "text."
)
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


class Change(NamedTuple):
    """One measure of one entity against its baseline.

    It comes from a line of :mod:`skillyard.evals.regression`: ``eval_type``, ``entity`` (a skill, a
    group or ``_overall``), ``measure``, ``status`` and ``message``, one sentence with the figures.
    """

    code: str
    """Of the layer."""
    eval_type: str
    entity: str
    measure: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """One layer in a report."""

    anchor: str
    run: Results
    """The results, for a format that lists every case."""
    lead: str
    tables: tuple[Table, ...]
    findings: tuple[tuple[str, str], ...]
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report shows."""

    title: str
    banners: tuple[Banner, ...]
    facts: tuple[Fact, ...]
    skills: Table
    """One line a skill: the verdict, what decided it, and what to do next."""
    pooled: tuple[str, ...]
    """Sentences on all skills together."""
    changes: tuple[Change, ...]
    """What moved against the baseline, regressions first."""
    changed: Table
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
    parts = [(run, run.view()) for run in runs]
    in_order = _changes(map(Json, changes))
    return Report(
        visible_line(title) or "Evaluation",
        banners(runs),
        run_facts(runs),
        _skills(parts),
        tuple(
            f"{run.layer.code}: {sentence}{' (stand-in)' if run.is_fake else ''}"
            for run, view in parts
            for sentence in view.pooled
        ),
        in_order,
        _changed(in_order),
        tuple(_section(f"part-{place}", *part) for place, part in enumerate(parts, 1)),
        (_proof(parts),),
    )


_Part = tuple[Results, LayerView]
_RunResult = tuple[Results, SkillResult]


def _skills(parts: Sequence[_Part]) -> Table:
    """Return one row a skill, with the results of all layers; skills by name."""
    judged = [(run, view) for run, view in parts if view.results and not view.column]
    others = [(run, view) for run, view in parts if view.results and view.column]
    costs = _costs(run for run, _ in judged)
    only_fake = all(run.is_fake for run, _ in parts)
    rows = []
    for name in sorted({name for _, view in parts for name in view.results}):
        verdicts = [(run, view.results[name]) for run, view in judged if name in view.results]
        routed = [(run, view.results.get(name)) for run, view in others]
        is_named = only_fake and bool(verdicts)
        cells = _verdict_cells(verdicts) if judged else []
        cells += [_other_cell(result, run.is_fake and not is_named) for run, result in routed]
        cells += [money(costs.get(name))] if judged else []
        cells.append(_next(verdicts, [(run, result) for run, result in routed if result]))
        rows.append(Row(name, tuple(cells)))
    columns = ["Verdict", "Difference", "Shrunken"] if judged else []
    columns += [view.column for _, view in others]
    cost = "Cost, this part" if any(run.is_part for run, _ in judged) else "Cost"
    columns += [cost] if judged else []
    return with_note(Table("", ("Skill", *columns, "Next"), tuple(rows), _NOTE if judged else ""))


def _decisive(verdicts: Sequence[_RunResult]) -> _RunResult | None:
    """Return the verdict from the most prompts; of equal ones that of the later layer."""
    return max(reversed(verdicts), key=lambda each: each[1].units, default=None)


def _verdict_cells(verdicts: Sequence[_RunResult]) -> list[Cell]:
    decisive = _decisive(verdicts)
    if decisive is None:
        return [UNKNOWN, UNKNOWN, UNKNOWN]
    run, result = decisive
    badge: Cell = result.badge or UNKNOWN
    return [_stamp(badge) if run.is_fake else badge, result.estimate, result.shrunken or UNKNOWN]


def _other_cell(result: SkillResult | None, stamp: bool) -> Cell:
    if result is None:
        return UNKNOWN
    return _stamp(result.estimate) if stamp else result.estimate


def _next(verdicts: Sequence[_RunResult], routed: Sequence[_RunResult]) -> Cell:
    """Return what to do next. Nothing follows from a stand-in but to ask a model."""
    decisive = _decisive(verdicts)
    actions = [
        _disagreement(verdicts),
        *(
            "run it with a model" if run.is_fake else result.action
            for run, result in [*([decisive] if decisive else []), *routed]
        ),
    ]
    needed = dict.fromkeys(filter(None, actions))
    return Badge("→", "; ".join(needed), "act") if needed else "keep"


def _disagreement(verdicts: Sequence[_RunResult]) -> str:
    real = [(run, result) for run, result in verdicts if not run.is_fake]
    words = {result.badge.text for _, result in real if result.badge is not None}
    codes = " and ".join(run.layer.code for run, _ in real)
    return f"{codes} disagree: look at both" if {"better", "worse"} <= words else ""


def _stamp(cell: Cell) -> Cell:
    """Return a cell of a stand-in: named as one, without a colour that suggests a result."""
    if isinstance(cell, str):
        return f"{cell} (stand-in)"
    return cell._replace(text=f"{cell.text} (stand-in)", kind="open")


def _stamp_row(row: Row) -> Row:
    """Return a row of a stand-in, with a stamp and no colour."""
    cells = [each if isinstance(each, str) else each._replace(kind="open") for each in row.cells]
    place = next((place for place, cell in enumerate(cells) if isinstance(cell, Badge)), 0)
    cells[place] = _stamp(cells[place])
    return row._replace(cells=tuple(cells))


def _costs(runs: Iterable[Results]) -> dict[str, float]:
    costs: dict[str, float] = defaultdict(float)
    for run in runs:
        for case in run.cases:
            costs[case.text("skill_name")] += case.number("cost") or 0.0
    return costs


def _section(anchor: str, run: Results, view: LayerView) -> Section:
    folds = (
        *view.folds,
        Fold("Cases", tables=case_tables(run.cases)),
        Fold("Not counted", tables=(_not_counted(run.cases),)),
        Fold(
            "What it cost, and how it was run",
            tables=(
                table_of_facts("Cost", cost_facts(run)),
                table_of_facts("Run", provenance_facts(run)),
            ),
        ),
    )
    tables = with_rows(view.tables)
    if run.is_fake:
        tables = tuple(each._replace(rows=tuple(map(_stamp_row, each.rows))) for each in tables)
    lead = f"{run.layer.method} Answered by {run.answered_by}.".strip()
    shown = (fold._replace(tables=with_rows(fold.tables)) for fold in folds)
    opened = tuple(fold for fold in shown if fold.sentences or fold.tables)
    return Section(anchor, run, lead, tables, view.findings, opened)


def _not_counted(cases: Sequence[Json]) -> Table:
    """Return the causes by state and kind, each with its number of cases and one message.

    A case with errors of several kinds counts once for each.
    """
    counts: Counter[tuple[State, str]] = Counter()
    examples: dict[tuple[State, str], str] = {}
    for case in cases:
        state, why = outcome(case)
        if state in ("error", "skipped", "unscored"):
            causes = dict(reversed(errors_of(case))) if state == "error" else {why: ""}
            for kind, message in causes.items():
                counts[state, kind] += 1
                if message:
                    examples.setdefault((state, kind), message)
    return Table(
        "",
        ("Why", "What", "Cases", "For example"),
        tuple(
            Row(kind, (state, whole(number), visible_line(examples.get((state, kind), ""), 200)))
            for (state, kind), number in sorted(counts.items())
        ),
        "These cases gave no figure and are in none.",
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


def _change_badge(status: str) -> Badge:
    """Return the badge of a change's status."""
    return _CHANGES.get(status) or Badge("?", visible_line(status, 30) or "no status", "open")


def _changes(lines: Iterable[Json]) -> tuple[Change, ...]:
    """Return the lines by layer; in each, regressions first and the unchanged last."""
    keys = ("eval_type", "entity", "measure", "status", "message")
    changes = []
    for line in lines:
        eval_type, entity, measure, status, message = map(line.text, keys)
        changes.append(
            Change(layer_of(eval_type).code, eval_type, entity, measure, status, message)
        )
    weight = {status: place for place, status in enumerate(_CHANGES)}
    changes.sort(
        key=lambda each: (each.code, weight.get(each.status, 99), each.entity, each.measure)
    )
    return tuple(
        each._replace(entity=_ALL) if each.entity == "_overall" else each for each in changes
    )


def _changed(changes: Sequence[Change]) -> Table:
    """Return what moved; the numbers of the others are the note."""
    statuses = Counter(change.status for change in changes)
    unchanged, unclear = statuses["unchanged"], statuses["cannot tell"]
    note = [f"{many(unchanged, 'measure')} unchanged."] if unchanged else []
    note += [f"Cannot tell for {many(unclear, 'measure')}: too few cases."] if unclear else []
    return Table(
        "Against the baseline",
        ("What", "Layer", "Change", "In figures"),
        tuple(
            Row(each.entity, (each.code, _change_badge(each.status), each.message))
            for each in changes
            if each.status not in ("unchanged", "cannot tell")
        ),
        " ".join(note),
    )
