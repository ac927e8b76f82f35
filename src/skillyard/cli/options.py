"""Arguments that several commands share, and their argparse types."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

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
        from skillyard.install.sources.registry import builtin_names

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


_REPEATS: dict[str, Any] = {"action": "append", "default": []}
_SHARED_OPTIONS: dict[str, dict[str, Any]] = {
    "--root": {
        **_REPEATS,
        "metavar": "DIR",
        "type": folder,
        "help": "look for skills below this folder; may repeat, the first one wins (default: .)",
    },
    "--scope": {
        **_REPEATS,
        "metavar": "SCOPE",
        "choices": ("user", "project", "system", "marketplaces", "packages"),
        "help": (
            "also read the folders of agent hosts: those of the user, of the project that the "
            "working directory is in, or of the system; marketplaces: the plugins that Claude "
            "Code's marketplaces hold on this machine; packages: what npm and Python packages "
            "declare; may repeat"
        ),
    },
    "--profile": {
        "dest": "library_profile",
        "metavar": "NAME",
        "help": (
            "a profile of the policy: its tags and rules hold, and its roots and scopes where "
            "none are given (default: SKILLYARD_PROFILE)"
        ),
    },
    "--json": {"action": "store_true", "help": "print one JSON document with a schema field"},
    "--color": {
        "metavar": "WHEN",
        "choices": ("auto", "always", "never"),
        "default": "auto",
        "help": "colours and tables: auto (on a terminal, unless NO_COLOR is set), always, never",
    },
    "--quiet": {"action": "store_true", "help": "no notes and no progress on standard error"},
}


OPTIONS: dict[str, dict[str, Any]] = {
    "--caller": {
        "metavar": "NAME",
        "help": "serve what this caller of the store may see (default: all)",
    },
    "--durability": {
        "metavar": "WHEN",
        "choices": ("local", "synchronous"),
        "default": "local",
        "help": "acknowledge when the data is on the local disk, or also on a standby "
        "(default: local)",
    },
    "--explain": {"action": "store_true", "help": "show how each score is computed"},
    "--fallback": {"metavar": "TAG", "help": "when no skill passes, select one with this tag"},
    "--min-score": {
        "metavar": "X",
        "type": number,
        "help": "lowest score that is selected (default: the scorer's own)",
    },
    "--namespace": {
        "metavar": "NAME",
        "help": "part of the tenant, words joined by / (default: its top)",
    },
    "--not-tag": {**_REPEATS, "metavar": "TAG", "help": "no skills with this tag; may repeat"},
    "--publisher": {
        "metavar": "NAME",
        "help": "name in the log (default: that of skillyard.toml, else the login name)",
    },
    "--source": {
        "metavar": "NAME",
        "help": "the source of the skills, as owner/repo (default: none)",
    },
    "--state-dir": {
        "metavar": "DIR",
        "type": folder,
        "help": "folder of this node's copy of the store; one node, one folder "
        "(default: in the cache)",
    },
    "--store": {
        "metavar": "URL",
        "help": "the catalog store, sqlite:///file.db or postgresql://user@host/database "
        "(default: SKILLYARD_STORE, else that of skillyard.toml)",
    },
    "--tag": {**_REPEATS, "metavar": "TAG", "help": "only skills with this tag; may repeat"},
    "--tenant": {"metavar": "TENANT", "required": True, "help": "tenant that owns the skills"},
    "--tool": {
        **_REPEATS,
        "metavar": "NAME",
        "help": "a tool that you have: skills that require other tools are not chosen; may repeat",
    },
    "--wrong-cost": {
        "metavar": "X",
        "type": number,
        "help": "cost of a wrong skill, relative to 1 for a missed one; sets the minimum score "
        "(default: 2)",
    },
    "query": {
        "metavar": "QUERY",
        "nargs": "*",
        "default": [],
        "help": "the task in words; - reads it from standard input",
    },
}
"""Arguments of several commands, by the name with which :func:`add_options` adds them."""


def add_options(parser: CommandParser, *names: str) -> None:
    """Add arguments of the table, in this order."""
    for name in names:
        parser.add_argument(name, **OPTIONS[name])


def add_accept(parser: CommandParser, verb: str = "install") -> None:
    """Add ``--accept``; :func:`reasons_by_rule` reads it. ``verb`` says what is done in spite."""
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="RULE=REASON",
        help=f"{verb} in spite of findings of this rule of the scan, and note why; may repeat",
    )


def reasons_by_rule(accept: list[str]) -> dict[str, str]:
    """Return the reason for each rule of ``--accept``; empty where none is given."""
    pairs = (text.partition("=") for text in accept)
    return {rule.strip(): reason.strip() for rule, _, reason in pairs}


def add_into(parser: CommandParser, what: str) -> None:
    """Add ``--into``. ``what`` describes the content of the folder."""
    parser.add_argument("--into", metavar="DIR", type=folder, help=what)


def add_agent(parser: CommandParser, what: str) -> None:
    """Add ``--agent``; ``what`` says what it means for a host."""
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        type=agent_name,
        help=f"{what}, like claude-code or codex; may repeat",
    )


def add_global(parser: CommandParser, what: str) -> None:
    """Add ``--global``; ``what`` says what it means."""
    parser.add_argument("--global", dest="user", action="store_true", help=what)


def add_scorer(parser: CommandParser, *, configured: bool = True) -> None:
    """Add ``--scorer``. ``configured``: ``skillyard.toml`` sets the default."""
    hint = "; skillyard.toml names another default" if configured else ""
    parser.add_argument(
        "--scorer",
        metavar="NAME",
        type=scorer_name,
        help=f"how to score (default: hybrid){hint}",
    )


def add_library(parser: CommandParser) -> None:
    """Add ``ROOT``, a root before those of ``--root``."""
    parser.add_argument(
        "place",
        metavar="ROOT",
        nargs="?",
        type=folder,
        help="the library, before --root (default: .)",
    )


def add_limit(parser: CommandParser, what: str, default: int | None) -> None:
    """Add ``--limit``. ``what`` describes the limit."""
    default_note = "" if default is None else " (default: %(default)s)"
    parser.add_argument(
        "--limit", metavar="K", type=whole_number, default=default, help=f"{what}{default_note}"
    )
