"""The grammar of the command line: the tree of parsers, and how they read the arguments.

Only the module of the given command is loaded. Options that every command has may stand before and
after the command, and the words of a query may stand between options. argparse supports neither
when it goes from a parser to a subparser: it starts with new values, and it reads a subparser's
arguments in order. So this module finds the command, and the command's parser adds to the values
read before it.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn

from skillyard.cli.binder import DECLARED
from skillyard.cli.commands import GROUPS, MODULES
from skillyard.cli.options import SHARED, add_shared_options
from skillyard.cli.parser import CommandParser, UsageError, near
from skillyard.cli.removed import current, removal

PROGRAM = "skillyard"

_SUMMARY = "Find the right agent skill, say when none fits, and say why"
_FIRST_STEPS = (
    f"{PROGRAM} list --scope user",
    f'{PROGRAM} select "clean this csv file" --root skills',
    f"{PROGRAM} help select",
)


def parse(arguments: Sequence[str]) -> tuple[CommandParser, Namespace]:
    """Return the parser of the command and the values of its arguments.

    Raises UsageError for wrong use, and SystemExit after printing a help page or the version.
    """
    shared, words = _split(arguments)
    if shared.version:
        from skillyard.base.version import __version__

        _print_and_exit(f"{PROGRAM} {__version__}\n")
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    parser, rest = _find(words)
    options = rest[: rest.index("--")] if "--" in rest else rest
    if shared.help or "-h" in options or "--help" in options:
        if parser.subcommands is not None and rest and not rest[0].startswith("-"):
            parser.error(_unknown_command(parser, rest[0]))
        _print_and_exit(parser.format_help())
    if parser.subcommands is not None:
        _without_command(parser, rest)
    del shared.version, shared.help
    parser.usage = ""  # argparse composes it otherwise, and no error of ours prints it
    _, unknown = parser.parse_known_intermixed_args(rest, shared)
    if unknown:
        parser.error(_unknown_argument(parser, unknown[0]))
    for flag, dest in SHARED.items():
        if flag in _unused(parser) and getattr(shared, dest):
            parser.error(f"{flag} has no effect on {parser.name}; leave it out")
    roots = getattr(shared, "library", None) or []
    shared.root = [*([roots] if isinstance(roots, str) else roots), *shared.root]
    return parser, shared


def read_command(arguments: Sequence[str]) -> tuple[CommandParser, Namespace] | None:
    """Return what :func:`parse` does, None for arguments that run no command."""
    from contextlib import redirect_stdout
    from io import StringIO

    try:
        with redirect_stdout(StringIO()):
            return parse(arguments)
    except (UsageError, SystemExit):
        return None


def build_parser(word: str | None = None) -> CommandParser:
    """Return the parser of the program.

    With the first word of a command only that command is in it. Without one, or with a word that
    begins no command, all are.
    """
    root = CommandParser(
        PROGRAM, summary=_SUMMARY, examples=_FIRST_STEPS, usage=f"{PROGRAM} [options] COMMAND ..."
    )
    root.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    commands = root.add_commands()
    for first in [word] if word in MODULES else MODULES:
        import_module(f"skillyard.cli.commands.{MODULES[first]}")
        for add in DECLARED[first]:
            add(commands)
    for name, child in root.children().items():
        child.section = next(title for title, group in GROUPS.items() if name in group)
    _complete(root)
    return root


def command_parsers() -> list[CommandParser]:
    """Return the parser of every command that is listed, in the order of the help page."""
    return list(_leaves(build_parser()))


def shared_options() -> list[argparse.Action]:
    """Return the options that every command has."""
    parser = CommandParser(PROGRAM, summary="", add_help=False)
    add_shared_options(parser)
    return parser._actions


_LIBRARY = ("--root", "--scope", "--profile")
_UNUSED = {
    **dict.fromkeys(("add", "sync", "update", "outdated", "verify", "remove", "trust"), _LIBRARY),
    **dict.fromkeys(("completion", "hook uninstall"), _LIBRARY),
    **dict.fromkeys(("bench score", "bench compare"), _LIBRARY),
    **dict.fromkeys(("eval plan", "eval compare", "eval report"), _LIBRARY),
    **dict.fromkeys(("eval baseline", "store"), _LIBRARY),
    **dict.fromkeys(("hook claude-code", "hook codex"), ("--scope", "--json")),
    "hook install": ("--scope",),
    "store publish": ("--scope",),
    "serve": ("--json",),
}
"""Options of every command that a command, or a group of commands, does not have."""


def _unused(parser: CommandParser) -> tuple[str, ...]:
    return _UNUSED.get(parser.name, _UNUSED.get(parser.name.partition(" ")[0], ()))


def _split(arguments: Sequence[str]) -> tuple[Namespace, list[str]]:
    """Split at the command: the values of the options before it, and the words from it on."""
    parser = CommandParser(PROGRAM, summary="", add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-V", "--version", action="store_true")
    add_shared_options(parser)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    values, unknown = parser.parse_known_args(arguments)
    if unknown:
        flag = unknown[0].partition("=")[0]
        parser.error(
            f"no option {flag} before the command{near(flag, _flags(parser))}; "
            "options of a command go after it"
        )
    words: list[str] = values.words
    del values.words
    return values, words


def _find(words: Sequence[str]) -> tuple[CommandParser, list[str]]:
    """Return the parser that the words lead to, and the words after that.

    Raises UsageError for a removed command or option.
    """
    rest = current(words)
    gone = removal(rest)
    if gone is not None:
        raise UsageError(gone)
    parser = build_parser(rest[0] if rest else None)
    while rest and rest[0] in parser.children():
        parser = parser.children()[rest.pop(0)]
    return parser, rest


def _complete(parser: CommandParser) -> None:
    """Add what every page has: the shared options, last, and for a group the first steps."""
    for child in parser.children().values():
        _complete(child)
    below = list(parser.listed().values())
    if below and not parser.examples:
        parser.examples = (below[0].examples[0], f"{below[0].prog} --help")
    parser.arguments = tuple(action for action in parser._actions if action.dest != "help")
    add_shared_options(parser, _unused(parser))


def _leaves(parser: CommandParser) -> Iterator[CommandParser]:
    for child in parser.listed().values():
        if child.subcommands is None:
            yield child
        else:
            yield from _leaves(child)


def _without_command(parser: CommandParser, rest: list[str]) -> NoReturn:
    """Raise the error for a group without a command, which lists its commands."""
    if rest and not rest[0].startswith("-"):
        parser.error(_unknown_command(parser, rest[0]))
    if parser.words:
        names = ", ".join(parser.listed())
        message = f"name one of its commands: {names}; as in: {parser.examples[0]}"
    else:
        message = f"name a command, as in: {parser.examples[0]}"
    if rest:
        parser.error(message)
    raise UsageError(f"{parser.format_help()}\n{parser.prog}: {message}")


def _unknown_command(parser: CommandParser, word: str) -> str:
    """Return the error for an unknown command, with the nearest known one."""
    names = parser.listed()
    typed = " ".join([*parser.words, word])
    return f"no command {typed!r}{near(word, names) or '; the commands are: ' + ', '.join(names)}"


def _unknown_argument(parser: CommandParser, text: str) -> str:
    """Return the error for an unknown argument of a command."""
    flag, equals, _ = text.partition("=")
    if not flag.startswith("-"):
        return f"one argument too many: {text!r}; quote words that belong together"
    flags = _flags(parser)
    if equals and flag in flags:
        return f"{flag} takes no value"
    return f"no option {flag}{near(flag, flags)}"


def _flags(parser: CommandParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _print_and_exit(text: str) -> NoReturn:
    sys.stdout.write(text)
    raise SystemExit(0)
