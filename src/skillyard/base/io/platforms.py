"""What does not work on every system."""

from __future__ import annotations

import sys

from skillyard.base.errors import InvalidInput

MAPPED_FILES_CAN_BE_REPLACED = sys.platform != "win32"
"""False where a file that is mapped into memory cannot be replaced or removed."""


def refuse_windows(what: str, instead: str) -> None:
    """Raise InvalidInput on Windows: ``what`` (a plural) does not work there; ``instead`` does."""
    if sys.platform == "win32":
        raise InvalidInput(f"{what} do not work on Windows; {instead}")
