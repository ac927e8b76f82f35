"""What is allowed and costs most: skills inside every cap, and the requests that make them work."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.sent import JSON, Hostile, get, length, post

__all__ = ["costly", "write_costly_skills"]

PATTERNS = 37
FILES = 200
PATTERNS_NAME = "costly-patterns"
PAGE_NAME = "costly-page"


def write_costly_skills(root: Path) -> None:
    """Write two skills below ``root``: patterns of braces and stars, and quotes within quotes."""
    middles = [f"*{one}?{two}*" for one in "abcdefgh" for two in "abcdefg"]
    patterns = [f"**/{{*{number}*,{','.join(middles)}}}" for number in range(PATTERNS)]
    listed = "".join(f"    - {json.dumps(pattern)}\n" for pattern in patterns)
    _write(root / PATTERNS_NAME, "Matches everything.", f"triggers:\n  files:\n{listed}", "Body.")
    _write(root / PAGE_NAME, "Quotes within quotes.", "", ">" * 19 + "a\n" + "b\n" * 32_000)


def _write(folder: Path, description: str, more: str, body: str) -> None:
    folder.mkdir(parents=True)
    head = f"---\nname: {folder.name}\ndescription: {description}\n{more}---\n"
    (folder / "SKILL.md").write_text(head + body + "\n", encoding="utf-8")


def costly() -> list[Hostile]:
    """Return the requests that cost a server most; it may answer them or refuse them for now."""
    files = ["a/" * 300 + "abcdefgh" * 40 + str(number) for number in range(FILES)]
    body = json.dumps({"text": "tables", "files": files}).encode()
    return [
        Hostile("patterns", (200, 429), post("/evaluate", body)),
        Hostile("a page", (200, 429), get(f"/page/skills/local/{PAGE_NAME}")),
        Hostile("a slow body", (), post("/select", b'{"te', JSON, length(100))),
        Hostile("a slow, large body", (), post("/select", b'{"text": "', JSON, length(900_000))),
    ]
