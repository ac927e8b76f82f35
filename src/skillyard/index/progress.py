"""How far making an index is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Progress"]


class Progress(NamedTuple):
    """How far making an index is."""

    done: int
    """Files that the index knows."""
    total: int | None
    """Files in all; None before they were counted."""
    seconds_left: float | None = None
    """At the rate so far; None before that can be told."""
