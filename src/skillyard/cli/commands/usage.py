"""``usage``: what the decision log says about the skills."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from skillyard.base.text import plural, shorten
from skillyard.cli.blocks import Block, Column, Span, line, table, titled
from skillyard.cli.console import Console
from skillyard.cli.options import command, value
from skillyard.cli.source import load, note_unloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillyard.base.shapes.usage import RequestGroup, Usage

_REQUEST_CHARS = 200


@command(
    "usage",
    value("--log", "FILE", "the log (default: that of skillyard.toml)"),
    value("--days", "N", "count only the last N days (default: the whole log)"),
    value("--limit", "K", "at most K rows of each table", default=10),
)
def usage(args: Namespace, console: Console) -> None:
    """Sum up the decision log: which skills fire, and which requests find none.

    Reads the log that skillyard.toml names and that of the prompt hook, and compares them with the
    skills of the library. text = true in [log] logs the text of requests, which groups those that
    found no skill.

        skillyard usage
        skillyard usage --log decisions.jsonl --days 30 --root skills
    """
    from skillyard.hosts.operations.skill_usage import HOW_TO_LOG, log_paths, skill_usage

    logs = log_paths(args.log)
    catalog = load(args, console)
    result = skill_usage(catalog, logs, days=args.days)
    console.show(result, lambda shown: usage_blocks(shown, args.limit))
    note_unloaded(catalog.diagnostics, args, console)
    if not result.decisions:
        console.remark(f"no decision was logged in this period: {HOW_TO_LOG}")


def usage_blocks(usage: Usage, limit: int) -> Iterator[Block]:
    """Yield the counts, at most ``limit`` rows of each table."""
    yield line(Span(_period(usage), "head"))
    if not usage.decisions:
        return
    yield line(
        f"{usage.fired:,} selected a skill, {usage.abstained:,} none.",
        Span(f"  About {usage.cost:,} tokens of instructions.", "dim"),
    )
    yield from _part(
        "Fired, and nearly fired",
        usage.skills,
        limit,
        (Column("skill", "name", wide=True), lambda each: each.slug),
        (Column("fired", right=True), lambda each: f"{each.fired:,}"),
        (
            Column("share (95 %)", right=True, drop=1),
            lambda each: f"{_percent(each.low)} to {_percent(each.high)}",
        ),
        (Column("nearly", right=True), lambda each: f"{each.near:,}" if each.near else ""),
        (
            Column("short by", right=True, drop=3),
            lambda each: "" if each.margin is None else _percent(each.margin),
        ),
        (
            Column("tokens", right=True, drop=2),
            lambda each: "" if each.cost is None else f"{each.cost:,}",
        ),
        (Column("last", "dim", drop=4), lambda each: (each.last or "")[:10]),
    )
    remark = _abstention_remark(usage)
    if usage.groups or remark:
        yield from titled("Nobody has a skill for")
        yield from map(_group, usage.groups[:limit])
        yield from _more(usage.groups, limit)
        if remark:
            yield line(Span(remark, "dim"))
    yield from _part(
        "Fits, but lacked a tool",
        usage.lacks,
        limit,
        (Column("skill", "name"), lambda each: each.slug),
        (Column("requests", right=True), lambda each: f"{each.count:,}"),
        (Column("why not", "dim", wide=True), lambda each: each.because),
    )
    yield from _part(
        "Close together",
        usage.conflicts,
        limit,
        (Column("skill", "name", wide=True), lambda each: each.first),
        (Column("other skill", "name", wide=True), lambda each: each.second),
        (Column("close", right=True), lambda each: f"{each.close:,} of {each.together:,}"),
        (Column("first ahead", right=True, drop=1), lambda each: f"{each.first_ahead:,}"),
    )
    yield from _part(
        "By caller",
        usage.callers,
        limit,
        (Column("caller", "name", wide=True), lambda each: each.caller),
        (Column("selected", right=True), lambda each: f"{each.fired:,}"),
        (Column("none", right=True), lambda each: f"{each.abstained:,}"),
    )
    yield from titled("Did not fire")
    yield line(_unused_sentence(usage))
    yield from _rows(
        [each for each in usage.unused if not each.hidden],
        limit,
        (Column("skill", "name", wide=True), lambda each: each.slug),
        (Column("decisions", right=True), lambda each: f"{each.decisions:,}"),
        (Column("share (95 %)", right=True), lambda each: f"below {_percent(each.high)}"),
    )
    if usage.events:
        events = ", ".join(f"{name} {number:,}" for name, number in usage.events.items())
        yield line()
        yield line("Events of the prompt hook: ", events)
    if usage.unreadable:
        yield line(Span(f"{plural(usage.unreadable, 'line')} cannot be read", "medium"))


def _part(
    title: str, items: Sequence[Any], limit: int, *columns: tuple[Column, Callable[[Any], str]]
) -> Iterator[Block]:
    if items:
        yield from titled(title)
        yield from _rows(items, limit, *columns)


def _rows(
    items: Sequence[Any], limit: int, *columns: tuple[Column, Callable[[Any], str]]
) -> Iterator[Block]:
    if items:
        yield table(items[:limit], *columns)
        yield from _more(items, limit)


def _more(rows: Sequence[object], limit: int) -> Iterator[Block]:
    if len(rows) > limit:
        yield line(Span(f"and {len(rows) - limit:,} more: --limit, or --json", "dim"))


def _group(group: RequestGroup) -> Block:
    words = ", ".join(group.terms)
    others = f", {group.different} texts" if group.different > 1 else ""
    return line(
        f"{group.count:>5,}  ",
        Span(shorten(words, _REQUEST_CHARS), "name"),
        Span(f"  {shorten(group.requests[0], _REQUEST_CHARS)}{others}", "dim"),
        hang=7,
    )


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
    from skillyard.hosts.operations.skill_usage import FEW_DECISIONS

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
