"""Golden files of the evaluation tests; SKILLYARD_UPDATE_GOLDEN=1 writes them."""

from __future__ import annotations

import os
from pathlib import Path

UPDATE = "SKILLYARD_UPDATE_GOLDEN"


def compare(path: Path, text: str) -> None:
    """Compare a text with its golden file, or write the file where that is asked for."""
    if os.environ.get(UPDATE) == "1":
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file; {UPDATE}=1 writes it"
    assert text == path.read_text(encoding="utf-8"), f"{UPDATE}=1 accepts the new text"
