"""The conformance cases, queries and corpus that lie beside the project.

One setting, ``SKILLYARD_SHARED``, names the folder; without it ``../shared`` beside the checkout
is looked at. Tests that need it skip with a plain message where it is absent.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import skillyard

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = Path(skillyard.__file__).resolve().parents[1]
"""The folder that holds the package under test: ``src``, or where a wheel was installed."""
MISSING = "the shared cases are not here: set SKILLYARD_SHARED to their folder"


def shared_folder() -> Path | None:
    """Return the folder, or None where it is absent."""
    named = os.environ.get("SKILLYARD_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"
    if not folder.is_absolute():
        folder = REPOSITORY / folder
    return folder if (folder / "cases").is_dir() else None


def cases(name: str) -> Any:
    """Return the parsed ``cases/<name>.json``, or None where the folder is absent."""
    folder = shared_folder()
    if folder is None:
        return None
    return json.loads((folder / "cases" / f"{name}.json").read_text(encoding="utf-8"))
