"""Run the new command: as text, as JSON, in help and in completion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LIBRARY = "library"
TEXT = "---\nname: greet\ndescription: Greets people.\ntags: [people, hotel]\n---\nSay hello.\n"


def skillyard(*arguments: str) -> str:
    command = [sys.executable, "-m", "skillyard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


if __name__ == "__main__":
    folder = Path(LIBRARY) / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT, encoding="utf-8")
    document = json.loads(skillyard("tags", LIBRARY, "--json"))
    assert document == {"schema": "skillyard.tags/1", "tags": {"hotel": 1, "people": 1}}
    print("json")
    assert skillyard("tags", LIBRARY).splitlines() == ["   1  hotel", "   1  people"]
    print("text")
    assert "list the tags of a library" in skillyard("help")
    print("help")
    assert "tags" in skillyard("completion", "bash").split()
    print("completion")
