"""Declarations of commands: their options, and requests whose fields are options.

The parsers are made of them in :mod:`.grammar`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from skillyard.base.operation import fields_of
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.source import load, read_text

if TYPE_CHECKING:
    from skillyard.cli.blocks import Block
    from skillyard.cli.console import Console

    RunCommand: TypeAlias = Callable[..., int | None]
    """Runs a command with its request, if it has one, the arguments and the console. Returns the
    exit code; None is 0."""

Request = TypeVar("Request")
_Run = TypeVar("_Run", bound="RunCommand")
View = TypeVar("View", bound=Callable[[Any], "Iterable[Block]"])


def whole_number(text: str) -> int:
    """Return a whole number from 0."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:  # infinite or NaN
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def suggestions(action: argparse.Action) -> tuple[str, ...]:
    """Return the completions of a value. Installed plugins may add scorers and sources."""
    if action.choices is not None:
        return tuple(action.choices)
    if "--scorer" in action.option_strings:
        from skillyard.engine.ranking.registry import BUILT_IN

        return BUILT_IN
    if action.metavar == "SOURCE":
        from skillyard.install.sources.build import builtin_names

        return builtin_names()
    if "--agent" in action.option_strings:
        from skillyard.engine.discovery.hosts import HOST_TITLES

        return tuple(sorted(HOST_TITLES))
    return ()


SHARED = {"--root": "root", "--scope": "scope", "--json": "json"}
"""The options of every command that some commands do not have, and their destinations."""


Option: TypeAlias = tuple[str, dict[str, Any]]
"""An argument of a command: its name or flag, and what argparse takes with it."""


class OneOf(NamedTuple):
    """Options of which a command line has at most one, or exactly one."""

    options: tuple[Option, ...]
    required: bool = False


FILES = frozenset({"FILE", "PATH", "PATH|NAME", "RESULTS", "FIRST", "SECOND", "SETTINGS", "PROMPT"})
FOLDERS = frozenset({"DIR", "ROOT"})
"""What stands for the path of a file, or of a folder, in the help."""
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("N", "K", "PORT", "GENERATION"), whole_number),
    **dict.fromkeys(("X", "SECONDS", "USD", "POINTS"), number),
}
"""What a value is, by the word that stands for it in the help."""


def flag(name: str, help: str, **more: Any) -> Option:
    """Return an option without a value."""
    return name, {"action": "store_true", "help": help, **more}


def value(name: str, metavar: str, help: str, **more: Any) -> Option:
    """Return an option with a value, or an argument by place.

    The metavar says what the value is, unless ``type`` does; the help names a default that is set.
    """
    if more.get("default") not in (None, "", []) and not ("choices" in more or "(def" in help):
        help += f" (default: {str(more['default']).removesuffix('.0')})"
    return name, {"metavar": metavar, "help": help, "type": _TYPES.get(metavar), **more}


def values(name: str, metavar: str, help: str, **more: Any) -> Option:
    """Return an option that may repeat."""
    help += "" if "may repeat" in help else "; may repeat"
    return value(name, metavar, help, action="append", default=[], **more)


def words(name: str, metavar: str, help: str, **more: Any) -> Option:
    """Return an argument of any number of words."""
    return value(name, metavar, help, nargs="*", default=[], **more)


def library(help: str = "the library, before --root (default: .)", nargs: str = "?") -> Option:
    """Return the roots before those of ``--root``; the grammar adds them to those."""
    default: list[str] | None = None if nargs == "?" else []
    return value("library", "ROOT", help, nargs=nargs, default=default)


def accept(verb: str = "install") -> Option:
    """Return ``--accept``, which :func:`reasons_by_rule` reads; ``verb``: what is done in spite."""
    help = f"{verb} in spite of findings of this rule of the scan, and note why"
    return values("--accept", "RULE=REASON", help)


