"""Renders plans, results, comparisons and reports of evaluations as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, Table, line, table, titled
from skillyard.cli.plain import width_of
from skillyard.evals.models.calls import STAND_IN
from skillyard.evals.report.values import Badge, Estimate, cell_text

if TYPE_CHECKING:
    from skillyard.evals.cases.scaffolding import CaseFiles
    from skillyard.evals.layers.run import EvaluationResult, Plan
    from skillyard.evals.report.report import Report
    from skillyard.evals.report.values import Cell, ReportTable

_NUMBER_STARTS = ("", *"0123456789+−–$")
_BADGE_STYLES = {"good": "high", "bad": "error", "open": "medium"}
_NAME = 20
"""Minimum width of names in terminal columns, while other columns can wrap."""


def plan_blocks(planned: Plan) -> Iterator[Block]:
    """Yield the plan of a run: the conditions of each skill, calls and cost."""
    if planned.skills:
        yield _sizes(planned.skills)
        for each in planned.skills:
            for text in _faults(each):
                yield line(Span(each["skill"], "name"), f": {text}")
    yield line(plural(planned.cases, "case"), ", ", _calls("answer", planned.generations))
    if planned.judgements["planned"]:
        yield line(_calls("judgement", planned.judgements))
    yield line(_money(planned))
    for skill, message in planned.messages:
        yield line(Span(skill, "name"), f": {message}")


def _sizes(skills: Sequence[Mapping[str, Any]]) -> Table:
    names = dict.fromkeys(name for each in skills for name in each["conditions"])
    return table(
        skills,
        Column("skill", itemgetter("skill"), "name"),
        Column("tier", itemgetter("size_tier")),
        Column("prompts", lambda each: str(each["prompts"]), right=True),
        *(Column(f"{name} B / tokens", partial(_size, name), right=True) for name in names),
    )


def _size(name: str, skill: Mapping[str, Any]) -> str:
    size = skill["conditions"].get(name)
    return "–" if size is None else f"{size['bytes']:,} / {size['tokens_estimated']:,}"


def _faults(skill: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs from what the cases say of a skill."""
    if skill["summary_error"]:
        yield "no summary: neither a description nor a Scope section"
    if skill["expected_tier"] not in (None, skill["size_tier"]):
        yield f"{skill['size_tier']}, though {skill['expected_tier']} is expected"
    yield from (f"{name} is not there" for name in skill["missing_siblings"])
    yield from (f"{name} is refused: {why}" for name, why in skill["refused_siblings"])


def _calls(noun: str, counted: Mapping[str, int]) -> str:
    cached = f", {counted['kept']:,} of them kept" if counted["kept"] else ""
    return f"{plural(counted['planned'], noun)}{cached}"


def _money(planned: Plan) -> str:
    if not planned.pays:
        return "nothing has to be asked: no cost"
    for name, text in (("", "cost unknown: give --model"), (STAND_IN, "a stand-in has no cost")):
        if name in planned.unpriced:
            return text
    if planned.cost_low is None or planned.cost_high is None:
        return f"the price of {', '.join(planned.unpriced)} is not known"
    source = f"; {planned.price_source}, {planned.price_date}" if planned.price_source else ""
    return f"about ${planned.cost_low:.2f}, at most ${planned.cost_high:.2f}{source}"


def result_blocks(result: EvaluationResult, files: Sequence[str]) -> Iterator[Block]:
    """Yield the report of a run, with its calls, its cost and the written files."""
    from skillyard.evals.report.report import build_report

    envelope = result.envelope
    meta = envelope["meta"]
    yield from report_blocks(build_report([envelope]))
    if looks := meta.get("until_decided"):
        for skill, prompts in looks["decided_after"].items():
            yield line(Span(skill, "name"), f": decided after {plural(prompts, 'prompt')}")
        yield line(f"{plural(looks['cases_saved'], 'case')} did not have to be run")
    is_fake = meta["backend"] == "fake"  # a stand-in's answers have no cost
    paid = f", ${meta['total_cost']:.2f}" if meta["total_cost"] and not is_fake else ""
    requests = f", {plural(meta['calls'], 'request')}, {meta['cache_hits']:,} kept{paid}"
    yield line(plural(len(envelope["cases"]), "case"), requests if meta["model"] else "")
    if meta["lost_calls"] or meta["run_calls"] > meta["calls"]:
        lost = f"{plural(meta['lost_calls'], 'request')} gave no result and may have been billed"
        note = f"; {lost}: ${meta['lost_cost']:.4f} of it" if meta["lost_calls"] else ""
        cost = f"${meta['run_cost']:.4f}, {plural(meta['run_calls'], 'request')}{note}"
        yield line(f"in all its parts the run cost {cost}")
    for path in (result.path, *files):
        yield line(Span(path, "name"))


