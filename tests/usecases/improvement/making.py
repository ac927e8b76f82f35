"""A small library in which one term decides, written to disk with its cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.making import write

__all__ = ["OTHERS", "SUBJECTS", "Project", "planted", "trigger_file"]

SKILLS = {
    "archive": "Sorts yellow folders.",
    "gardening": "Plans beds, sowing dates and watering of a garden.",
    "translation": "Translates letters and keeps a glossary of terms.",
}
SUBJECTS = (
    *("March", "the landlord", "a customer abroad", "the plumber", "two licences", "the printer"),
    *("spare parts", "the conference", "a refund", "the courier", "our lawyer", "the caterer"),
    *("paper", "coffee", "the dentist", "petrol", "the electrician", "ten chairs"),
)
"""Each occurs in one request, so no half knows the words of the other."""
OTHERS = ("water the tomatoes", "which day is it", "sow the carrots", "translate the menu")
"""Requests that the skill should not get."""


@dataclass(frozen=True)
class Project:
    """A folder with ``skills`` and ``evals``."""

    folder: Path

    @property
    def skill_file(self) -> Path:
        return self.folder / "skills/archive/SKILL.md"

    def arguments(self, *given: str) -> list[str]:
        """Return the command line that improves the skill."""
        root, evals = self.folder / "skills", self.folder / "evals"
        return [
            "eval",
            "improve",
            "archive",
            "--root",
            str(root),
            "--evals-dir",
            str(evals),
            *given,
        ]


def planted(folder: Path, requests: list[str], others: Sequence[str] = ()) -> Project:
    """Write a library, the requests that its skill ``archive`` should get, and others."""
    for name, description in SKILLS.items():
        text = f"---\nname: {name}\ndescription: {description}\n---\n# {name.title()}\n\nSteps.\n"
        write(folder / "skills", {f"{name}/SKILL.md": text})
    write(folder, {"evals/archive.yaml": trigger_file("archive", requests, others)})
    return Project(folder)


def trigger_file(skill: str, requests: Sequence[str], others: Sequence[str]) -> str:
    """Return a case file; JSON is YAML too."""
    prompts: list[dict[str, Any]] = [{"prompt": each} for each in requests]
    prompts += [{"prompt": each, "should_fire": False} for each in others]
    return json.dumps({"skill": skill, "prompts": prompts}, indent=1)
