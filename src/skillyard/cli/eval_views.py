"""Renders plans, results, comparisons and advice of evaluations as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.evals.statistics.power import MAX_UNITS
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.evals.cases.scaffolding import CaseFile
    from skillyard.evals.layers.plan import Plan
    from skillyard.evals.layers.rate_plan import RequestPlan
    from skillyard.evals.layers.runner import EvaluationResult
    from skillyard.evals.statistics.power import PromptPlan
    from skillyard.usecases.eval_results import EvalBaselines, EvalComparison, RubricCheck
    from skillyard.usecases.suggestions import Suggestions, WordAdvice

__all__ = [
    "baseline_blocks",
    "case_file_blocks",
    "compared_blocks",
    "plan_blocks",
    "prompts_blocks",
    "requests_blocks",
    "result_blocks",
    "rubric_blocks",
    "suggestion_blocks",
]

_STATUS_STYLES = {"regression": "error", "improvement": "high", "unchanged": "dim"}
_WORDS = 8
"""Maximum number of words listed in an advice."""


def plan_blocks(planned: Plan) -> Iterator[Block]:
    """Yield the plan of a run: the conditions of each skill, calls and cost."""
    if planned.skills:
        yield _sizes(planned.skills)
        yield from _warnings(planned.skills)
    for group, members in planned.groups.items():
        yield line(Span(group, "name"), f"  {', '.join(members)}")
    yield line(plural(planned.cases, "case"), ", ", _calls("answer", planned.generations), indent=0)
    if planned.judgements["planned"]:
        yield line(_calls("judgement", planned.judgements))
    if planned.input_tokens:
        outputs = f"at most {planned.max_output_tokens:,} output tokens"
        yield line(f"about {planned.input_tokens:,} input tokens, {outputs}")
    yield line(_money(planned))
    for each in planned.verdicts:
        cost = planned.cost_of_more(each)
        price = f", about ${cost:.2f}" if cost and not each.can_decide else ""
        style = "" if each.can_decide else "medium"
        yield line(Span(each.skill, "name"), ": ", Span(f"{each.message}{price}", style))
    for skill in planned.checks_only:
        yield line(Span(skill, "name"), f": {planned.checks_only_message(skill)}")


def prompts_blocks(needed: PromptPlan) -> Iterator[Block]:
    """Yield the numbers of prompts that a skill needs."""
    among = f" among {plural(needed.skills, 'skill')}" if needed.skills > 1 else ""
    yield line(f"Prompts of each skill{among}, with a spread of {needed.spread:g} points:")
    for count, purpose in (
        (needed.least, "for any result to count"),
        (needed.to_find, f"to find a difference of {needed.effect:g} points 4 times in 5"),
        (
            needed.for_equivalence,
            f"to show that two conditions differ by less than {needed.margin:g} points",
        ),
    ):
        yield line(Span(_count_text(count), "name"), f"  {purpose}", indent=2)


def _count_text(count: int | None) -> str:
    return f"more than {MAX_UNITS:,}" if count is None else f"{count:,}"


def requests_blocks(needed: RequestPlan) -> Iterator[Block]:
    """Yield the numbers of requests that a rate needs, and the cost with a model as the router."""
    bound = f"{round(100 * needed.bound, 6):g} %"
    rate = f"{round(100 * needed.rate, 6):g} %"
    is_two_sided = needed.groups is None
    whose = "each skill that need it, and as many that do not" if is_two_sided else "each group"
    yield line(f"Requests of {whose}:")
    yield line(
        Span(_count_text(needed.least), "name"),
        f"  for the 95 % interval to lie above {bound} at all, if every request is decided rightly",
        indent=2,
    )
    yield line(
        Span(_count_text(needed.to_show), "name"),
        f"  to show 4 times in 5 that a rate of {rate} is above {bound}",
        indent=2,
    )
    if needed.false_statements is None or needed.any_false is None or needed.calls is None:
        return
    wrong = f"{100 * needed.false_statements:.1f} %"
    yield line(f"A true rate of {bound} is shown as above it in {wrong} of the runs.")
    if needed.rates > 1:
        yield line(
            f"Each rate stands by itself: if all {needed.rates} are {bound}, "
            f"{100 * needed.any_false:.0f} % of the runs show at least one of them as above it."
        )
    yield line(
        "One run is enough: more runs of a request are averaged, and count as no further request."
    )
    whole = plural(needed.skills, "skill")
    if needed.groups is not None:
        whole = plural(needed.groups, "group")
    cost = f"A model sends {plural(needed.calls, 'call')}"
    if needed.input_tokens is None or needed.listed is None:
        cost += "; --listed N, the number of skills in the index, adds their tokens."
    else:
        cost += (
            f", about {needed.input_tokens:,} input tokens with {plural(needed.listed, 'skill')} "
            f"in the index, and up to {needed.max_output_tokens:,} output tokens."
        )
    yield line(f"{plural(needed.requests or 0, 'request')} of {whole}; hybrid sends none. {cost}")


def _sizes(skills: Sequence[Mapping[str, Any]]) -> Table:
    names = list(dict.fromkeys(name for each in skills for name in each["conditions"]))
    columns = (
        Column("skill", "name"),
        Column("tier"),
        Column("prompts", right=True),
        *(Column(f"{name} B / tokens", right=True) for name in names),
    )
    rows = []
    for each in skills:
        cells: list[Span | str] = [each["skill"], each["size_tier"], str(each["prompts"])]
        for name in names:
            size = each["conditions"].get(name)
            cells.append(
                f"{size['bytes']:,} / {size['tokens_estimated']:,}" if size is not None else "–"
            )
        rows.append(cells)
    return Table(columns, rows)


def _warnings(skills: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for each in skills:
        name = Span(each["skill"], "name")
        if each["summary_error"]:
            yield line(name, ": no summary: neither a description nor a Scope section")
        if each["expected_tier"] not in (None, each["size_tier"]):
            yield line(name, f": {each['size_tier']}, though {each['expected_tier']} is expected")
        for missing in each["missing_siblings"]:
            yield line(name, f": {missing} is not there")
        for refused, why in each["refused_siblings"]:
            yield line(name, f": {refused} is refused: {why}")
        for left_out in each["left_out_siblings"]:
            yield line(name, f": {left_out} does not fit into max_sibling_bytes")


def _calls(noun: str, counted: Mapping[str, int]) -> str:
    cached = f", {counted['kept']:,} of them kept" if counted["kept"] else ""
    return f"{plural(counted['planned'], noun)}{cached}"


def _money(planned: Plan) -> str:
    to_make = planned.generations["to_make"] + planned.judgements["to_make"]
    if not to_make:
        return "nothing has to be asked: no cost"
    if planned.unnamed:
        return f"cost unknown: give {', '.join(planned.unnamed)}"
    if planned.cost_low is None or planned.cost_high is None:
        return f"the price of {', '.join(planned.unpriced)} is not known"
    assumed = "; outputs assumed, none are kept" if planned.output_assumed else ""
    source = f"; {planned.price_source}, {planned.price_date}" if planned.price_source else ""
    return f"about ${planned.cost_low:.2f}, at most ${planned.cost_high:.2f}{assumed}{source}"


def result_blocks(result: EvaluationResult, files: Sequence[str]) -> Iterator[Block]:
    """Yield the report of a run, with its calls, its cost and the written files."""
    from skillyard.cli.report_views import report_blocks
    from skillyard.evals.report.report import build_report

    envelope = result.envelope
    meta = envelope["meta"]
    yield from report_blocks(build_report([envelope]))
    looks = meta.get("until_decided")
    if looks:
        for skill, prompts in looks["decided_after"].items():
            yield line(Span(skill, "name"), f": decided after {plural(prompts, 'prompt')}")
        yield line(f"{plural(looks['cases_saved'], 'case')} did not have to be run")
    paid = f", ${meta['total_cost']:.2f}" if meta["total_cost"] else ""
    requests = f"{plural(meta['calls'], 'request')}, {meta['cache_hits']:,} kept{paid}"
    yield line(plural(len(envelope["cases"]), "case"), f", {requests}" if meta["model"] else "")
    if meta["lost_calls"] or meta["run_calls"] > meta["calls"]:
        yield line(_whole_run(meta))
    yield line(Span(result.path, "name"))
    for path in files:
        yield line(Span(path, "name"))


def _whole_run(meta: Mapping[str, Any]) -> str:
    """Return the cost of all parts of a run, and of its requests without a result."""
    requests = plural(meta["run_calls"], "request")
    text = f"in all its parts the run cost ${meta['run_cost']:.4f}, {requests}"
    if not meta["lost_calls"]:
        return text
    lost = f"{plural(meta['lost_calls'], 'request')} gave no result and may have been billed"
    return f"{text}; {lost}: ${meta['lost_cost']:.4f} of it"


def compared_blocks(result: EvalComparison) -> Iterator[Block]:
    """Yield a comparison with baselines: changes past the threshold, and the number of others."""
    for each in result.compared:
        yield line(Span(each.eval_type, "name"), f"  {each.path}")
        if each.note:
            yield line(Span(each.note, "medium"), indent=2)
        if each.refused:
            yield line(f"not compared: {each.refused}", indent=2)
            continue
        for change in each.changes:
            if change.status in ("unchanged", "cannot tell"):
                continue
            style = _STATUS_STYLES.get(change.status, "")
            entity = "all" if change.entity == "_overall" else change.entity
            yield line(Span(change.status, style), f"  {entity}: {change.message}", indent=2)
        quiet = sum(change.status == "unchanged" for change in each.changes)
        if quiet:
            text = f"{plural(quiet, 'figure')} with no change that is more than chance"
            yield line(Span(text, "dim"), indent=2)
        if each.unclear:
            text = f"cannot tell for {plural(len(each.unclear), 'figure')}: too few cases"
            yield line(Span(text, "medium"), indent=2)


def baseline_blocks(result: EvalBaselines) -> Iterator[Block]:
    """Yield a table of the baselines of a folder."""
    if not result.baselines:
        yield line(f"no baselines in {result.folder}; `skillyard eval baseline save` keeps one")
    for each in result.baselines:
        who = each["model"] or each["router"] or ""
        yield line(Span(each["path"], "name"), f"  {each['timestamp']}  {who}  {each['run_id']}")


def rubric_blocks(result: RubricCheck) -> Iterator[Block]:
    """Yield every fault of the rubrics, and the number of valid ones."""
    for each in result.diagnostics:
        where = each.path + (f":{each.line}" if each.line is not None else "")
        style = "error" if each.severity == "error" else "medium"
        yield line(
            Span(where, "name"),
            ": ",
            Span(each.severity, style),
            f": {each.message}; {each.hint}",
        )
    yield line(plural(result.rubrics, "valid rubric"))


def case_file_blocks(files: Sequence[CaseFile], next_command: str) -> Iterator[Block]:
    """Yield the written case files, what to edit in them, and the command that runs them."""
    for file in files:
        if not file.is_new:
            yield line(Span(file.path, "name"), Span("  is there, left as it is", "dim"))
            continue
        taken_over = f"{plural(file.taken_over, 'prompt')} taken over, " if file.taken_over else ""
        yield line(Span(file.path, "name"), f"  {taken_over}{file.placeholders} to write")
    if any(file.placeholders for file in files):
        yield line(f"Write the prompts, then: {next_command}")


def suggestion_blocks(result: Suggestions) -> Iterator[Block]:
    """Yield the words to add, the words to remove, and the requests behind them."""
    head = f"{result.in_order} of {plural(result.looked_at, 'request')} in order"
    yield line(Span(result.skill, "name"), f": {head} ({result.scorer})")
    yield from _words("words to say in the description", result.missing)
    yield from _words("words that bring requests of others", result.shared)
    for case in result.cases:
        what = "should fire" if case.wanted else "should not fire"
        place = f"rank {case.rank}" if case.rank is not None else "no score"
        rival = f", behind {case.competitor}" if case.competitor and case.wanted else ""
        yield line(Span(case.id, "name"), f"  {what}: {place}{rival}")
        yield line(Span(case.user_prompt, "dim"), indent=2)
        terms = ", ".join(
            f"{term.term} ({term.ours:.2f} against {term.theirs:.2f})" for term in case.terms
        )
        if terms:
            yield line(terms, indent=2)
        if case.unclaimed:
            yield line(f"nobody has: {', '.join(case.unclaimed)}", indent=2)


def _words(title: str, words: Sequence[WordAdvice]) -> Iterator[Block]:
    if words:
        terms = ", ".join(f"{word.term} ({word.requests}x)" for word in words[:_WORDS])
        yield line(f"{title}: {terms}")
