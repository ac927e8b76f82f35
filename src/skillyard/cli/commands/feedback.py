"""``feedback``: what the user says about skills."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import whole_number
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.feedback import Feedback, FeedbackChange, FeedbackList
    from skillyard.cli.blocks import Block
    from skillyard.cli.parser import Commands

_LAST = -1
"""``--undo`` without a number."""


def add_feedback_command(commands: Commands) -> None:
    """Declare ``feedback``."""
    parser = add_command(
        commands,
        "feedback",
        "say that a skill was wrong or right for a request",
        run=feedback,
        about=(
            "The judgement is stored on this machine. It moves the skill for similar requests, "
            "within fixed limits, and why shows it. Without --for it is about the newest request "
            "in the decision log for which the skill was selected. The exit code of --clear is 1 "
            "when there was nothing to remove."
        ),
        examples=(
            'skillyard feedback pdf-tables --wrong --for "merge two pdf files"',
            'skillyard feedback csv-cleaning --right --note "it found the delimiter"',
            "skillyard feedback --list",
            "skillyard feedback --undo",
        ),
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="name, id or slug of the skill")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--wrong", action="store_true", help="the skill did not fit the request")
    action.add_argument("--right", action="store_true", help="the skill fits the request")
    action.add_argument("--list", action="store_true", help="list the judgements")
    action.add_argument(
        "--undo",
        metavar="N",
        nargs="?",
        type=whole_number,
        const=_LAST,
        help="remove the judgement with this number (default: your last one)",
    )
    action.add_argument(
        "--clear", action="store_true", help="remove all judgements, or those about NAME"
    )
    parser.add_argument("--for", dest="request", metavar="REQUEST", help="the request")
    parser.add_argument("--note", metavar="TEXT", default="", help="a note for yourself")


def feedback(args: Namespace, console: Console) -> int:
    """Store, list, undo or clear judgements; 1 when there was nothing to clear."""
    from skillyard.cli.source import refuse_library
    from skillyard.hosts.decisions import feedback_file

    judges = args.wrong or args.right
    if not judges:
        refuse_library(args, "without --wrong or --right")
    if not judges and (args.request is not None or args.note):
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
    if change.dropped and not console.json:
        console.note(f"no room for more: the oldest was dropped ({_line(change.dropped[0])})")
    if change.unreadable and not console.json:
        console.note(f"removed from {change.file}: {change.unreadable} unreadable lines")
    return NEGATIVE if args.clear and not change.removed else 0


def _judge(args: Namespace, console: Console) -> FeedbackChange:
    from skillyard.cli.source import load
    from skillyard.hosts.operations.skill_feedback import judge_skill

    if args.name is None:
        raise InvalidInput("which skill? name it: skillyard feedback NAME --wrong")
    catalog = load(args, console)
    return judge_skill(catalog, args.name, right=args.right, request=args.request, note=args.note)


def _list(args: Namespace, console: Console) -> int:
    from dataclasses import replace

    from skillyard.hosts.decisions.feedback_file import list_feedback

    result = list_feedback()
    if args.name is not None:
        entries = tuple(each for each in result.entries if each.skill == args.name)
        result = replace(result, entries=entries)
    console.show(result, _entries)
    if not result.entries and not console.json:
        console.note("there is no feedback: skillyard feedback NAME --wrong gives some")
    if result.unreadable and not console.json:
        console.note(f"passed over {result.unreadable} unreadable lines of {result.file}")
    return 0


def _changes(change: FeedbackChange) -> Iterator[Block]:
    from skillyard.cli.blocks import Span, line

    for each in change.removed:
        yield line(Span("removed  ", "dim"), _line(each))
    if change.added is not None:
        yield line(Span("stored  ", "good"), _line(change.added))
    if not change.removed and change.added is None:
        yield line(Span("there was nothing to remove", "dim"))


def _entries(result: FeedbackList) -> Iterator[Block]:
    from skillyard.base.text import shorten
    from skillyard.cli.blocks import Column, Span, Table

    if not result.entries:
        return
    rows = [
        (
            str(each.number),
            each.time[:10],
            each.skill,
            Span("right", "good") if each.right else Span("wrong", "low"),
            shorten(each.request, 200),
            shorten(each.note, 200),
            "" if each.by == "user" else each.by,
        )
        for each in result.entries
    ]
    columns = (
        Column("no", right=True),
        Column("date", "dim", drop=2),
        Column("skill", "name"),
        Column("judgement"),
        Column("request", wide=True),
        Column("note", "dim", wide=True, drop=1),
        Column("by", "dim", drop=3),
    )
    yield Table(columns, rows)


def _line(each: Feedback) -> str:
    from skillyard.base.text import shorten

    word = "right" if each.right else "wrong"
    return f"{each.number}  {each.skill}  {word} for: {shorten(each.request, 200)}"


COMMANDS = {"feedback": add_feedback_command}
