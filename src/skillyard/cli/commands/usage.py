"""``usage`` and ``feedback``: what the decision log says, and what the user says of skills."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural, shorten
from skillyard.cli.blocks import Block, Column, Span, fields, line, numbers, table, titled
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import OneOf, command, flag, value
from skillyard.cli.source import load, note_unloaded, refuse_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillyard.base.shapes.feedback import Feedback, FeedbackChange, FeedbackList
    from skillyard.base.shapes.usage import RequestGroup, SkillUsage, Usage


_REQUEST_CHARS = 200
_EVENTS = {"breach": "answers too late to be used", "no_index": "prompts before the index"}


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
    from skillyard.hosts.operations.skill_usage import log_paths, skill_usage

    logs = log_paths(args.log)
    catalog = load(args, console)
    result = skill_usage(catalog, logs, days=args.days)
    console.show(result, lambda shown: usage_blocks(shown, args.limit))
    note_unloaded(catalog.diagnostics, args, console)
    if not result.decisions:
        empty = f"{args.log or 'the log'} holds no decision{' of this period' * bool(args.days)}"
        none = "nothing logged yet: each choice of a skill is, from now on"
        console.remark(empty if args.log or args.days else none)


def usage_blocks(usage: Usage, limit: int) -> Iterator[Block]:
    """Yield the counts, at most ``limit`` rows of each table."""
    yield line(Span(_period(usage), "head"))
    if not usage.decisions:
        return
    yield line(
        f"{usage.fired:,} selected a skill, {usage.abstained:,} none.",
        Span(f"  About {usage.cost:,} tokens of instructions.", "dim"),
    )
    skill = Column("skill", lambda each: each.slug, "name", wide=True)
    yield from _part(
        "Fired, and nearly fired",
        usage.skills,
        limit,
        skill,
        *numbers("fired"),
        Column("share (95 %)", _share, right=True, drop=1),
        Column("nearly", lambda each: f"{each.near:,}" if each.near else "", right=True),
        Column("short by", lambda each: _percent(each.margin), right=True, drop=3),
        *numbers("tokens=cost", drop=2),
        Column("last", lambda each: (each.last or "")[:10], "dim", drop=4),
    )
    remark = _abstention_remark(usage)
    if usage.groups or remark:
        yield from titled("No skill fired for")
        yield from map(_group, usage.groups[:limit])
        yield from _more(usage.groups, limit)
        if remark:
            yield line(Span(remark, "dim"))
    why = Column("why not", lambda each: each.because, "dim", wide=True)
    columns = (skill, *numbers("requests=count"), why)
    yield from _part("Fits, but lacked a tool", usage.lacks, limit, *columns)
    yield from _part(
        "Close together",
        usage.conflicts,
        limit,
        *fields("skill=first", "other skill=second"),
        Column("close", lambda each: f"{each.close:,} of {each.together:,}", right=True),
        *numbers("first ahead=first_ahead", drop=1),
    )
    columns = (*fields("caller"), *numbers("selected=fired", "none=abstained"))
    yield from _part("By caller", usage.callers, limit, *columns)
    yield from titled("Did not fire")
    yield line(_unused_sentence(usage))
    yield from _rows(
        [each for each in usage.unused if not each.hidden],
        limit,
        skill,
        *numbers("decisions"),
        Column("share (95 %)", lambda each: f"below {_percent(each.high)}", right=True),
    )
    if usage.events:
        counts = usage.events.items()
        events = ", ".join(f"{_EVENTS.get(name, name)} {number:,}" for name, number in counts)
        yield line()
        yield line("The prompt hook: ", events)
    if usage.unreadable:
        yield line(Span(f"{plural(usage.unreadable, 'line')} cannot be read", "medium"))


def _part(title: str, items: Sequence[Any], limit: int, *columns: Column) -> Iterator[Block]:
    if items:
        yield from titled(title)
        yield from _rows(items, limit, *columns)


def _rows(items: Sequence[Any], limit: int, *columns: Column) -> Iterator[Block]:
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


def _share(skill: SkillUsage) -> str:
    return f"{_percent(skill.low)} to {_percent(skill.high)}"


def _percent(share: float | None) -> str:
    """Return a share with two digits: ``23%``, ``0.41%``, ``0.013%``; a small one never as 0."""
    if share is None:
        return ""
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _period(usage: Usage) -> str:
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
    text = "Every skill of the library that may be selected has fired."
    if shown:
        count, decisions = plural(len(shown), "skill"), plural(usage.decisions, "decision")
        text = f"{count} did not fire in {decisions}."
        if max(each.decisions for each in shown) < FEW_DECISIONS:
            text += f" With fewer than {FEW_DECISIONS} decisions that is no verdict."
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


_LAST = -1
"""``--undo`` without a number."""


@command(
    "feedback",
    value("name", "NAME", "name, id or slug of the skill", nargs="?"),
    OneOf(
        (
            flag("--wrong", "the skill did not fit the request"),
            flag("--right", "the skill fits the request"),
            flag("--list", "list the judgements"),
            value("--undo", "N", "remove this one (default: your last)", nargs="?", const=_LAST),
            flag("--clear", "remove all judgements, or those about NAME"),
        ),
        required=True,
    ),
    value("--for", "REQUEST", "the request", dest="request"),
    value("--note", "TEXT", "a note for yourself", default=""),
)
def feedback(args: Namespace, console: Console) -> int:
    """Say that a skill was wrong or right for a request.

    The judgement is stored on this machine. It moves the skill for similar requests, within fixed
    limits, and why shows it. Without --for it is about the newest request in the decision log for
    which the skill was selected. The exit code of --clear is 1 when there was nothing to remove.

        skillyard feedback pdf-tables --wrong --for "merge two pdf files"
        skillyard feedback csv-cleaning --right --note "it found the delimiter"
        skillyard feedback --list
        skillyard feedback --undo
    """
    from skillyard.hosts.decisions import feedback_file

    if not (args.wrong or args.right):
        refuse_library(args, "without --wrong or --right")
        if args.request is not None or args.note:
            raise InvalidInput("--for and --note belong to --wrong and --right")
    if args.list:
        return _list(args, console)
    if args.undo is not None:
        if args.name is not None:
            raise InvalidInput("--undo takes a number, not a name: feedback --list shows both")
        change = feedback_file.undo_feedback(None if args.undo == _LAST else args.undo)
    elif args.clear:
        change = feedback_file.clear_feedback(args.name)
    else:
        change = _judge(args, console)
    console.show(change, _changes)
    if change.dropped:
        console.remark(f"no room for more: the oldest was dropped ({_line(change.dropped[0])})")
    return NEGATIVE if args.clear and not change.removed else 0


def _judge(args: Namespace, console: Console) -> FeedbackChange:
    from skillyard.hosts.operations.skill_feedback import judge_skill

    if args.name is None:
        raise InvalidInput("which skill? name it: skillyard feedback NAME --wrong")
    catalog = load(args, console)
    return judge_skill(catalog, args.name, right=args.right, request=args.request, note=args.note)


def _list(args: Namespace, console: Console) -> int:
    from skillyard.hosts.decisions.feedback_file import list_feedback

    result = list_feedback()
    if args.name is not None:
        entries = tuple(each for each in result.entries if each.skill == args.name)
        result = replace(result, entries=entries)
    console.show(result, _entries)
    if not result.entries:
        console.remark("there is no feedback: skillyard feedback NAME --wrong gives some")
    return 0


def _changes(change: FeedbackChange) -> Iterator[Block]:
    for each in change.removed:
        yield line(Span("removed  ", "dim"), _line(each))
    if change.added is not None:
        yield line(Span("stored  ", "good"), _line(change.added))
    if not change.removed and change.added is None:
        yield line(Span("there was nothing to remove", "dim"))


def _entries(result: FeedbackList) -> Iterator[Block]:
    if result.entries:
        yield table(
            result.entries,
            *numbers("no=number"),
            Column("date", lambda each: each.time[:10], "dim", drop=2),
            *fields("skill"),
            Column("judgement", lambda each: "right" if each.right else "wrong"),
            Column("request", lambda each: shorten(each.request, 200), wide=True),
            Column("note", lambda each: shorten(each.note, 200), "dim", wide=True, drop=1),
            Column("by", lambda each: "" if each.by == "user" else each.by, "dim", drop=3),
        )


def _line(each: Feedback) -> str:
    word = "right" if each.right else "wrong"
    return f"{each.number}  {each.skill}  {word} for: {shorten(each.request, 200)}"
