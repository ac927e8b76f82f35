"""The order of sets and dictionaries of a process decides nothing that anybody sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.parity.trees import write_tree
from tests.shared_data import PACKAGES
from tests.worked_examples.making import document

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import skillyard as sy
catalog = sy.load_catalog(sys.argv[2])
print(catalog.digest, *catalog.skills, *catalog.diagnostics, sep="\\n")
print(sorted((a.path, b.path) for a, b in catalog.shadowed.items()))
files, activity = ["a.py", "src/b.ts"], ["tests"]
for scorer in sy.scorers.scorer_names():
    for match in sy.rank(catalog, "deploy review tests", files=files, recent_activity=activity,
                         scorer=scorer, limit=None):
        print(match.to_dict(explain=True))
    print(sy.select(catalog, "deploy review tests", scorer=scorer))
for form in ("lines", "xml", "markdown"):
    print(sy.summary(catalog, form, 60, "deploy"))
print(sy.evaluate(catalog, "deploy review tests", files, show_details=True))
"""
EXTRA = (
    "tags: [ops, {0}]\nkeywords: [{0}, tests]\ntriggers: {{files: ['*.py'], phrases: [{0} it]}}\n"
)


def answers(root: Path, seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(PACKAGES), str(root)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_processes_with_different_seeds_give_the_same_answers(tmp_path: Path) -> None:
    words = ["deploy", "review", "tests", "bills"]
    files = {
        f"{first}-{second}/SKILL.md": document(
            f"{first}-{second}", f"Helps to {first} the {second}.", extra=EXTRA.format(first)
        )
        for first in words
        for second in words
    }
    files |= {".skills/deploy-review.md": document("deploy-review"), "AGENTS.md": "# Rules\n",
              "x/SKILL.md": "broken", "y/Skill.md": "z"}  # fmt: skip
    root = write_tree(tmp_path / "p", files)
    first = answers(root, "1")
    assert "deploy-review" in first
    assert all(answers(root, seed) == first for seed in ("2", "4711"))
