"""The progress of building an index."""

from __future__ import annotations

from typing import NamedTuple


class Progress(NamedTuple):
    """The progress of building an index."""

    done: int
    """Files indexed so far."""
    total: int | None
    """Files in all; None before they are counted."""
    seconds_left: float | None = None
    """Estimate from the rate so far; None without an estimate."""
