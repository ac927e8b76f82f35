"""The grammar of the command line: the parsers of commands, and how they read the arguments.

Only the module of the given command is loaded, and only the parser of that command is made.
Options that every command has may stand before and after the command, and the words of a query may
stand between options. argparse supports neither when it goes from a parser to a subparser: it
starts with new values, and it reads a subparser's arguments in order. So this module finds the
command, and the command's parser adds to the values read before it. The tree of all parsers is for
help pages, completion and errors.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from skillyard.base.invisible import clean
from skillyard.base.text import without_secrets
from skillyard.cli.commands import GROUPS, MODULES, SUMMARIES
from skillyard.cli.options import (
    DECLARED,
    OPTIONS,
    SHARED,
    SHARED_OPTIONS,
    Command,
    OneOf,
    request_options,
)
from skillyard.cli.removed import REMOVED

if TYPE_CHECKING:
    from skillyard.cli.options import RunCommand

    Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
    """The result of ``add_subparsers``, to which commands are added."""

PROGRAM = "skillyard"


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
    unused: tuple[str, ...] = ()
    """The options of every command that it does not have."""

    def __init__(
        self,
        prog: str,
        *,
        summary: str,
        about: str = "",
        examples: Iterable[str] = (),
        **keywords: Any,
    ) -> None:
        end = "" if summary.endswith("?") else "."
        super().__init__(
            prog,
            description=f"{summary[:1].upper()}{summary[1:]}{end} {about}".strip(),
            # argparse makes a formatter for each option; without a width each looks for a terminal.
            formatter_class=partial(_HelpFormatter, width=78),
            allow_abbrev=False,
            **keywords,
        )
        self.name = prog.partition(" ")[2]
        """The words after the name of the program."""
        self.words = tuple(self.name.split())
        self.summary = summary
        self.about = about
        self.examples = tuple(examples)

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
    shared, words = Namespace(), list(arguments)
    if not words or words[0].startswith("-"):
        shared, words = _split(words)
    if vars(shared).pop("version", False):
        from skillyard.base.version import __version__

        _print_and_exit(f"{PROGRAM} {__version__}\n")
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    parser, rest = _find(words)
    options = rest[: rest.index("--")] if "--" in rest else rest
    if vars(shared).pop("help", False) or "-h" in options or "--help" in options:
        if parser.subcommands is not None and rest and not rest[0].startswith("-"):
            parser.error(_unknown_command(parser, rest[0]))
        _print_and_exit(parser.format_help())
    if parser.subcommands is not None:
        _without_command(parser, rest)
    parser.usage = ""  # argparse composes it otherwise, and no error of ours prints it
    _, unknown = parser.parse_known_intermixed_args(rest, shared)
    if unknown:
        parser.error(_unknown_argument(parser, unknown[0]))
    for flag in parser.unused:
        if getattr(shared, SHARED[flag]):  # it stands before the command
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
        for each in DECLARED[first]:
            below, groups = commands, each.name.split()[:-1]
            for depth, name in enumerate(groups, 1):
                known = below.choices.get(name)
                below = (known and known.subcommands) or add_group(
                    below, name, SUMMARIES[" ".join(groups[:depth])]
                )
            command_parser(each, below)
    for name, child in root.children().items():
        child.section = next(title for title, group in GROUPS.items() if name in group)
    _complete(root)
    return root


def command_parser(each: Command, commands: Commands | None = None) -> CommandParser:
    """Return the parser of a declared command, of one in a tree where ``commands`` is given."""
    summary, *about, examples = each.doc.strip().split("\n\n")
    texts: dict[str, Any] = {
        "summary": summary[:1].lower() + summary[1:].rstrip("."),
        "about": " ".join(" ".join(about).split()),
        "examples": [line.strip() for line in examples.split("\n")],
    }
    if commands is None:
        parser = CommandParser(f"{PROGRAM} {each.name}", **texts)
        parser.set_defaults(run_command=each.run)
    else:
        name = each.name.split()[-1]
        parser = add_command(commands, name, run=each.run, hidden=each.hidden, **texts)
    options = each.options
    if each.request:
        module, _, shape = each.request.partition(":")
        options = (*request_options(getattr(import_module(module), shape)), *options)
    for option in options:
        if isinstance(option, OneOf):
            group = parser.add_mutually_exclusive_group(required=option.required)
            for name, keywords in option.options:
                group.add_argument(name, **keywords)
        else:
            name, keywords = (option, OPTIONS[option]) if isinstance(option, str) else option
            parser.add_argument(name, **keywords)
    return parser


def command_parsers() -> list[CommandParser]:
    """Return the parser of every command that is listed, in the order of the help page."""
    return list(_leaves(build_parser()))


def shared_options() -> list[argparse.Action]:
    """Return the options that every command has."""
    parser = CommandParser(PROGRAM, summary="", add_help=False)
    add_shared_options(parser)
    return parser._actions


_LAYERS = ("activation", "confusion", "effectiveness", "size-impact")
"""Up to 0.1 without ``eval run``, and what works stays."""
_BEGIN_REMOVED = frozenset(words.split()[0] for words in REMOVED)
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


def add_shared_options(parser: CommandParser) -> None:
    """Add what every page has last: the options that every command has, but the unused ones."""
    parser.arguments = tuple(action for action in parser._actions if action.dest != "help")
    parser.unused = _UNUSED.get(parser.name, _UNUSED.get(parser.name.partition(" ")[0], ()))
    group = parser.add_argument_group("options of every command")
    parser.set_defaults(root=[], scope=[], library_profile=None, json=False)
    own = parser._option_string_actions  # `check` has profiles of its own
    for flag, option in SHARED_OPTIONS.items():
        if flag not in parser.unused and flag not in own:
            group.add_argument(flag, **option)


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
    rest = list(words)
    if rest[:1] == ["eval"] and rest[1:2] and rest[1] in _LAYERS:
        rest.insert(1, "run")
    if rest and rest[0] in _BEGIN_REMOVED and (gone := removal(rest)):
        raise UsageError(gone)
    if rest and rest[0] in MODULES:
        import_module(f"skillyard.cli.commands.{MODULES[rest[0]]}")
        for each in DECLARED.get(rest[0], ()):
            name = each.name.split()
            if rest[: len(name)] == name:
                parser = command_parser(each)
                add_shared_options(parser)
                return parser, rest[len(name) :]
    parser = build_parser(rest[0] if rest else None)
    while rest and rest[0] in parser.children():
        parser = parser.children()[rest.pop(0)]
    return parser, rest


def _complete(parser: CommandParser) -> None:
    """Add what every page has: the shared options, and for a group the first steps."""
    for child in parser.children().values():
        _complete(child)
    below = list(parser.listed().values())
    if below and not parser.examples:
        parser.examples = (below[0].examples[0], f"{below[0].prog} --help")
    add_shared_options(parser)


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


def removal(words: Sequence[str]) -> str | None:
    """Return the error for arguments that begin with removed words or have a removed option."""
    for words_gone, instead in REMOVED.items():
        *command, last = words_gone.split()
        is_option = last.startswith("-")
        command += [] if is_option else [last]
        if list(words[: len(command)]) != command:
            continue
        flags = [word.partition("=")[0] for word in words[len(command) :]]
        if not is_option or last in flags[: flags.index("--") if "--" in flags else None]:
            return f"skillyard: {words_gone} is gone: {instead}"
    return None
