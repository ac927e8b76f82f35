"""What this machine keeps of other machines, in the documented cache folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from skillyard.base.configuration import cache_folder

__all__ = ["forget_remote_answers"]


def forget_remote_answers(folder: str | os.PathLike[str] | None = None) -> None:
    """Delete the answers and repositories that are kept, so that the next command asks again."""
    for name in ("remote", "git"):
        shutil.rmtree(Path(folder or cache_folder(), name), ignore_errors=True)
