"""What every answer needs of a library beside the index itself."""

from __future__ import annotations

import json
from typing import NamedTuple

from skillyard.catalog.counts import SkillCounts
from skillyard.reported import Reported

__all__ = ["LibrarySummary", "decode_summary", "encode_summary"]


class LibrarySummary(NamedTuple):
    """What every answer needs of the library beside the index itself."""

    documents: int
    """Files that loaded."""
    reported: Reported
    hidden: tuple[str, ...]
    """Keys of skills that only an explicit call chooses."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key."""
    fingerprint: str
    """What the walk saw; see :func:`skillyard.index.library_spec.scan_fingerprint`."""
    is_final: bool
    """False when a file was so young when it was read that its stamp may not tell a change."""
    counts: SkillCounts
    """How many skills those documents are."""
    copies: dict[str, tuple[str, ...]]
    """Keys of the copies of a skill, by its key."""
    files: int
    """Files of the library that should be skills."""
    known: int
    """How many of them the index knows: fewer while it is being made for the first time."""


def encode_summary(summary: LibrarySummary) -> bytes:
    """Return the summary as it is kept: a line of JSON, then the diagnostics as printed."""
    shape = {
        "documents": summary.documents,
        "hidden": summary.hidden,
        "patterns": summary.patterns,
        "fingerprint": summary.fingerprint,
        "settled": summary.is_final,
        "counts": summary.counts,
        "copies": summary.copies,
        "files": summary.files,
        "known": summary.known,
    }
    head = json.dumps(shape, separators=(",", ":"))
    return f"{head}\n{summary.reported.json}".encode("ascii")


def decode_summary(data: bytes) -> LibrarySummary:
    """Return the summary of :func:`encode_summary`. Raises ValueError for anything else."""
    try:
        head, between, reported = str(data, "ascii").partition("\n")
        if not between or (reported[:1], reported[-1:]) != ("[", "]"):
            raise ValueError("not a summary: no diagnostics")
        shape = json.loads(head)
        patterns = {key: tuple(listed) for key, listed in shape["patterns"].items()}
        copies = {key: tuple(keys) for key, keys in shape["copies"].items()}
        return LibrarySummary(
            shape["documents"],
            Reported(json=reported),
            tuple(shape["hidden"]),
            patterns,
            str(shape["fingerprint"]),
            bool(shape["settled"]),
            SkillCounts(*map(int, shape["counts"])),
            copies,
            int(shape["files"]),
            int(shape["known"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a summary: {error}") from None
