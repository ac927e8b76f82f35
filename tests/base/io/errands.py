"""What workers are sent to do in tests; they import it by name."""

from __future__ import annotations

import os
import signal

from skillyard.errors import InvalidInput


def doubled(number: int) -> int:
    """Return twice the number."""
    return 2 * number


def dead() -> None:
    """End the worker as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(*work: object) -> None:
    """Take the place of what makes rows, and end the worker in the middle of it."""
    dead()


def refusing() -> None:
    """Raise an error of ours."""
    raise InvalidInput("no")
