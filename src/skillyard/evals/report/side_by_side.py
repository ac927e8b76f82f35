"""Two runs side by side: both estimates of a skill, their change, and both answers of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from skillyard.evals.report.case_tables import case_tables
from skillyard.evals.report.cases import Case, CaseGroup, Side, Texts, case_groups
from skillyard.evals.report.head import Banner, banners, run_facts
from skillyard.evals.report.layer_view import (
    Fact,
    Fold,
    Row,
    Table,
    cell_text,
    estimate,
    with_note,
    with_rows,
)
from skillyard.evals.report.report import ALL, Report, Section, change_badge
from skillyard.evals.report.results import Results
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import UNKNOWN, against, decimal, many, signed, visible_line

__all__ = ["build_side_by_side", "cases_side_by_side"]

_SETTINGS = ("model", "judge_model", "provider", "router", "index", "dataset_sha256", "orders")
"""What should be the same in both runs, so that a change is one of the skills."""
_NOTE = (
    "The change is B less A over the cases and runs of both, paired, with an interval that holds "
    "for all rows together in 19 runs of 20."
)


def build_side_by_side(
    first: Mapping[str, object],
    second: Mapping[str, object],
    changes: Sequence[Mapping[str, object]],
) -> Report:
    """Return the report on two runs of one layer.

    ``changes`` are those of :func:`skillyard.evals.regression.changes.changes_of_measures`.
    """
    runs = (Results(first), Results(second))
    a, b = runs
    lines = list(map(Json, changes))
    decisive = [line for line in lines if line.flag("gate") is not False]
    others = [line for line in lines if line.flag("gate") is False]
    by_skill = [line for line in decisive if line.text("entity") != "_overall"]
    cases = Fold("Cases of B", tables=with_rows(case_tables(b.cases)))
    return Report(
        title=f"Two runs of {b.name}",
        banners=(*_differences(a, b), *banners(runs)),
        facts=(_run_fact("A", a), _run_fact("B", b)),
        skills=with_note(_table(runs, by_skill)._replace(note=_NOTE)),
        pooled=tuple(
            f"All together, {line.text('message') or line.text('measure')}."
            for line in decisive
            if line.text("entity") == "_overall"
        ),
        changes=(),
        changed=Table("", (), ()),
        sections=(
            Section("part-1", b, b.layer.method, with_rows([_table(runs, others)]), (), (cases,)),
        ),
        folds=(),
    )


def _run_fact(label: str, run: Results) -> Fact:
    """Return what one of the two runs is, in one line."""
    values = [fact.value for fact in run_facts([run])]
    return Fact(label, ", ".join([run.text("meta", "run_id"), *values]))


def _differences(a: Results, b: Results) -> Iterator[Banner]:
    lines = []
    for name in _SETTINGS:
        first, second = (visible_line(str(run.at("meta", name).value), 60) for run in (a, b))
        if first != second:
            lines.append(f"{name}: {first} in A, {second} in B.")
    if lines:
        yield Banner("limited", "The runs differ in more than their skills", tuple(lines))


def _table(runs: tuple[Results, Results], changes: Sequence[Json]) -> Table:
    """Return a row for each change: both estimates, and the change with its interval."""
    keys = ("change", "low", "high")
    ends = [abs(end) for each in changes for end in map(each.number, keys) if end is not None]
    widest = max([1.0, *ends])
    estimates = [_estimates(run) for run in runs]
    rows = []
    for change in changes:
        entity, measure = change.text("entity"), change.text("measure")
        before, after = (
            of_run.get((entity, measure)) or decimal(change.number(key)) + _mark(run)
            for run, of_run, key in zip(runs, estimates, ("before", "after"), strict=True)
        )
        badge = change_badge(change.text("status"))
        moved = estimate(change, keys, signed, badge.kind)
        name = ALL if entity == "_overall" else entity
        rows.append(Row(name, (against(measure), before, after, moved, badge)))
    columns = ("Skill", "Measure", "A", "B", "Change", "Verdict")
    return Table("", columns, tuple(rows), scale=(-widest, widest), zero=0.0)


def _estimates(run: Results) -> dict[tuple[str, str], str]:
    """Return the known estimates of a run as texts, by entity and measure."""
    return {
        key: cell_text(each) + _mark(run)
        for key, each in run.view().estimates.items()
        if each.value is not None
    }


def _mark(run: Results) -> str:
    return " (stand-in)" if run.is_fake else ""


def cases_side_by_side(
    first: Mapping[str, object], second: Mapping[str, object], texts: Sequence[Texts]
) -> list[CaseGroup]:
    """Return the cases of two runs, the answers of both in one case.

    A case is found by its group and its ``key``; one that only one run has stands alone.
    """
    a, b = (case_groups(run, text) for run, text in zip((first, second), texts, strict=True))
    only_b = {(group.name, case.key): case for group in b for case in group.cases}
    merged = []
    for group in a:
        both = [(case, only_b.pop((group.name, case.key), None)) for case in group.cases]
        cases = tuple(
            _merge({"A": case, "B": other} if other else {"A": case}) for case, other in both
        )
        merged.append(CaseGroup(group.name, many(len(cases), "case"), cases, group.more_cases))
    for group in b:
        rest = [case for case in group.cases if (group.name, case.key) in only_b]
        if rest:
            cases = tuple(_merge({"B": case}) for case in rest)
            merged.append(CaseGroup(group.name, "only in B", cases, group.more_cases))
    return merged


def _merge(runs: Mapping[str, Case]) -> Case:
    """Return a case with the answers of its runs: of each arm those of A and B side by side."""
    (first, case), *others = runs.items()
    return replace(
        [*runs.values()][-1],  # the short table links to the cases of B
        badge=case.badge._replace(text=f"{first}: {case.badge.text}"),
        note="; ".join(f"{label}: {other.badge.text}" for label, other in others),
        sides=tuple(
            side._replace(name=f"{label}: {side.name}")
            for of_arm in zip_longest(*(each.sides or (_pick(each),) for each in runs.values()))
            for label, side in zip(runs, of_arm, strict=True)
            if side is not None
        ),
        tables=(),
        replies=(),
        errors=tuple(
            (f"{label}: {kind}", text) for label, each in runs.items() for kind, text in each.errors
        ),
    )


def _pick(case: Case) -> Side:
    """Return what a router picked, in the place of an answer."""
    facts = [row for table in case.tables for row in table.rows]
    picked = next((cell_text(row.cells[0]) for row in facts if row.name == "Picked"), UNKNOWN)
    return Side(f"picked {picked}")
