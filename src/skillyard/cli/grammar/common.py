"""Options that several commands take, and what completion offers for them."""

from __future__ import annotations

from skillyard.cli.grammar.shapes import Option
from skillyard.remote.sources.registry import builtin_names

__all__ = [
    "CALLER",
    "EXPLAIN",
    "FALLBACK",
    "FILES",
    "GLOBAL",
    "LAYOUTS",
    "MIN_SCORE",
    "NOT_TAG",
    "OPEN",
    "QUERY",
    "RECENT",
    "REFERENCES",
    "SCORER",
    "SCORERS",
    "SOURCES",
    "STATE_DIR",
    "STORE",
    "TAG",
    "WRONG_COST",
    "limit",
]

SCORERS = ("confidence", "hybrid", "overlap", "relevance", "triggers")
"""Offered by completion; installed packages may bring more."""

SOURCES = builtin_names()
"""Offered by completion; installed packages may bring more."""

OPEN = frozenset({"scorer", "source"})
"""Options whose choices are only offered: what is taken is known when the command runs."""

LAYOUTS = ("agentskills", "runtime", "oasis", "convention")

GLOBAL = (
    Option(
        "--root",
        "look for skills below this folder; may repeat, the first one wins (default: .)",
        "repeat",
        "DIR",
        "folder",
    ),
    Option("--scope", "also read the user's agent folders", "repeat", "SCOPE", choices=("user",)),
    Option("--json", "print one JSON document with a schema field", "flag"),
    Option(
        "--color",
        "colours and tables: auto (on a terminal, unless NO_COLOR is set), always, never",
        metavar="WHEN",
        choices=("auto", "always", "never"),
        default="auto",
    ),
    Option("--quiet", "no notes and no progress on standard error", "flag"),
)

QUERY = Option("QUERY", "what is to be done, in words; - reads it from standard input", "words")

SCORER = Option("--scorer", "how to score (default: hybrid)", metavar="NAME", choices=SCORERS)

TAG = Option("--tag", "only skills with this tag; may repeat", "repeat", "TAG")

NOT_TAG = Option("--not-tag", "no skills with this tag; may repeat", "repeat", "TAG")

FILES = Option(
    "--files",
    "a path in play, matched with file patterns, never opened; may repeat",
    "repeat",
    "PATH",
    "path",
)

RECENT = Option("--recent", "something that was done recently; may repeat", "repeat", "WHAT")

EXPLAIN = Option("--explain", "show the tree behind each score", "flag")

REFERENCES = Option("--references", "count reference documents (relevance only)", "flag")

MIN_SCORE = Option(
    "--min-score",
    "the floor below which nothing is chosen (default: the scorer's own)",
    metavar="X",
    type="number",
)

WRONG_COST = Option(
    "--wrong-cost",
    "what a wrong skill costs where a missed one costs 1; sets the floor (default: 2)",
    metavar="X",
    type="number",
)

FALLBACK = Option("--fallback", "when nothing passes, take a skill with this tag", metavar="TAG")


STORE = Option(
    "--store",
    "the catalog store, sqlite:///file.db or postgresql://user@host/database "
    "(default: SKILLYARD_STORE)",
    metavar="URL",
)


CALLER = Option("--caller", "as this caller of the store sees it (default: all)", metavar="NAME")

STATE_DIR = Option(
    "--state-dir",
    "where a node keeps the store's skills, each one its own (default: in the cache)",
    metavar="DIR",
    type="folder",
)


def limit(what: str, default: int | None) -> Option:
    """Return ``--limit``, whose help says what is limited and to how many by default."""
    shown = f" (default: {default})" if default is not None else ""
    return Option("--limit", f"{what}{shown}", metavar="K", type="count", default=default)
