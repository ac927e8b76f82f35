"""The grammar of the command line: which command the words mean, and how it reads its arguments.

Only the module of the given command is loaded, and only the parser of that command is made.
Options that every command has may stand before and after the command, and the words of a query may
stand between options. argparse supports neither when it goes from a parser to a subparser: it
starts with new values, and it reads a subparser's arguments in order. So this module finds the
command, and the command's parser adds to the values read before it.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from skillyard.base.invisible import clean
from skillyard.base.text import without_secrets
from skillyard.cli.commands import GROUPS, MODULES, SUMMARIES
from skillyard.cli.options import (
    DECLARED,
    NO_ENCODER,
    OPTIONS,
    SHARED,
    SHARED_OPTIONS,
    Command,
    OneOf,
    request_options,
)

PROGRAM = "skillyard"
_EXAMPLES = "examples:"


class UsageError(Exception):
    """Wrong use of the command line. The text is printed on standard error."""


class _HelpFormatter(argparse.HelpFormatter):
    """Keeps the examples as they are written, and names what an option takes once."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"  # as Python 3.13 has it


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, or the help page of the program or of a group of commands."""

    request: type | None = None
    """The request that the arguments are read as, for a command that takes one."""
    arguments: tuple[argparse.Action, ...] = ()
    """The command's own arguments: without ``--help`` and those that every command has."""

    def __init__(self, name: str, doc: str, **more: Any) -> None:
        super().__init__(
            f"{PROGRAM} {name}".strip(),
            # argparse makes a formatter for each option; without a width each looks for a terminal.
            formatter_class=partial(_HelpFormatter, width=78),
            allow_abbrev=False,
            **more,
        )
        self.name = name
        self.words = tuple(name.split())
        self._doc = doc
        self.unused = _UNUSED.get(name, _UNUSED.get(name.partition(" ")[0], ()))
        """The options of every command that it does not have."""

    @property
    def summary(self) -> str:
        """One sentence for lists of commands, without its end."""
        return summary_of(self._doc)

    @property
    def about(self) -> str:
        """What the page says after the summary."""
        return " ".join(" ".join(self._doc.strip().split("\n\n")[1:-1]).split())

    @property
    def explanation(self) -> str:
        """The summary as a sentence, and what is about the command."""
        end = "" if self.summary.endswith("?") else "."
        return f"{self.summary[:1].upper()}{self.summary[1:]}{end} {self.about}".strip()

    @property
    def examples(self) -> tuple[str, ...]:
        """Command lines."""
        return tuple(each.strip() for each in self._doc.strip().split("\n\n")[-1].split("\n"))

    def add_shared_options(self) -> None:
        """Add what every page has last: the options that every command has, but the unused ones."""
        self.arguments = tuple(action for action in self._actions if action.dest != "help")
        group = self.add_argument_group("options that most commands have")
        self.set_defaults(root=[], scope=[], json=False)
        for flag, option in SHARED_OPTIONS.items():
            if flag not in self.unused:
                group.add_argument(*_SHORT.get(flag, (flag,)), **option)

    def format_help(self) -> str:
        """Return the help page."""
        self.description = self.explanation
        self.epilog = "\n  ".join([_EXAMPLES, *self.examples])
        self.formatter_class = _HelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the message and the help page to read."""
        text = clean(without_secrets(message)).replace("\n", " ")
        raise UsageError(f"{self.prog}: {text}\n  try: {self.prog} --help")


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
    is_help = vars(shared).pop("help", False) or "-h" in options or "--help" in options
    if parser.get_default("run_command") is None:
        _without_command(parser, rest, is_help=is_help)
    if is_help:
        _print_and_exit(parser.format_help())
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


def summary_of(doc: str) -> str:
    """Return the first sentence of a documentation, as it stands in a list."""
    summary = doc.strip().split("\n\n")[0]
    return summary[:1].lower() + summary[1:].rstrip(".")


def declared(word: str) -> list[Command]:
    """Return the commands that begin with a word."""
    import_module(f"skillyard.cli.commands.{MODULES[word]}")
    return DECLARED[word]


def command_parsers() -> list[CommandParser]:
    """Return the parser of every command that is listed, in the order of the help page."""
    return [command_parser(e) for word in MODULES for e in declared(word) if not e.hidden]


def command_parser(each: Command) -> CommandParser:
    """Return the parser of a declared command."""
    parser = CommandParser(each.name, each.doc)
    parser.set_defaults(run_command=each.run)
    options = each.options
    if each.request:
        module, _, shape = each.request.partition(":")
        parser.request = getattr(import_module(module), shape)
        options = (*request_options(parser.request), *options)
    for option in options:
        group: Any = parser
        part = (option, OPTIONS[option]) if isinstance(option, str) else option
        if not isinstance(part, OneOf) and part[0] == "--scorer":
            part = OneOf((part, NO_ENCODER))
        if isinstance(part, OneOf):
            group = parser.add_mutually_exclusive_group(required=part.required)
        for name, keywords in part.options if isinstance(part, OneOf) else (part,):
            group.add_argument(*_SHORT.get(name, (name,)), **keywords)
    parser.add_shared_options()
    return parser


def shared_options() -> list[argparse.Action]:
    """Return the options that every command has."""
    parser = CommandParser("", "", add_help=False)
    parser.add_shared_options()
    return parser._actions


def commands_below(*group: str) -> dict[str, str]:
    """Return the summaries of what is listed below a group of commands, by its next word.

    Without words these are the commands of the program.
    """
    summaries: dict[str, str] = {}
    for word in group[:1] or MODULES:
        for each in declared(word):
            name = tuple(each.name.split())
            here = name[: len(group) + 1]
            if each.hidden or name[: len(group)] != group or here[-1] in summaries:
                continue
            about = summary_of(each.doc) if here == name else SUMMARIES[" ".join(here)]
            summaries[here[-1]] = about
    return summaries


_SHORT = {
    "--limit": ("-n", "--limit"),
    "--quiet": ("-q", "--quiet"),
    "--scorer": ("-s", "--scorer"),
    "--root": ("-C", "--root"),
}
"""The spellings of the options that are typed most."""
_LAYERS = ("activation", "confusion", "effectiveness", "size-impact")
"""Up to 0.1 without ``eval run``, and what works stays."""
_LIBRARY = ("--root", "--scope")
_UNUSED = {
    **dict.fromkeys(("add", "sync", "update", "outdated", "verify", "remove", "trust"), _LIBRARY),
    **dict.fromkeys(("completion", "hook uninstall", "new", "setup"), _LIBRARY),
    **dict.fromkeys(("bench score", "bench compare"), _LIBRARY),
    **dict.fromkeys(("eval plan", "eval compare", "eval report"), _LIBRARY),
    **dict.fromkeys(("eval baseline", "store"), _LIBRARY),
    **dict.fromkeys(("hook claude-code", "hook codex"), ("--scope", "--json")),
    "hook install": ("--scope",),
    "store publish": ("--scope",),
    "serve": ("--json",),
}
"""Options of every command that a command, or a group of commands, does not have."""


def _split(arguments: Sequence[str]) -> tuple[Namespace, list[str]]:
    """Split at the command: the values of the options before it, and the words from it on."""
    parser = CommandParser("", "", add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-V", "--version", action="store_true")
    parser.add_shared_options()
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
    """Return the parser that the words lead to, and the words after that."""
    rest = list(words)
    if rest[:1] == ["eval"] and rest[1:2] and rest[1] in _LAYERS:
        rest.insert(1, "run")
    if rest[:1] == ["ls"]:
        rest[0] = "list"
    if rest and rest[0] in MODULES:
        import_module(f"skillyard.cli.commands.{MODULES[rest[0]]}")
    for each in DECLARED.get(rest[0], ()) if rest else ():
        name = each.name.split()
        if rest[: len(name)] == name:
            return command_parser(each), rest[len(name) :]
    group: list[str] = []
    while rest and rest[0] in commands_below(*group):
        group.append(rest.pop(0))
    return _group_page(group), rest


_DOC = f"""Find the right agent skill, say when none fits, and say why.

