"""From the arguments to a command and its values, by the grammar.

Only the parser of the command that was asked for is built. Global options are understood before
and after the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any, NoReturn

from skillyard.cli.grammar import COMMANDS, GLOBAL, OPEN, PROGRAM, Command, Option, find
from skillyard.cli.quick import READERS, Values
from skillyard.text import clean, without_secrets

__all__ = ["full_help", "parse", "parser_of"]

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
    if not rest or "--version" in before:
        _without_command(before)
    command = find(rest)
    if command is None:
        _unknown(rest)
    values = Values()
    # Intermixed: words of a request may stand on both sides of an option.
    parser_of(command).parse_intermixed_args(before + rest[len(command.words) :], values)
    return command, values


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split at the command: the options before it, and the rest."""
    takes_value = {option.flag: option.kind != "flag" for option in GLOBAL}
    takes_value |= {"-h": False, "--help": False, "--version": False}
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        flag, equals, _ = arguments[place].partition("=")
        if flag not in takes_value:
            _parser().error(f"no option {flag} before the command; a command's own go after it")
        place += 2 if takes_value[flag] and not equals else 1
    return arguments[:place], arguments[place:]


def _without_command(before: list[str]) -> NoReturn:
    """Answer ``--version`` and ``--help``; anything else lacks a command."""
    parser = _parser()
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    for option in GLOBAL:
        _add(parser, option)
    values = parser.parse_args(before)
    if values.version:
        from skillyard import __version__

        _print_and_exit(f"{PROGRAM} {__version__}\n")
    if values.help:
        _print_and_exit(full_help())
    parser.exit(2, full_help())


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


def full_help() -> str:
    """Return the help page of the program: every command, then the options they share."""
    parser = _Parser(
        PROGRAM,
        formatter_class=_Formatter,
        usage=_USAGE,
        description=_ABOUT,
        epilog=f"{PROGRAM} COMMAND --help explains one command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_argument_group("commands")
    for command in COMMANDS:
        commands.add_argument(command.name, help=command.help).required = False
    shared = parser.add_argument_group("options of every command")
    for option in GLOBAL:
        _add(shared, option)
    return parser.format_help()


def _unknown(words: list[str]) -> NoReturn:
    from difflib import get_close_matches

    parser = _parser()
    nested = [command.words[1] for command in COMMANDS if command.words[:-1] == (words[0],)]
    if nested:
        parser.error(f"{words[0]} needs one of: {', '.join(nested)}")
    known = list(dict.fromkeys(command.words[0] for command in COMMANDS))
    near = get_close_matches(words[0], known, 1)
    hint = f"did you mean {near[0]}?" if near else f"the commands are: {', '.join(known)}"
    parser.error(f"no command {words[0]!r}; {hint}")


def parser_of(command: Command) -> argparse.ArgumentParser:
    """Return the parser of one command, global options included."""
    examples = "".join(f"\n  {example}" for example in command.examples)
    parser = _Parser(
        f"{PROGRAM} {command.name}",
        description=f"{command.help[0].upper()}{command.help[1:]}. {command.about}".strip(),
        epilog=f"{_EXAMPLES}{examples}" if examples else None,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    for option in command.options:
        _add(parser, option)
    shared = parser.add_argument_group("options of every command")
    for option in GLOBAL:
        _add(shared, option)
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
