"""Questions for Node, made from a seed, and its answers: stored once, and asked again where it is.

``python -m tests.install.copies.asking_node`` writes ``data/node_answers.json`` anew.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STORED = HERE / "data" / "node_answers.json"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

Questions = dict[str, list[Any]]

_WORDS = [
    "SKILL.md", "references", "scripts", "assets", "a.md", "_x", "README", "readme", "2", "10",
    "v1.2", "-flag", "zebra", "Zebra", "file (1)", "a b", "a+b", "a~", "$env", "#tag", "@scope",
    "x=y", "it's", "&",
]  # fmt: skip
_LETTERS = "aAbBzZ019/._- ~+()[]{}&@#$%^=,;'!`|<>"
TRICKY = [
    ("references/a.md", "SKILL.md"), ("a", "A"), ("A", "b"), ("a/b", "a-b"), ("a/b", "a.b"),
    ("a_b", "a-b"), ("a b", "a_b"), ("_x", "1"), ("9", "a"), ("10", "9"), ("", "a"), ("", "\x00"),
    ("a\x00b", "ab"), ("ab", "aB"), ("aB", "Ab"), ("a/", "a"), ("SKILL.md", "skill.md"),
    ("scripts/x", "scripts-x"), ("scripts", "scripts/x"),
    *combinations(map(chr, range(1, 127)), 2),
]  # fmt: skip


def paths(seed: random.Random, count: int) -> list[str]:
    """Return paths as skills have them, and paths of tricky letters."""
    found = []
    for number in range(count):
        if number % 2:
            found.append("/".join(seed.choices(_WORDS, k=seed.randint(1, 3))))
        else:
            found.append("".join(seed.choices(_LETTERS, k=seed.randint(1, 6))))
    return found


def questions(number: int, pairs: int) -> Questions:
    """Return the questions of one seed."""
    seed = random.Random(number)
    return {
        "compare": [*TRICKY, *zip(paths(seed, pairs), paths(seed, pairs), strict=True)],
        "hash": [[], *(_tree(seed) for _ in range(20))],
        "lock": [_lock(seed) for _ in range(20)],
    }


def _tree(seed: random.Random) -> list[tuple[str, str]]:
    names = set(paths(seed, seed.randint(1, 12)))
    return [(name, seed.randbytes(seed.randint(0, 40)).hex()) for name in sorted(names) if name]


def _lock(seed: random.Random) -> str:
    names = ["pdf", "PDF", "007", "constructor", "éclair", "\U0001f680", "\uffee", "a b"]
    skills = {
        name: {
            "source": seed.choice(["owner/repo", "./skills", "https://example.org/é"]),
            "sourceType": "github",
            "skillPath": f"skills/{seed.choice(_WORDS)}/SKILL.md",
            "computedHash": seed.randbytes(32).hex(),
            "subagents": ["", "ö"],
        }
        for name in seed.sample(names, seed.randint(0, len(names)))
    }
    return json.dumps({"version": 1, "skills": skills, "later": {"a": [1, 2.5, None]}})


def ask(asked: Questions) -> Questions:
    """Return Node's answers; its locale is English, as where none is set."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, str(HERE / "node_answers.mjs")],
        input=json.dumps(asked), capture_output=True, text=True, encoding="utf-8", timeout=120,
        check=True, env={**os.environ, "LC_ALL": "en_US.UTF-8"},
    )  # fmt: skip
    answers: Questions = json.loads(done.stdout)
    return answers


@cache
def stored() -> tuple[Questions, Questions]:
    """Return the stored questions and their answers."""
    found = json.loads(STORED.read_text(encoding="ascii"))
    return found["questions"], found["answers"]


@cache
def fresh() -> tuple[Questions, Questions]:
    """Return questions of another seed with what Node answers now."""
    asked = questions(2, 3_000)
    return asked, ask(asked)


if __name__ == "__main__":
    asked = questions(1, 4_000)
    text = json.dumps({"questions": asked, "answers": ask(asked)}, separators=(",", ":"))
    STORED.write_text(text + "\n", encoding="ascii")
