"""The command line: reads its input, calls one operation of a wing, prints."""

from __future__ import annotations

from skillyard.cli.program import main

__all__ = ["main"]
