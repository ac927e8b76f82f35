"""What Node answered to questions about paths, folders and lock files: its order and its JSON."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "data" / "node_answers.json"

Questions = dict[str, list[Any]]


@cache
def stored() -> tuple[Questions, Questions]:
    """Return the stored questions and their answers."""
    found = json.loads(STORED.read_text(encoding="ascii"))
    return found["questions"], found["answers"]
