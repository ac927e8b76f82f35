"""Renders the counts of ``usage`` as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.base.text import plural, shorten
from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.hosts.operations.skill_usage import FEW_DECISIONS

if TYPE_CHECKING:
    from skillyard.base.shapes.usage import RequestGroup, Usage

_REQUEST_CHARS = 200


def usage_blocks(usage: Usage, limit: int) -> Iterator[Block]:
    """Yield the counts, at most ``limit`` rows of each table."""
    yield line(Span(_period(usage), "head"))
    if not usage.decisions:
        return
    yield line(
        f"{usage.fired:,} selected a skill, {usage.abstained:,} none.",
        Span(f"  About {usage.cost:,} tokens of instructions.", "dim"),
    )
    yield from _skills(usage, limit)
    yield from _groups(usage, limit)
    yield from _lacks(usage, limit)
    yield from _conflicts(usage, limit)
    yield from _callers(usage, limit)
    yield line()
    yield line(Span("Did not fire", "head"))
    yield line(_unused_sentence(usage))
    unused = [each for each in usage.unused if not each.hidden]
    if unused:
        rows = [
            (each.slug, f"{each.decisions:,}", f"below {_percent(each.high)}")
            for each in unused[:limit]
        ]
        columns = (
            Column("skill", "name", wide=True),
            Column("decisions", right=True),
            Column("share (95 %)", right=True),
        )
        yield Table(columns, rows)
        yield from _more(unused, limit)
    if usage.events:
        events = ", ".join(f"{name} {number:,}" for name, number in usage.events.items())
        yield line()
        yield line("Events of the prompt hook: ", events)
    if usage.unreadable:
        yield line(Span(f"{plural(usage.unreadable, 'line')} cannot be read", "medium"))


def _skills(usage: Usage, limit: int) -> Iterator[Block]:
    if not usage.skills:
        return
    yield line()
    yield line(Span("Fired, and nearly fired", "head"))
    rows = [
        (
            each.slug,
            f"{each.fired:,}",
            f"{_percent(each.low)} to {_percent(each.high)}",
            f"{each.near:,}" if each.near else "",
            "" if each.margin is None else _percent(each.margin),
            "" if each.cost is None else f"{each.cost:,}",
            (each.last or "")[:10],
        )
        for each in usage.skills[:limit]
    ]
    columns = (
        Column("skill", "name", wide=True),
        Column("fired", right=True),
        Column("share (95 %)", right=True, drop=1),
        Column("nearly", right=True),
        Column("short by", right=True, drop=3),
        Column("tokens", right=True, drop=2),
        Column("last", "dim", drop=4),
    )
    yield Table(columns, rows)
    yield from _more(usage.skills, limit)


def _groups(usage: Usage, limit: int) -> Iterator[Block]:
    remark = _abstention_remark(usage)
    if not usage.groups and not remark:
        return
    yield line()
    yield line(Span("Nobody has a skill for", "head"))
    for group in usage.groups[:limit]:
        yield _group(group)
    yield from _more(usage.groups, limit)
    if remark:
        yield line(Span(remark, "dim"))


def _group(group: RequestGroup) -> Block:
    words = ", ".join(group.terms)
    others = f", {group.different} texts" if group.different > 1 else ""
    return line(
        f"{group.count:>5,}  ",
        Span(shorten(words, _REQUEST_CHARS), "name"),
        Span(f"  {shorten(group.requests[0], _REQUEST_CHARS)}{others}", "dim"),
        hang=7,
    )


def _lacks(usage: Usage, limit: int) -> Iterator[Block]:
    if usage.lacks:
        yield line()
        yield line(Span("Fits, but lacked a tool", "head"))
        columns = (
            Column("skill", "name"),
            Column("requests", right=True),
            Column("why not", "dim", wide=True),
        )
        rows = [(each.slug, f"{each.count:,}", each.because) for each in usage.lacks[:limit]]
        yield Table(columns, rows)
        yield from _more(usage.lacks, limit)


def _conflicts(usage: Usage, limit: int) -> Iterator[Block]:
    if not usage.conflicts:
        return
    yield line()
    yield line(Span("Close together", "head"))
    rows = [
        (each.first, each.second, f"{each.close:,} of {each.together:,}", f"{each.first_ahead:,}")
        for each in usage.conflicts[:limit]
    ]
    columns = (
        Column("skill", "name", wide=True),
        Column("other skill", "name", wide=True),
        Column("close", right=True),
        Column("first ahead", right=True, drop=1),
    )
    yield Table(columns, rows)
    yield from _more(usage.conflicts, limit)


def _callers(usage: Usage, limit: int) -> Iterator[Block]:
    if not usage.callers:
        return
    yield line()
    yield line(Span("By caller", "head"))
    rows = [
        (each.caller, f"{each.fired:,}", f"{each.abstained:,}") for each in usage.callers[:limit]
    ]
    columns = (
        Column("caller", "name", wide=True),
        Column("selected", right=True),
        Column("none", right=True),
    )
    yield Table(columns, rows)
    yield from _more(usage.callers, limit)


def _more(rows: Sequence[object], limit: int) -> Iterator[Block]:
    if len(rows) > limit:
        yield line(Span(f"and {len(rows) - limit:,} more: --limit, or --json", "dim"))


def _percent(share: float) -> str:
    """Return a share with two digits: ``23%``, ``0.41%``, ``0.013%``; a small one never as 0."""
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _period(usage: Usage) -> str:
    """Return the number of decisions and their period."""
    within = "" if usage.days is None else f" in the last {plural(usage.days, 'day')}"
    if not usage.decisions or usage.first is None or usage.last is None:
        return f"No decisions{within}"
    first, last = usage.first[:10], usage.last[:10]
    days = f"on {first}" if first == last else f"from {first} to {last}"
    return f"{plural(usage.decisions, 'decision')}{within}, {days}"


def _unused_sentence(usage: Usage) -> str:
    """Return how many skills of the library did not fire, and what that says."""
    shown = [each for each in usage.unused if not each.hidden]
    hidden = len(usage.unused) - len(shown)
    if not shown:
        text = "Every skill of the library that may be selected has fired."
    elif max(each.decisions for each in shown) < FEW_DECISIONS:
        text = (
            f"{plural(len(shown), 'skill')} did not fire in {plural(usage.decisions, 'decision')}."
            f" With fewer than {FEW_DECISIONS} decisions that is no verdict."
        )
    else:
        text = (
            f"{plural(len(shown), 'skill')} did not fire. The share of requests for which each may"
            " still fire is below the value in the last column; a skill that changed recently was"
            " there for fewer decisions."
        )
    if hidden:
        text += f" {plural(hidden, 'hidden skill')} can only be called by name."
    return text


def _abstention_remark(usage: Usage) -> str:
    """Return what is known of the abstentions that are in no group; empty if all are."""
    parts = []
    if usage.small_talk:
        parts.append(
            f"Small talk, which asks for nothing: {usage.small_talk:,} of the abstentions."
        )
    if usage.without_text:
        again = f", {usage.repeated:,} of them repeated word for word" if usage.repeated else ""
        parts.append(
            f"Of {usage.without_text:,} the log has only a digest{again}, so they cannot be"
            " grouped: text = true in [log] of skillyard.toml logs the text."
        )
    return " ".join(parts)
