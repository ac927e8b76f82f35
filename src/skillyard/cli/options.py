"""Arguments that several commands share, and their argparse types."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any, NamedTuple, TypeAlias

from skillyard.cli.parser import CommandParser

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


def add_shared_options(parser: CommandParser, unused: Collection[str] = ()) -> None:
    """Add the options that every command has, but the unused ones."""
    group = parser.add_argument_group("options of every command")
    parser.set_defaults(library_profile=None)
    unused = {*unused, *parser._option_string_actions}  # `check` has profiles of its own
    for flag, option in _SHARED_OPTIONS.items():
        if flag not in unused:
            group.add_argument(flag, **option)


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


_SHARED_OPTIONS = dict(
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
