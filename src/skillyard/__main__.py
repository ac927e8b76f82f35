"""``skillyard`` and ``python -m skillyard``: the command line as a process of its own."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from skillyard.cli import main

# A run makes many objects and next to no cycles: looking for cycles 700 objects apart, the
# default, is a tenth of the time that reading a library takes.
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


def start() -> NoReturn:
    """Run the command of this process's arguments and end the process with its exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        code = main()
    except KeyboardInterrupt:  # before the first line of main, or while it said something
        code = 130
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass  # main has said so already
    # Taking a library apart object by object before the process ends helps nobody.
    os._exit(code)


if __name__ == "__main__":
    start()
