"""What every answer needs of a library beside the index itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skillyard.errors import Diagnostic

__all__ = ["Summary", "diagnostics_of", "load_summary", "summary_bytes"]


class Summary(NamedTuple):
    """What every answer needs of the library beside the index itself."""

    skills: int
    diagnostics: tuple[Diagnostic, ...]
    hidden: tuple[str, ...]
    """Keys of skills that only an explicit call chooses."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key."""
    fingerprint: str
    """What the walk saw; see :func:`skillyard.index.place.fingerprint`."""
    settled: bool
    """False when a file was so young when it was read that its stamp may not tell a change."""


def diagnostics_of(listed: Iterable[Sequence[Any]]) -> tuple[Diagnostic, ...]:
    """Return diagnostics from their JSON."""
    return tuple(Diagnostic(*fields) for fields in listed)


def summary_bytes(summary: Summary) -> bytes:
    """Return the summary as it is kept."""
    shape = {
        "skills": summary.skills,
        "diagnostics": [list(d) for d in summary.diagnostics],
        "hidden": summary.hidden,
        "patterns": summary.patterns,
        "fingerprint": summary.fingerprint,
        "settled": summary.settled,
    }
    return json.dumps(shape, separators=(",", ":")).encode("ascii")


def load_summary(data: bytes) -> Summary:
    """Return the summary of :func:`summary_bytes`. Raises ValueError for anything else."""
    try:
        shape = json.loads(data)
        patterns = {key: tuple(listed) for key, listed in shape["patterns"].items()}
        return Summary(
            shape["skills"],
            diagnostics_of(shape["diagnostics"]),
            tuple(shape["hidden"]),
            patterns,
            str(shape["fingerprint"]),
            bool(shape["settled"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a summary: {error}") from None
