"""The summary of a library, stored with its index and read for every query."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.engine.catalog.counts import SkillCounts


class Progress(NamedTuple):
    """The progress of building an index."""

    done: int
    """Files indexed so far."""
    total: int | None
    """Files in all; None before they are counted."""
    seconds_left: float | None = None
    """Estimate from the rate so far; None without an estimate."""


class LibrarySummary(NamedTuple):
    """Properties of a library that every query needs beside the index."""

    documents: int
    """Number of files that loaded."""
    reported: str
    """The diagnostics, as JSON until somebody reads them."""
    prefixes: tuple[str, ...]
    """What the paths below each root begin with, on the machine that wrote the index."""
    hidden: tuple[str, ...]
    """Keys of skills that are selected only when called by name."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key."""
    fingerprint: str
    """Digest of the scan; see :func:`skillyard.engine.index.library_spec.scan_fingerprint`."""
    is_final: bool
    """False when a file was modified shortly before it was read: its stamp may hide a change."""
    counts: SkillCounts
    """Numbers of skills by kind, as if all requirements were met."""
    requiring: tuple[str, ...]
    """Keys of the skills that a request can select, if what they require is there."""
    variants: dict[str, tuple[str, ...]]
    """Keys of the copies and variants of a skill, by its key."""
    files: int
    """Number of candidate files in the library."""
    known: int
    """Number of candidate files indexed so far; fewer than ``files`` during the first build."""


def encode_summary(summary: LibrarySummary) -> bytes:
    """Return the summary as bytes: one line of JSON, then the diagnostics."""
    shape = {
        "documents": summary.documents,
        "prefixes": summary.prefixes,
        "hidden": summary.hidden,
        "patterns": summary.patterns,
        "fingerprint": summary.fingerprint,
        "settled": summary.is_final,
        "counts": summary.counts,
        "requiring": summary.requiring,
        "variants": summary.variants,
        "files": summary.files,
        "known": summary.known,
    }
    head = json.dumps(shape, separators=(",", ":"))
    return f"{head}\n{summary.reported}".encode("ascii")


def decode_summary(data: bytes) -> LibrarySummary:
    """Return the summary of :func:`encode_summary`. Raises ValueError for anything else."""
    try:
        head, between, reported = str(data, "ascii").partition("\n")
        if not between or (reported[:1], reported[-1:]) != ("[", "]"):
            raise ValueError("not a summary: no diagnostics")
        shape = json.loads(head)
        patterns = {key: tuple(globs) for key, globs in shape["patterns"].items()}
        variants = {key: tuple(keys) for key, keys in shape["variants"].items()}
        return LibrarySummary(
            shape["documents"],
            reported,
            tuple(shape["prefixes"]),
            tuple(shape["hidden"]),
            patterns,
            str(shape["fingerprint"]),
            bool(shape["settled"]),
            SkillCounts(*map(int, shape["counts"])),
            tuple(shape["requiring"]),
            variants,
            int(shape["files"]),
            int(shape["known"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a summary: {error}") from None


def encode_diagnostics(diagnostics: Iterable[Diagnostic], prefixes: Sequence[str]) -> str:
    """Return diagnostics as one line of JSON, with the numbers of roots in place of prefixes."""
    import re  # a query only decodes

    def without_roots(text: str) -> str:
        for number, prefix in enumerate(prefixes):
            if text == prefix.rstrip("/"):
                return f"\0{number}\0"
            # Not within a path: /a/b names nothing below the root /b.
            start = re.compile(rf"(?<![^\s\"'(`\[]){re.escape(prefix)}")
            text = start.sub(f"\0{number}\0", text)
        return text

    rows = [
        each._replace(
            path=without_roots(each.path),
            message=without_roots(each.message),
            hint=without_roots(each.hint),
        )
        for each in diagnostics
    ]
    return json.dumps(rows, separators=(",", ":"))


def decode_diagnostics(text: str, prefixes: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of :func:`encode_diagnostics`, sorted by path.

    ``prefixes`` are those of the roots as the caller names them. Raises ValueError for other text.
    """

    def with_roots(text: str) -> str:
        for number, prefix in enumerate(prefixes):
            text = text.replace(f"\0{number}\0", prefix)
        return text

    try:
        rows = [Diagnostic(*fields) for fields in json.loads(text)]
    except TypeError as error:
        raise ValueError(f"no diagnostics: {error}") from None
    diagnostics = [
        each._replace(
            path=with_roots(each.path).rstrip("/") or ".",
            message=with_roots(each.message),
            hint=with_roots(each.hint),
        )
        for each in rows
    ]
    return tuple(sorted(diagnostics, key=lambda d: (d.path, d.line or 0, d.column or 0, d.code)))
