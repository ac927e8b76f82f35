"""``feedback``: what the user says about skills."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import shorten
from skillyard.cli.blocks import Block, Column, Span, line, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import OneOf, command, flag, value
from skillyard.cli.source import load, refuse_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.feedback import Feedback, FeedbackChange, FeedbackList

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
            value(
                "--undo",
                "N",
                "remove the judgement with this number (default: your last one)",
                nargs="?",
                const=_LAST,
            ),
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
    if change.unreadable:
        console.remark(f"removed from {change.file}: {change.unreadable} unreadable lines")
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
    if result.unreadable:
        console.remark(f"passed over {result.unreadable} unreadable lines of {result.file}")
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
            (Column("no", right=True), lambda each: str(each.number)),
            (Column("date", "dim", drop=2), lambda each: each.time[:10]),
            (Column("skill", "name"), lambda each: each.skill),
            (
                Column("judgement"),
                lambda each: Span("right", "good") if each.right else Span("wrong", "low"),
            ),
            (Column("request", wide=True), lambda each: shorten(each.request, 200)),
            (Column("note", "dim", wide=True, drop=1), lambda each: shorten(each.note, 200)),
            (Column("by", "dim", drop=3), lambda each: "" if each.by == "user" else each.by),
        )


def _line(each: Feedback) -> str:
    word = "right" if each.right else "wrong"
    return f"{each.number}  {each.skill}  {word} for: {shorten(each.request, 200)}"
