"""Ends child processes together with their parent, however the parent ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Thread

LOOK_S = 0.2
"""Interval in seconds between two checks of the parent."""


def end_with_parent(parent: int, alive: Callable[[], int] = os.getppid) -> None:
    """End this process soon after ``parent``, the process that started it, has ended.

    A killed parent sends no signal, and a pipe to it stays open while a sibling holds it.
    """
    if alive() != parent:
        os._exit(1)

    def watch() -> None:
        while alive() == parent:
            time.sleep(LOOK_S)
        os._exit(1)

    Thread(target=watch, name="skillyard-parent", daemon=True).start()