def agent(help: str) -> Option:
    """Return ``--agent``."""
    help += ", like claude-code or codex"
    return values("--agent", "NAME", help, dest="agents")


OPTIONS: dict[str, dict[str, Any]] = dict(
    (
        value(
            "--durability",
            "WHEN",
            "acknowledge when the data is on the local disk, or also on a standby (default: local)",
            choices=("local", "synchronous"),
            default="local",
        ),
        value("--namespace", "NAME", "part of the tenant, as a/b (default: its top)", default=""),
        value("--publisher", "NAME", "name in the log (default: of skillyard.toml, or the login)"),
        value(
            "--scorer", "NAME", "how to score (default: hybrid); skillyard.toml may name another"
        ),
        value("--source", "NAME", "the skills' source, as owner/repo (default: none)", default=""),
        value(
            "--store",
            "URL",
            "the catalog store, sqlite:///file.db or postgresql://user@host/database "
            "(default: SKILLYARD_STORE, else that of skillyard.toml)",
        ),
        values("--tag", "TAG", "only skills with this tag"),
        value("--tenant", "TENANT", "tenant that owns the skills", required=True),
    )
)
"""Arguments of several commands, by name."""
_ALONE = "score with hybrid alone, without the sentence encoder"
NO_ENCODER = flag("--no-encoder", _ALONE, action="store_const", const="hybrid", dest="scorer")
"""What every command with ``--scorer`` has beside it."""


def reasons_by_rule(accept: list[str]) -> dict[str, str]:
    """Return the reason for each rule of ``--accept``; empty where none is given."""
    pairs = (text.partition("=") for text in accept)
    return {rule.strip(): reason.strip() for rule, _, reason in pairs}


SHARED_OPTIONS = dict(
    (
        values(
            "--root",
            "DIR",
            "read skills below it; may repeat, first wins (default: ., and scopes project and "
            "user except in check and scan)",
        ),
        values(
            "--scope",
            "SCOPE",
            "also read the folders of agent hosts: those of the user, of the project that the "
            "working directory is in, or of the system; none: the root alone",
            choices=("user", "project", "system", "none"),
        ),
        flag("--json", "print one JSON document with a schema field"),
        value(
            "--color",
            "WHEN",
            "colours and tables: auto (on a terminal, unless NO_COLOR is set), always, never",
            choices=("auto", "always", "never"),
            default="auto",
        ),
        flag("--quiet", "no notes and no progress on standard error"),
    )
)
"""The options of every command."""


class Command(NamedTuple):
    """The declaration of a command."""

    name: str
    """Its words, without the name of the program."""
    run: RunCommand
    options: tuple[str | Option | OneOf, ...]
    """An option that is text is one of :data:`OPTIONS`."""
    doc: str
    """The help: the first paragraph is for lists of commands too, the last one has an example on
    each line."""
    request: str
    """``module:class`` of a request whose fields are arguments too, or empty."""
    hidden: bool = False
    """Whether no list has it."""


DECLARED: dict[str, list[Command]] = {}
"""The commands that begin with a word, in the order of the help page."""


def command(
    name: str,
    *options: str | Option | OneOf,
    doc: str = "",
    request: str = "",
    hidden: bool = False,
) -> Callable[[_Run], _Run]:
    """Declare the command that the function below runs; its documentation is the help."""

    def declare(run: _Run) -> _Run:
        each = Command(name, run, options, doc or run.__doc__ or "", request, hidden)
        DECLARED.setdefault(name.partition(" ")[0], []).append(each)
        return run

    return declare