def changed_blocks(report: Report) -> Iterator[Block]:
    """Yield what moved against the baseline."""
    yield from _table(report.changed, is_first=True)


def case_file_blocks(cases: CaseFiles, options: str) -> Iterator[Block]:
    """Yield the written files, what to edit in them, and the commands that run the cases."""
    files, settings, model = cases
    for file in files:
        if not file.is_new:
            yield line(Span(file.path, "name"), Span("  is there, left as it is", "dim"))
            continue
        taken_over = f"{plural(file.taken_over, 'prompt')} taken over, " if file.taken_over else ""
        yield line(Span(file.path, "name"), f"  {taken_over}{file.to_write} to write")
    if settings:
        yield line(Span(settings, "name"), f"  {model or 'name your model in its last line'}")
    yield line(f"Write the prompts, then: skillyard eval run activation{options}")
    prefix = "python -m skillyard_testkit.fake_llm -- " if model == STAND_IN else ""
    option = "" if model or settings else " --model ID"
    yield line(f"and, asking the model: {prefix}skillyard eval run effectiveness{options}{option}")


def report_blocks(report: Report, *, whole: bool = True) -> Iterator[Block]:
    """Yield a report without the parts that other formats fold: ``whole``, or its first screen.

    The next steps are too long for rows: they are drawn below the tables.
    """
    for banner in report.banners:
        text = " ".join((f"{banner.head}.", *banner.lines))
        yield line(Span(_with_blanks(text), "error"))
    for place, (_, view) in enumerate(report.parts):
        actions: dict[str, list[str]] = {}
        for name, *_, action in view.verdicts.rows:
            if isinstance(action, Badge):
                actions.setdefault(action.text, []).append(cell_text(name))
        columns, rows = view.verdicts.columns[:-1], tuple(row[:-1] for row in view.verdicts.rows)
        shown = view.verdicts._replace(columns=columns, rows=rows)
        yield from _table(shown, is_first=place == 0 and not report.banners)
        for action, names in actions.items():
            yield line("→ ", Span(", ".join(names), "name"), f": {_with_blanks(action)}", hang=2)
        for sentence in view.pooled:
            yield line(_with_blanks(sentence), hang=2)
    if whole:
        yield from _table(report.changed)
        for run, view in report.parts:
            for each in view.tables:
                if not each.is_closed:
                    yield from _table(each._replace(title=f"{run.layer.code} {each.title}"))


def _table(table: ReportTable, *, is_first: bool = False) -> Iterator[Block]:
    """Yield a table with its title and note; nothing of a table without both rows and note."""
    if table.title and (table.rows or table.note):
        yield from list(titled(table.title))[is_first:]
    if table.rows:
        texts = [[_with_blanks(cell_text(cell)) for cell in row] for row in table.rows]
        columns = []
        for place, title in enumerate(table.columns):
            cells = [row[place] for row in texts]
            words = cells if place == 0 else " ".join((title, *cells)).split(" ")
            figures = all(cell[:1] in _NUMBER_STARTS for cell in cells)
            right = figures and not any(isinstance(row[place], Estimate) for row in table.rows)
            least = min(_NAME, max(map(width_of, words)))
            columns.append(Column(title, right=right, least=least, style="" if place else "name"))
        rows = [list(map(_cell_span, *each)) for each in zip(table.rows, texts, strict=True)]
        yield Table(tuple(columns), rows, wrap=True)
    if table.note:
        yield line(Span(_with_blanks(table.note), "dim"))


def _cell_span(cell: Cell, text: str) -> Span | str:
    return Span(text, _BADGE_STYLES.get(cell.kind, "")) if isinstance(cell, Badge) else text


def _with_blanks(text: str) -> str:
    """Return a text of a report with ordinary blanks instead of non-breaking ones."""
    return text.replace("\u00a0", " ")
