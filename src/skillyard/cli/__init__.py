"""The command line: reads its input, calls one operation of a wing, prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the arguments default to the process's own."""
    from skillyard.cli.program import run

    return run(list(sys.argv[1:] if argv is None else argv))
