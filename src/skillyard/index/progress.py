"""How far the making of an index is."""

from __future__ import annotations

from skillyard.value import NamedTuple

__all__ = ["Progress"]


class Progress(NamedTuple):
    """How far it is at one moment."""

    done: int
    """Skills that are in the index."""
    total: int | None
    """Skills that there are; None while they are still being counted."""
    seconds_left: float | None
    """About how long the rest takes; None where that cannot be told yet."""