{PROGRAM} list
{PROGRAM} select "clean this csv file" --root skills
{PROGRAM} help select"""


def _group_page(group: list[str]) -> CommandParser:
    """Return the help page of a group of commands, of the program without words."""
    name = " ".join(group)
    if group:
        listed = commands_below(*group)
        sections = {"commands": dict.fromkeys(listed)}
        first = next(each for each in declared(group[0]) if each.name.startswith(f"{name} "))
        example = first.doc.strip().split("\n\n")[-1].split("\n")[0]
        page = CommandParser(name, f"{SUMMARIES[name]}\n\n{example}\n{PROGRAM} {first.name} --help")
    else:
        listed = commands_below()
        sections = {title: dict.fromkeys(commands) for title, commands in GROUPS.items()}
        page = CommandParser("", _DOC)
        page.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    page.usage = "%(prog)s COMMAND [options]" if group else "%(prog)s [options] COMMAND ..."
    for title, words in sections.items():
        section = page.add_argument_group(title)
        for word in words:
            is_group = " ".join([*group, word]) in SUMMARIES
            below = f": {', '.join(commands_below(*group, word))}" if is_group else ""
            metavar = f"{word} ..." if is_group else word
            help = f"{listed[word]}{below}"
            section._add_action(argparse.Action([], dest=word, metavar=metavar, help=help))
    page.add_shared_options()
    return page


def _without_command(page: CommandParser, rest: list[str], *, is_help: bool) -> NoReturn:
    """Print the page of a group, or raise the error for words that run no command."""
    names = commands_below(*page.words)
    if rest and not rest[0].startswith("-"):
        typed = " ".join([*page.words, rest[0]])
        guess = near(rest[0], names) or f"; the commands are: {', '.join(names)}"
        page.error(f"no command {typed!r}{guess}")
    if is_help:
        _print_and_exit(page.format_help())
    message = f"name a command, as in: {page.examples[0]}"
    if page.words:
        message = f"name one of its commands: {', '.join(names)}; as in: {page.examples[0]}"
    if rest:
        page.error(message)
    raise UsageError(f"{page.format_help()}\n{page.prog}: {message}")


def near(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` for the known word that is nearest, or nothing."""
    from difflib import get_close_matches

    matches = get_close_matches(word, list(known), 1, 0.7)
    return f"; did you mean {matches[0]}?" if matches else ""


def _unknown_argument(parser: CommandParser, text: str) -> str:
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
