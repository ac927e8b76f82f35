"""The conformance cases of the parity tests, and the queries and corpus beside the project.

One setting, ``SKILLYARD_SHARED``, names the folder; without it ``../shared`` beside the checkout
is looked at. Tests that need it skip with a plain message where it is absent.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import skillyard

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = Path(skillyard.__file__).resolve().parents[1]
"""The folder that holds the package under test: ``src``, or where a wheel was installed."""
CASES = REPOSITORY / "tests" / "parity" / "cases"
MISSING = "the shared data is not here: set SKILLYARD_SHARED to its folder"


def shared_folder() -> Path | None:
    """Return the folder, or None where it is absent."""
    named = os.environ.get("SKILLYARD_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"
    if not folder.is_absolute():
        folder = REPOSITORY / folder
    return folder if (folder / "cases").is_dir() else None


@cache
def cases(name: str) -> Any:
    """Return the parsed ``tests/parity/cases/<name>.json``, for reading only."""
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
