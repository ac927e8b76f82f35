"""The parsers of the command line: argparse with our help pages and errors."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from skillyard.base.invisible import clean
from skillyard.base.text import without_secrets

if TYPE_CHECKING:
    from skillyard.cli.console import Console

    Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
    """The result of ``add_subparsers``, to which commands are added."""
    RunCommand: TypeAlias = Callable[[argparse.Namespace, Console], int | None]
    """Runs a command and returns its exit code; None is 0."""


class UsageError(Exception):
    """Wrong use of the command line. The text is printed on standard error."""


class CommandParser(argparse.ArgumentParser):
    """The parser of the program, of a group of commands, or of one command."""

    arguments: tuple[argparse.Action, ...] = ()
    """The command's own arguments: without ``--help`` and those that every command has."""
    section: str = ""
    """The title above its line on the help page of the program; empty below another command."""
    subcommands: Commands | None = None
    """None for a command that runs."""

    def __init__(
        self,
        prog: str,
        *,
        summary: str,
        about: str = "",
        examples: Iterable[str] = (),
        **keywords: Any,
    ) -> None:
        super().__init__(
            prog,
            description=f"{_sentence(summary)} {about}".strip(),
            # argparse makes a formatter for each option; without a width each looks for a terminal.
            formatter_class=partial(_HelpFormatter, width=78),
            allow_abbrev=False,
            **keywords,
        )
        self.summary = summary
        self.about = about
        self.examples = tuple(examples)

    @property
    def name(self) -> str:
        """The words after the name of the program."""
        return self.prog.partition(" ")[2]

    @property
    def words(self) -> tuple[str, ...]:
        """The same as single words."""
        return tuple(self.name.split())

    def add_commands(self) -> Commands:
        """Return where the commands below this parser are added."""
        self.subcommands = self.add_subparsers(title="commands", prog=self.prog)
        return self.subcommands

    def children(self) -> dict[str, CommandParser]:
        """Return the parsers of the commands below this one, by name."""
        return {} if self.subcommands is None else dict(self.subcommands.choices)

    def listed(self) -> dict[str, CommandParser]:
        """Return those of the children that help, errors and completion name."""
        shown = [] if self.subcommands is None else self.subcommands._get_subactions()
        return {action.dest: self.children()[action.dest] for action in shown}

    def format_help(self) -> str:
        """Return the help page."""
        lines = "".join(f"\n  {example}" for example in self.examples)
        self.epilog = f"{_EXAMPLES}{lines}" if lines else None
        self.formatter_class = _HelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the message and the help page to read."""
        text = clean(without_secrets(message)).replace("\n", " ")
        raise UsageError(f"{self.prog}: {text}\n  try: {self.prog} --help")


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop, unless it ends as a question."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('?') else '.'}"


def add_command(
    commands: Commands,
    name: str,
    summary: str,
    *,
    run: RunCommand,
    about: str = "",
    examples: Iterable[str],
    hidden: bool = False,
) -> CommandParser:
    """Add one command and return its parser, without arguments.

    ``summary`` is shown in lists of commands, ``about`` on the command's own help page. A
    ``hidden`` command works and is in no list.
    """
    listed: dict[str, Any] = {} if hidden else {"help": summary}  # argparse lists what has one
    parser = commands.add_parser(name, summary=summary, about=about, examples=examples, **listed)
    parser.set_defaults(run_command=run)
    return parser


def add_group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a word that needs another one after it, and return where its commands are added."""
    usage = "%(prog)s COMMAND [options]"
    return commands.add_parser(name, help=summary, summary=summary, usage=usage).add_commands()


def near(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` for the known word that is nearest, or nothing."""
    from difflib import get_close_matches

    matches = get_close_matches(word, list(known), 1, 0.7)
    return f"; did you mean {matches[0]}?" if matches else ""


_EXAMPLES = "examples:"


class _HelpFormatter(argparse.HelpFormatter):
    """Lists the commands one a line, and keeps the examples as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)

    def add_argument(self, action: argparse.Action) -> None:
        if not isinstance(action, argparse._SubParsersAction):
            super().add_argument(action)
            return
        section = "commands"
        for shown in action._get_subactions():
            name, parser = shown.dest, action.choices[shown.dest]
            if parser.section not in ("", section):
                section = parser.section
                self.end_section()
                self.start_section(section)
            below = ", ".join(parser.listed())
            super().add_argument(
                argparse.Action(
                    [],
                    dest=name,
                    metavar=f"{name} ..." if below else name,
                    help=f"{parser.summary}: {below}" if below else parser.summary,
                )
            )
