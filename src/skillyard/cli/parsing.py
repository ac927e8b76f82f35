"""From the arguments to a command and its values, by the grammar.

Only the parser of the command that was asked for is built. Global options are understood before
and after the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from skillyard.cli.console import Console
from skillyard.cli.grammar import COMMANDS, GLOBAL, GROUPS, OPEN, PROGRAM, Command, Option, find
from skillyard.cli.quick import READERS, Values
from skillyard.errors import InvalidInput
from skillyard.text import clean, without_secrets

__all__ = ["full_help", "group_help", "help_of", "parse", "parser_of", "print_help"]

_ABOUT = "Find the right agent skill, say when none fits, and say why."


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints end with what to do next."""

    def error(self, message: str) -> NoReturn:
        """Print the complaint and exit with 2."""
        text = clean(without_secrets(message)).replace("\n", " ")
        self.exit(2, f"{self.prog}: {text}\n  try: {self.prog} --help\n")


class _Formatter(argparse.HelpFormatter):
    """Wraps the description and keeps the examples as they are written."""

    def __init__(self, prog: str) -> None:
        # Given a width, argparse does not import shutil: adding an option makes a formatter.
        super().__init__(prog, width=_help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if not text.startswith(_EXAMPLES):
            return super()._fill_text(text, width, indent)
        return "".join(indent + line for line in text.splitlines(keepends=True))


_EXAMPLES = "examples:"


def _help_width() -> int:
    """Return the columns for help: COLUMNS, else the terminal's, else 80; two are left free."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and 0 < int(columns) < 1_000:
        return int(columns) - 2
    try:
        return (os.get_terminal_size().columns or 80) - 2
    except (OSError, ValueError, AttributeError):
        return 78


def parse(arguments: list[str]) -> tuple[Command, Values]:
    """Return the command and its values. Exits with 2 for wrong use, with 0 after help."""
    before, rest = _split(arguments)
    if not rest or not _VERSION.isdisjoint(before):
        _without_command(before)
    command = find(rest)
    if command is None:
        _without_subcommand(before, rest)
    values = Values()
    parser = parser_of(command)
    # Intermixed: words of a request may stand on both sides of an option.
    given = before + rest[len(command.words) :]
    _, unknown = parser.parse_known_intermixed_args(given, values)
    if unknown:
        parser.error(_unknown_arguments(command, unknown))
    return command, values


_HELP = frozenset({"-h", "--help"})
_VERSION = frozenset({"-V", "--version"})


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split at the command: the options before it, and the rest."""
    takes_value = {option.flag: option.kind != "flag" for option in GLOBAL}
    takes_value |= dict.fromkeys(_HELP | _VERSION, False)
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        flag, equals, _ = arguments[place].partition("=")
        if flag not in takes_value:
            _parser().error(
                f"no option {flag} before the command{_near(flag, takes_value)}; "
                "options of a command go after it"
            )
        place += 2 if takes_value[flag] and not equals else 1
    return arguments[:place], arguments[place:]


def _near(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` for the known word that is nearest, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1, 0.7)
    return f"; did you mean {near[0]}?" if near else ""


def _unknown_arguments(command: Command, unknown: list[str]) -> str:
    """Return what is wrong with the first argument that a command does not take."""
    flag, equals, _ = unknown[0].partition("=")
    if not flag.startswith("-"):
        return f"one argument too many: {unknown[0]!r}; quote words that belong together"
    options = {option.flag: option for option in (*command.options, *GLOBAL)}
    if equals and flag in options:
        return f"{flag} takes no value"
    return f"no option {flag}{_near(flag, [name for name in options if name.startswith('-')])}"


def _without_command(before: list[str]) -> NoReturn:
    """Answer ``--version`` and ``--help``; anything else lacks a command."""
    parser = _parser()
    parser.add_argument(*sorted(_VERSION), dest="version", action="store_true")
    parser.add_argument(*sorted(_HELP), dest="help", action="store_true")
    for option in GLOBAL:
        _add(parser, option)
    values = parser.parse_args(before)
    if values.version:
        from skillyard import __version__

        _print_and_exit(f"{PROGRAM} {__version__}\n")
    if values.help:
        _print_and_exit(full_help())
    parser.exit(2, f"{full_help()}\n{PROGRAM}: name a command, as in: {_FIRST_STEPS[0]}\n")


def _without_subcommand(before: list[str], words: list[str]) -> NoReturn:
    """Answer ``--help`` of a group of commands; anything else names no command."""
    group = words[0]
    if group not in GROUPS:
        _parser().error(_unknown_command(words))
    rest = words[1:]
    if not _HELP.isdisjoint([*before, *rest[:1]]):
        _print_and_exit(group_help(group))
    parser = _Parser(f"{PROGRAM} {group}", add_help=False)
    if not rest:
        parser.exit(2, f"{group_help(group)}\n{parser.prog}: {_unknown_command(words)}\n")
    parser.error(_unknown_command(words))


def _unknown_command(words: list[str]) -> str:
    """Return what is wrong with words that begin no command, and what to type instead."""
    group, *rest = words
    if group not in GROUPS:
        first = list(dict.fromkeys(command.words[0] for command in COMMANDS))
        near = _near(group, first)
        return f"no command {group!r}{near or '; the commands are: ' + ', '.join(first)}"
    below = _commands_of(group)
    names = [command.words[1] for command in below]
    if not rest or rest[0].startswith("-"):
        return f"name one of its commands: {', '.join(names)}; as in: {below[0].examples[0]}"
    near = _near(rest[0], names)
    return f"no command {' '.join(words[:2])!r}{near or '; its commands are: ' + ', '.join(names)}"


def _commands_of(group: str) -> list[Command]:
    return [command for command in COMMANDS if command.words[0] == group]


def _parser() -> _Parser:
    """Return the parser of the program without a command; empty."""
    return _Parser(
        PROGRAM, add_help=False, allow_abbrev=False, usage=_USAGE, formatter_class=_Formatter
    )


def _print_and_exit(text: str) -> NoReturn:
    import sys

    sys.stdout.write(text)
    raise SystemExit(0)


_USAGE = f"{PROGRAM} [options] COMMAND ..."
_FIRST_STEPS = (
    f"{PROGRAM} list --scope user",
    f'{PROGRAM} select "clean this csv file" --root skills',
    f"{PROGRAM} help select",
)


def full_help() -> str:
    """Return the help page of the program: every command, then the options they share."""
    parser = _help_parser(PROGRAM, _USAGE, _ABOUT, _FIRST_STEPS)
    parser.add_argument(
        *sorted(_VERSION, reverse=True), action="store_true", help="print the version and exit"
    )
    commands = parser.add_argument_group("commands")
    for first in dict.fromkeys(command.words[0] for command in COMMANDS):
        below = _commands_of(first)
        if first in GROUPS:
            names = ", ".join(command.words[1] for command in below)
            _add_line(commands, f"{first} ...", f"{GROUPS[first]}: {names}")
        else:
            _add_line(commands, first, below[0].help)
    _add_shared(parser)
    return parser.format_help()


def group_help(group: str) -> str:
    """Return the help page of a group of commands, such as ``index``."""
    program = f"{PROGRAM} {group}"
    below = _commands_of(group)
    about = GROUPS[group]
    parser = _help_parser(
        program,
        f"{program} COMMAND [options]",
        f"{about[0].upper()}{about[1:]}.",
        (below[0].examples[0], f"{program} {below[0].words[1]} --help"),
    )
    commands = parser.add_argument_group("commands")
    for command in below:
        _add_line(commands, command.words[1], command.help)
    _add_shared(parser)
    return parser.format_help()


def help_of(words: Sequence[str]) -> str:
    """Return the help page of a command or of a group of commands; of the program without words.

    Raises InvalidInput when the words name neither.
    """
    if not words:
        return full_help()
    command = find(list(words))
    if command is not None and len(command.words) == len(words):
        return parser_of(command).format_help()
    if len(words) == 1 and words[0] in GROUPS:
        return group_help(words[0])
    if command is not None:
        raise InvalidInput(
            f"{PROGRAM} {command.name} has no commands below it; try: {PROGRAM} help {command.name}"
        )
    raise InvalidInput(f"{_unknown_command(list(words))}; try: {PROGRAM} help")


def print_help(values: Values, console: Console) -> int:
    """Print a help page: the command ``help``."""
    text = help_of(values.command)
    if console.json:
        console.document({"schema": "skillyard.help/1", "command": values.command, "text": text})
    else:
        console.write(text)
    return 0


def _help_parser(program: str, usage: str | None, about: str, examples: Iterable[str]) -> _Parser:
    listed = "".join(f"\n  {example}" for example in examples)
    return _Parser(
        program,
        formatter_class=_Formatter,
        usage=usage,
        description=about,
        epilog=f"{_EXAMPLES}{listed}" if listed else None,
        allow_abbrev=False,
    )


def _add_line(group: argparse._ActionsContainer, name: str, help_text: str) -> None:
    """Add one line of a list of commands to a help page."""
    group.add_argument(name, help=help_text.replace("%", "%%")).required = False


def _add_shared(parser: argparse.ArgumentParser) -> None:
    shared = parser.add_argument_group("options of every command")
    for option in GLOBAL:
        _add(shared, option)


def parser_of(command: Command) -> argparse.ArgumentParser:
    """Return the parser of one command, global options included."""
    parser = _help_parser(
        f"{PROGRAM} {command.name}",
        None,
        f"{command.help[0].upper()}{command.help[1:]}. {command.about}".strip(),
        command.examples,
    )
    for option in command.options:
        _add(parser, option)
    _add_shared(parser)
    return parser


def _add(parser: argparse._ActionsContainer, option: Option) -> None:
    """Add one option of the grammar to a parser."""
    help_text = option.help.replace("%", "%%")
    if option.kind == "flag":
        parser.add_argument(option.flag, dest=option.dest, action="store_true", help=help_text)
        return
    keywords: dict[str, object] = {"help": help_text, "default": option.default}
    if option.type in READERS:
        keywords["type"] = _reader(option)
    if option.choices and option.dest not in OPEN:
        keywords["choices"] = option.choices
    if option.positional:
        keywords["metavar"] = option.metavar or option.flag
        if option.kind != "value":
            keywords["nargs"] = "?" if option.kind == "maybe" else "*"
        parser.add_argument(option.dest, **keywords)  # type: ignore[arg-type]
        return
    if option.kind == "repeat":
        keywords |= {"action": "append", "default": []}
    keywords |= {"metavar": option.metavar, "required": option.required, "dest": option.dest}
    parser.add_argument(option.flag, **keywords)  # type: ignore[arg-type]


def _reader(option: Option) -> Callable[[str], Any]:
    """Return a reader whose complaints argparse prints."""
    read = READERS[option.type]

    def checked(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked
