"""Runs the command line in process, the way a terminal would see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.trees import write_tree
from tests.running import Answer, run_here
from tests.worked_examples.making import document

__all__ = ["Answer", "Command", "library"]


class Command:
    """``skillyard`` with captured streams; every call names its root last unless told otherwise."""

    def __init__(self, root: Path, streams: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._streams = streams

    def __call__(self, *arguments: str) -> Answer:
        """Run with ``--root`` set to the library."""
        return self.bare(*arguments, "--root", str(self.root))

    def bare(self, *arguments: str) -> Answer:
        """Run with exactly these arguments."""
        return run_here(self._streams, arguments)


def library(root: Path) -> Path:
    """Write a small library of five skills, one of them hidden, and a convention file."""
    review = "id: code-review\ntriggers: [review this, find bugs]\npriority: 80\n"
    return write_tree(
        root,
        {
            "key_skills/code-review/SKILL.md": document(
                "Code Review", "Find defects in code changes.", "Look for bugs first.", review
            ),
            "deploy-app/SKILL.md": document(
                "deploy-app",
                "Deploy the app to staging.",
                "Ship it.",
                'tags: [ops]\ntriggers:\n  files: ["Dockerfile"]\n  keywords: [release]\n',
            ),
            "deploy-app/references/staging.md": "# Staging\n",
            ".skills/query-db.md": document(
                "query-db", "Query the database.", "Read only.", "tags: [db]\n"
            ),
            ".skills/wipe-db.md": document("wipe-db", "Wipe it.", "Ask twice.", "trigger: true\n"),
            ".skills/generalist.md": document(
                "generalist", "Anything else.", "Be polite.", "tags: [fallback]\n"
            ),
            "AGENTS.md": "# House rules\n\nBe kind.\n",
        },
    )
