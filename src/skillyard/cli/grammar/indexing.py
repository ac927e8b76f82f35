"""Commands for the on-disk index."""

from __future__ import annotations

from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

_INDEX_ROOT = Option("PLACE", "the library, before --root (default: .)", "maybe", "ROOT", "folder")

COMMANDS = (
    Command(
        ("index", "build"),
        "make the index of a library anew",
        "indexing:index_build",
        (
            _INDEX_ROOT,
            Option(
                "--adapt", "learn the meaning of the library's own words, without labels", "flag"
            ),
            Option("--watch", "stay, and follow the files until interrupted", "flag"),
        ),
        "The index lies in the cache folder (SKILLYARD_CACHE, else XDG_CACHE_HOME, else ~/.cache; "
        "on Windows %LOCALAPPDATA%) "
        "and keeps itself up to date: rank, select and why use it without being told.",
        ("skillyard index build", "skillyard index build skills --adapt"),
    ),
    Command(
        ("index", "status"),
        "say whether a library has an index, and in which state",
        "indexing:index_status",
        (_INDEX_ROOT,),
        "The exit code is 1 unless the index is current.",
        ("skillyard index status",),
    ),
    Command(
        ("index", "verify"),
        "check every byte of the index of a library",
        "indexing:index_verify",
        (_INDEX_ROOT,),
        "The exit code is 1 when something is wrong.",
        ("skillyard index verify",),
    ),
)