def request_options(request: type) -> list[Option]:
    """Return the arguments of a request: required fields and the query by place, then options."""
    options = []
    fields = fields_of(request, "cli")
    for field in sorted(fields, key=lambda each: (not each.required, not each.spelling.by_place)):
        about = field.about[:1].lower() + field.about[1:].rstrip(".")
        name = field.spelling.flag or "--" + field.name.replace("_", "-")
        more: dict[str, Any] = {"dest": field.name, "default": field.default}
        if field.spelling.by_place:
            about += "; - reads it from standard input" if field.kind == "text" else ""
            name, more = field.name, {"nargs": "*", "default": []}
        elif field.required:
            name, more = field.name, {}
        elif field.kind == "flag":
            more = {"action": "store_false" if field.default else "store_true", "help": about}
            options.append((name, {**more, "dest": field.name}))
            continue
        elif field.kind == "texts":
            about += "; may repeat"
            more |= {"action": "append", "default": []}
        elif field.choices:
            more |= {"choices": field.choices}
        options.append(value(name, field.spelling.metavar, about, **more))
    return options


def read_request(args: argparse.Namespace, request: Callable[..., Request]) -> Request:
    """Return the request of parsed arguments; a query ``-`` is read from standard input."""
    arguments: dict[str, Any] = {}
    for field in fields_of(request, "cli"):
        each = getattr(args, field.name)
        if field.name in ("query", "text"):
            words = [each] if isinstance(each, str) else each or []
            each = read_text("-") if words == ["-"] else " ".join(words)
            each = each if words else field.default
        elif field.kind == "texts":
            each = tuple(each) or field.default
        arguments[field.name] = each
    return request(**arguments)


def words_of_request(request: Any) -> list[str]:
    """Return the options that give the values of a request that are not its defaults."""
    words: list[str] = []
    kind: Any = type(request)
    for field in fields_of(kind, "cli"):
        value = getattr(request, field.name)
        for each in value if field.kind == "texts" else [value]:
            if each != field.default:
                text = f"{each:g}" if isinstance(each, float) else str(each)
                name = field.spelling.flag or "--" + field.name.replace("_", "-")
                words += [name, *([] if field.kind == "flag" else [text])]
    return words


def view_of(
    operation: str,
    name: str,
    *options: str | Option | OneOf,
    provide: Mapping[str, Provider] | None = None,
    what: str = "",
    code: Callable[[Any, argparse.Namespace], int | bool] | None = None,
    notes: Callable[[Any, argparse.Namespace], Iterable[str]] | None = None,
    doc: str = "",
) -> Callable[[View], View]:
    """Declare the command that runs an operation; the function below is the view of its result.

    ``operation`` is ``module:function``. Its parameters are the options of their names, or what
    ``provide`` makes of the options: ``catalog`` is the library, and ``report`` or ``progress`` a
    progress line that says ``what`` is done. ``code`` returns the exit code of a result, or True
    for a negative answer; ``notes`` are said beside it. The help is that of ``command``.
    """

    def declare(view: View) -> View:
        def run(args: argparse.Namespace, console: Console) -> int:
            from inspect import signature

            module, _, function = operation.partition(":")
            call = getattr(import_module(module), function)
            parameters = signature(call).parameters
            providers = {**_PROVIDERS, **(provide or {})}
            arguments = {
                name: providers[name](args, console) if name in providers else getattr(args, name)
                for name in parameters
                if name in providers or name in args
            }
            with console.progress(what) as step:
                steps = {name: step for name in ("report", "progress") if name in parameters}
                result = call(**arguments, **steps)
            console.show(result, view)
            for note in () if notes is None else notes(result, args):
                console.note(note)
            outcome = 0 if code is None else code(result, args)
            return NEGATIVE if outcome is True else int(outcome)

        command(name, *options, doc=doc or view.__doc__ or "")(run)
        return view

    return declare


Provider: TypeAlias = Callable[[argparse.Namespace, Any], Any]
"""Makes the value of a parameter of an operation of the options and the console."""
_PROVIDERS: Mapping[str, Provider] = {
    "accept": lambda args, _: reasons_by_rule(args.accept),
    "catalog": load,
    "roots": lambda args, _: args.root,
    "scopes": lambda args, _: args.scope,
    "tags": lambda args, _: tuple(args.tag),
}
