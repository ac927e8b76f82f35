"""Renders the result and the plan of ``eval improve`` as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.shapes.improvements import (
    EvalImprove,
    EvalImprovePlan,
    HalfCounts,
    HeldOut,
    Passes,
    Proposal,
)
from skillyard.text import plural

__all__ = ["improvement_blocks", "improvement_plan_blocks"]

_VERDICT_STYLES = {"better": "high", "worse": "error", "cannot tell": "medium"}


def improvement_blocks(result: EvalImprove) -> Iterator[Block]:
    """Yield the verdict, the change of the text, the figures, and the next step."""
    verdict = Span(result.verdict, _VERDICT_STYLES[result.verdict])
    yield line(Span(result.skill, "name"), ": ", verdict, f": {result.reason}")
    chosen = None if result.chosen is None else result.proposals[result.chosen]
    if chosen is not None:
        yield line(Span(f"- {result.description}", "error"), hang=2)
        yield line(Span(f"+ {chosen.description}", "high"), hang=2)
    yield _figures(result, chosen)
    if result.held_out is not None:
        yield line(_change(result.held_out))
        yield from _cases("newly right", result.held_out.gained)
        yield from _cases("newly wrong", result.held_out.lost)
        yield from _cases("it newly fires for", result.held_out.false_fires)
        yield from _cases("other skills no longer get", result.held_out.taken_away)
    yield from (line("a reply is not used: ", reason) for reason in result.refused)
    yield line(_made_from(result))
    yield line(_next_step(result, chosen))


def _figures(result: EvalImprove, chosen: Proposal | None) -> Table:
    rows = [_row("first half, now", result.present, result.first_half)]
    if chosen is not None and chosen.first_half is not None:
        rows.append(_row("first half, proposed", chosen.first_half, result.first_half))
    if result.held_out is not None:
        rows.append(_row("held-out half, now", result.held_out.before, result.held_out_half))
        rows.append(_row("held-out half, proposed", result.held_out.after, result.held_out_half))
    columns = (
        Column("cases that pass", "name"),
        Column("should fire", right=True),
        Column("should not fire", right=True),
    )
    return Table(columns, rows)


def _row(title: str, passes: Passes, half: HalfCounts) -> list[Span | str]:
    return [
        title,
        f"{passes.should_fire:g} of {half.should_fire}",
        f"{passes.should_not_fire:g} of {half.should_not_fire}",
    ]


def _change(held_out: HeldOut) -> str:
    interval = "no case changed, which does not show that others would not"
    if held_out.low is not None and held_out.high is not None:
        interval = f"96 % interval {held_out.low:+.2f} to {held_out.high:+.2f}"
    rates = f"{held_out.pass_rate_before:.2f} to {held_out.pass_rate_after:.2f}"
    return f"Pass rate {rates}: {held_out.change:+.2f} ({interval}, p = {held_out.p:.3g})"


def _cases(title: str, ids: Sequence[str]) -> Iterator[Block]:
    if ids:
        yield line(f"{title}: {', '.join(ids)}", indent=1)


def _made_from(result: EvalImprove) -> str:
    counts = plural(len(result.proposals), "proposal")
    cost = f"; {plural(result.calls, 'request')}, ${result.cost:.4f}" if result.model else ""
    fake = "; a stand-in answered, which says nothing about the skill" if result.fake else ""
    return f"{counts}, picked by {result.router}{cost}{fake}"


def _next_step(result: EvalImprove, chosen: Proposal | None) -> str:
    if result.written:
        return f"{result.path} has the new description"
    if chosen is None:
        return "nothing to write"
    if result.fake and result.router == "model":
        return "not written: a stand-in picked the skills"
    if result.verdict == "better":
        return "--write writes it to SKILL.md"
    return "not written; --write --anyway writes it to SKILL.md"


def improvement_plan_blocks(planned: EvalImprovePlan) -> Iterator[Block]:
    """Yield the halves, the proposals from evidence, and the requests with their price."""
    first, held_out = _half(planned.first_half), _half(planned.held_out_half)
    name = Span(planned.skill, "name")
    yield line(name, f": proposals from {first}, verdict from {held_out}")
    if planned.more_cases:
        yield line(Span(f"no result can count: write {planned.more_cases} more cases", "medium"))
    for proposal in planned.proposals:
        yield line(f"+ {proposal.description}", hang=2)
    if planned.model_proposals:
        yield line(f"and up to {plural(planned.model_proposals, 'proposal')} of {planned.model}")
    yield line(_price(planned))


def _half(half: HalfCounts) -> str:
    total = half.should_fire + half.should_not_fire
    return f"{plural(total, 'case')} ({half.should_fire} should fire)"


def _price(planned: EvalImprovePlan) -> str:
    if not planned.requests.to_make:
        return "no request has to be sent: no cost"
    requests = f"at most {plural(planned.requests.to_make, 'request')}"
    if planned.cost_low is None or planned.cost_high is None:
        return f"{requests}; the price is not known"
    return f"{requests}: about ${planned.cost_low:.2f}, at most ${planned.cost_high:.2f}"
