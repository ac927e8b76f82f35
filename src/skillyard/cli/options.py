"""Declarations of commands: their options, and requests whose fields are options.

The parsers are made of them in :mod:`.grammar`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from skillyard.base.operation import fields_of
from skillyard.cli.source import words_of

if TYPE_CHECKING:
    from skillyard.cli.console import Console

    RunCommand: TypeAlias = Callable[[argparse.Namespace, Console], int | None]
    """Runs a command and returns its exit code; None is 0."""

Request = TypeVar("Request")
_Run = TypeVar("_Run", bound="RunCommand")

LAYOUTS = ("agentskills", "runtime", "oasis", "convention")


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


def file_path(text: str) -> str:
    """Return the path of a file or folder; completion offers both."""
    return text


def folder(text: str) -> str:
    """Return the path of a folder; completion offers folders."""
    return text


def scorer_name(text: str) -> str:
    """Return the name of a scorer. The registry checks it later."""
    return text


def source_name(text: str) -> str:
    """Return the name of a remote source. The settings check it later."""
    return text


def agent_name(text: str) -> str:
    """Return the name of an agent host. The table of hosts checks it later."""
    return text


def suggestions(action: argparse.Action) -> tuple[str, ...]:
    """Return the completions of a value. Installed plugins may add scorers and sources."""
    if action.choices is not None:
        return tuple(action.choices)
    if action.type is scorer_name:
        from skillyard.engine.ranking.registry import BUILT_IN

        return BUILT_IN
    if action.type is source_name:
        from skillyard.install.sources.build import builtin_names

        return builtin_names()
    if action.type is agent_name:
        from skillyard.engine.discovery.hosts import HOST_TITLES

        return tuple(sorted(HOST_TITLES))
    return ()


SHARED = {"--root": "root", "--scope": "scope", "--profile": "library_profile", "--json": "json"}
"""The options of every command that some commands do not have, and their destinations."""


Option: TypeAlias = tuple[str, dict[str, Any]]
"""An argument of a command: its name or flag, and what argparse takes with it."""


class OneOf(NamedTuple):
    """Options of which a command line has at most one, or exactly one."""

    options: tuple[Option, ...]
    required: bool = False


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("N", "K", "PORT", "GENERATION"), whole_number),
    **dict.fromkeys(("X", "SECONDS", "POINTS", "USD"), number),
    **dict.fromkeys(("FILE", "PATH", "PATH|NAME", "RESULTS", "FIRST", "SECOND"), file_path),
    **dict.fromkeys(("SETTINGS", "PROMPT"), file_path),
    **dict.fromkeys(("DIR", "ROOT"), folder),
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
    return name, {"metavar": metavar, "help": help, "type": _KINDS.get(metavar), **more}


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
    return values("--agent", "NAME", help, type=agent_name)


FORMAT = value(
    "--format",
    "NAME",
    "how to print: text, json, sarif, github",
    choices=("text", "json", "sarif", "github"),
    default="text",
)
OPTIONS: dict[str, dict[str, Any]] = dict(
    (
        value("--caller", "NAME", "serve what this caller of the store may see (default: all)"),
        value(
            "--durability",
            "WHEN",
            "acknowledge when the data is on the local disk, or also on a standby (default: local)",
            choices=("local", "synchronous"),
            default="local",
        ),
        value("--fallback", "TAG", "when no skill passes, select one with this tag"),
        value("--min-score", "X", "lowest score that is selected (default: the scorer's own)"),
        value("--namespace", "NAME", "part of the tenant, words joined by / (default: its top)"),
        values("--not-tag", "TAG", "no skills with this tag"),
        value(
            "--publisher",
            "NAME",
            "name in the log (default: that of skillyard.toml, else the login name)",
        ),
        value(
            "--scorer",
            "NAME",
            "how to score (default: hybrid); skillyard.toml names another default",
            type=scorer_name,
        ),
        value("--source", "NAME", "the source of the skills, as owner/repo (default: none)"),
        value(
            "--store",
            "URL",
            "the catalog store, sqlite:///file.db or postgresql://user@host/database "
            "(default: SKILLYARD_STORE, else that of skillyard.toml)",
        ),
        values("--tag", "TAG", "only skills with this tag"),
        value("--tenant", "TENANT", "tenant that owns the skills", required=True),
        values(
            "--tool", "NAME", "a tool that you have: skills that require other tools are not chosen"
        ),
        value(
            "--wrong-cost",
            "X",
            "cost of a wrong skill, relative to 1 for a missed one; sets the minimum score "
            "(default: 2)",
        ),
    )
)
"""Arguments of several commands, by name."""


def reasons_by_rule(accept: list[str]) -> dict[str, str]:
    """Return the reason for each rule of ``--accept``; empty where none is given."""
    pairs = (text.partition("=") for text in accept)
    return {rule.strip(): reason.strip() for rule, _, reason in pairs}


SHARED_OPTIONS = dict(
    (
        values(
            "--root",
            "DIR",
            "look for skills below this folder; may repeat, the first one wins (default: .)",
        ),
        values(
            "--scope",
            "SCOPE",
            "also read the folders of agent hosts: those of the user, of the project that the "
            "working directory is in, or of the system; marketplaces: the plugins that Claude "
            "Code's marketplaces hold on this machine; packages: what npm and Python packages "
            "declare",
            choices=("user", "project", "system", "marketplaces", "packages"),
        ),
        value(
            "--profile",
            "NAME",
            "a profile of the policy: its tags and rules hold, and its roots and scopes where none "
            "are given (default: SKILLYARD_PROFILE)",
            dest="library_profile",
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


_TYPES: dict[str, Any] = {"integer": whole_number, "number": number}


def request_options(request: type) -> list[Option]:
    """Return the arguments of a request: required fields and the query by place, then options."""
    options = []
    fields = fields_of(request, "cli")
    for field in sorted(fields, key=lambda field: (not field.required, field.name != "query")):
        about = field.about[:1].lower() + field.about[1:].rstrip(".")
        name = field.spelling.flag or "--" + field.name.replace("_", "-")
        kind = {"files": file_path, "scorer": scorer_name}.get(field.name) or _TYPES.get(field.kind)
        more: dict[str, Any] = {"dest": field.name, "default": field.default, "type": kind}
        if field.name == "query":
            about += "; - reads it from standard input"
            name, more = "query", {"nargs": "*", "default": []}
        elif field.required:
            name, more = field.name, {}
        elif field.kind == "flag":
            options.append((name, {"action": "store_true", "help": about, "dest": field.name}))
            continue
        elif field.kind == "texts":
            about += "; may repeat"
            more |= {"action": "append", "default": []}
        options.append(value(name, field.spelling.metavar, about, **more))
    return options


def read_request(args: argparse.Namespace, request: Callable[..., Request]) -> Request:
    """Return the request of parsed arguments; a query ``-`` is read from standard input."""
    arguments: dict[str, Any] = {}
    for field in fields_of(request, "cli"):
        each = getattr(args, field.name)
        if field.name in ("query", "text"):
            words = [each] if isinstance(each, str) else each or []
            each = words_of(words) if words == ["-"] else " ".join(words)
            each = each if words else field.default
        elif field.kind == "texts":
            each = tuple(each) or field.default
        arguments[field.name] = each
    return request(**arguments)
