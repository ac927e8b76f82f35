"""What is allowed and costs most: skills inside every cap, and the requests that make them work.

Of patterns and pages there are two each: one that is beyond the budget of a request and is left
out, and one that is just within it and is worked through.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.requests import JSON, Hostile, get, length, post

__all__ = ["costly", "write_costly_skills"]

PATTERNS = 37
FILES = 200
PAGES = {"refused-page": (19, 32_000), "costly-page": (9, 2_950)}
"""By name: how deep the quotes are, in how many lines."""


def write_costly_skills(root: Path) -> None:
    """Write skills below ``root``: patterns of braces and stars, and quotes within quotes."""
    middles = [f"*{one}?{two}*" for one in "abcdefgh" for two in "abcdefg"]
    patterns = [f"**/{{*{number}*,{','.join(middles)}}}" for number in range(PATTERNS)]
    _write(root / "refused-patterns", "Matches everything.", _declared(patterns), "Body.")
    for number in range(5):  # together what one request may cost
        declared = _declared([f"**/*[abc][{number}a][abc]*[xyz]*"])
        _write(root / f"costly-patterns-{number}", "Matches much.", declared, "Body.")
    for name, (depth, lines) in PAGES.items():
        body = ">" * depth + "a\n" + "b\n" * lines
        _write(root / name, "Quotes within quotes.", "", body)


def _declared(patterns: list[str]) -> str:
    listed = "".join(f"    - {json.dumps(pattern)}\n" for pattern in patterns)
    return f"triggers:\n  files:\n{listed}"


def _write(folder: Path, description: str, more: str, body: str) -> None:
    folder.mkdir(parents=True)
    head = f"---\nname: {folder.name}\ndescription: {description}\n{more}---\n"
    (folder / "SKILL.md").write_text(head + body + "\n", encoding="utf-8")


def costly() -> list[Hostile]:
    """Return the requests that cost a server most; it may answer them or refuse them for now."""
    files = ["a/" * 20 + "abcdefgh" * 25 + str(number) for number in range(FILES)]
    body = json.dumps({"text": "tables", "files": files}).encode()
    return [
        Hostile("patterns", (200, 429), post("/evaluate", body)),
        *(Hostile(f"page {name}", (200, 429), get(f"/page/skills/local/{name}")) for name in PAGES),
        Hostile("a slow body", (), post("/select", b'{"te', JSON, length(100))),
        Hostile("a slow, large body", (), post("/select", b'{"text": "', JSON, length(900_000))),
    ]
