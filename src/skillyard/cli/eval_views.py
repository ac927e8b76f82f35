"""How plans, results, comparisons and advice of evaluations look, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.evals.cases.scaffolding import ScaffoldResult
    from skillyard.evals.layers.plan import Plan
    from skillyard.evals.layers.runner import EvaluationResult
    from skillyard.usecases.eval_results import EvalBaselines, EvalCompared, RubricsChecked
    from skillyard.usecases.suggestions import Suggestions, WordAdvice

__all__ = [
    "baseline_blocks",
    "compared_blocks",
    "plan_blocks",
    "result_blocks",
    "rubric_blocks",
    "scaffold_blocks",
    "suggestion_blocks",
]

_STATUS_STYLES = {"regression": "error", "improvement": "high", "unchanged": "dim"}
_WORDS = 8
"""Most words of advice that are listed."""


def plan_blocks(planned: Plan) -> Iterator[Block]:
    """Draw what a run would do: conditions of each skill, calls, money."""
    if planned.skills:
        yield _sizes(planned.skills)
        yield from _warnings(planned.skills)
    for group, members in planned.groups.items():
        yield line(Span(group, "name"), f"  {', '.join(members)}")
    yield line(plural(planned.cases, "case"), ", ", _calls("answer", planned.generations), indent=0)
    if planned.judgements["planned"]:
        yield line(_calls("judgement", planned.judgements))
    yield line(_money(planned))


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
    if planned.cost_low is None or planned.cost_high is None:
        return f"the price of {', '.join(planned.unpriced)} is not known"
    assumed = "; outputs assumed, none are kept" if planned.output_assumed else ""
    source = f"; {planned.price_source}, {planned.price_date}" if planned.price_source else ""
    return f"about ${planned.cost_low:.2f}, at most ${planned.cost_high:.2f}{assumed}{source}"


def result_blocks(done: EvaluationResult, written: Sequence[str]) -> Iterator[Block]:
    """Draw what a run came to."""
    envelope = done.envelope
    meta = envelope["meta"]
    if meta["backend"] == "fake":
        yield line(
            Span("made by a stand-in server: says nothing about any model or skill", "error")
        )
    if meta["degraded"]:
        yield line(
            Span("more than a tenth of the cases are errors: the figures say little", "error")
        )
    yield from _LAYERS[meta["eval_type"]](envelope)
    paid = f", ${meta['total_cost']:.2f}" if meta["total_cost"] else ""
    requests = f"{plural(meta['calls'], 'request')}, {meta['cache_hits']:,} kept{paid}"
    yield line(plural(len(envelope["cases"]), "case"), f", {requests}" if meta["model"] else "")
    yield line(Span(done.path, "name"))
    for path in written:
        yield line(Span(path, "name"))


def _pairs(envelope: Mapping[str, Any]) -> Iterator[Block]:
    rows = []
    for skill, entry in envelope["summary"].items():
        for name, result in entry["comparisons"].items():
            rows.append(
                [
                    "all" if skill == "_overall" else skill,
                    name,
                    f"{result['wins']}–{result['losses']}–{result['ties']}",
                    _signed(result["mean"]),
                    _interval(result["ci_low"], result["ci_high"]),
                    result["word"],
                ]
            )
    columns = (
        Column("skill", "name"),
        Column("comparison"),
        Column("won–lost–tied", right=True),
        Column("mean", right=True),
        Column("95 %"),
        Column("verdict", wide=True),
    )
    yield Table(columns, rows)


def _activation(envelope: Mapping[str, Any]) -> Iterator[Block]:
    columns = (
        Column("skill", "name"),
        Column("cases", right=True),
        Column("picked where it should", right=True),
        Column("95 %"),
        Column("picked where it should not", right=True),
        Column("F1", right=True),
    )
    rows = [
        [
            "all" if skill == "_overall" else skill,
            str(entry["n"]),
            _share(entry["tpr"]),
            _interval(entry["tpr_low"], entry["tpr_high"]),
            _share(entry["fpr"]),
            _share(entry["mean"]),
        ]
        for skill, entry in envelope["summary"].items()
    ]
    yield Table(columns, rows)


def _confusion(envelope: Mapping[str, Any]) -> Iterator[Block]:
    columns = (
        Column("group", "name"),
        Column("cases", right=True),
        Column("right", right=True),
        Column("95 %"),
        Column("none", right=True),
        Column("several", right=True),
    )
    rows = [
        [
            group,
            str(entry["n"]),
            _share(entry["accuracy"]),
            _interval(entry["low"], entry["high"]),
            str(entry["no_activation"]),
            str(entry["multi_activation"]),
        ]
        for group, entry in envelope["summary"].items()
    ]
    yield Table(columns, rows)
    for finding in envelope["artifacts"]["findings"]:
        yield line(Span(finding["group"], "name"), f": {finding['message']}")
    negatives = envelope["artifacts"]["negatives"]
    if negatives["n"]:
        yield line(
            f"requests that no skill of the group fits: {negatives['n']}, "
            f"{_share(negatives['fired'])} of them picked one"
        )


_LAYERS = {
    "activation": _activation,
    "confusion": _confusion,
    "effectiveness": _pairs,
    "size_impact": _pairs,
}


def compared_blocks(result: EvalCompared) -> Iterator[Block]:
    """Draw a comparison with baselines: what moved past its threshold, and how much did not."""
    for each in result.compared:
        yield line(Span(each.eval_type, "name"), f"  {each.path}")
        if each.refused:
            yield line(f"not compared: {each.refused}", indent=2)
            continue
        quiet = 0
        for change in each.changes:
            if change.status in ("unchanged", "not compared"):
                quiet += 1
                continue
            style = _STATUS_STYLES.get(change.status, "")
            entity = "all" if change.entity == "_overall" else change.entity
            yield line(Span(change.status, style), f"  {entity}: {change.message}", indent=2)
        if quiet:
            yield line(Span(f"{plural(quiet, 'figure')} within the thresholds", "dim"), indent=2)


def baseline_blocks(result: EvalBaselines) -> Iterator[Block]:
    """Draw the baselines of a folder."""
    if not result.baselines:
        yield line(f"no baselines in {result.folder}; `skillyard eval baseline save` keeps one")
    for each in result.baselines:
        who = each["model"] or each["router"] or ""
        yield line(Span(each["path"], "name"), f"  {each['timestamp']}  {who}  {each['run_id']}")


def rubric_blocks(result: RubricsChecked) -> Iterator[Block]:
    """Draw every fault of some rubrics, and how many are good."""
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


def scaffold_blocks(done: ScaffoldResult) -> Iterator[Block]:
    """Draw which files were written, and what to do next."""
    for path in done.written:
        yield line(Span(path, "name"), "  written")
    for path in done.existing:
        yield line(Span(path, "name"), Span("  is there, left as it is", "dim"))
    yield line("Edit the cases, then: skillyard eval activation")


def suggestion_blocks(result: Suggestions) -> Iterator[Block]:
    """Draw which words to add, which to leave out, and the requests behind them."""
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


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"
