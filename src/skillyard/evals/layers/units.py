"""Turns cases into the units of L5 and L6: prompts, and the conditions to compare."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillyard.catalog import Catalog
from skillyard.errors import ResourceRefused
from skillyard.evals.cases.candidates import Candidate
from skillyard.evals.cases.rubrics import Rubric
from skillyard.evals.conditions.prompts import (
    DEFAULT_ROLE,
    Arms,
    effectiveness_arms,
    size_impact_arms,
)
from skillyard.evals.conditions.sizes import CHARS_PER_TOKEN, scale
from skillyard.evals.layers.pair_cases import PairUnit
from skillyard.evals.storage.keys import text_digest
from skillyard.formats.frontmatter import decode
from skillyard.limits import DEFAULT_LIMITS
from skillyard.resources import read_file, skill_folder
from skillyard.skill import Skill

__all__ = [
    "EFFECTIVENESS",
    "SIZE_IMPACT",
    "TestedSkill",
    "effectiveness_units",
    "size_impact_units",
]

SIZE_IMPACT = (
    ("full", "baseline"),
    ("full", "summary"),
    ("summary", "baseline"),
    ("full_siblings", "full"),
)
"""The comparisons of L6 (size-impact document; evals.md §1.8)."""
EFFECTIVENESS = (("enhanced", "baseline"),)
"""The comparison of L5."""


@dataclass(frozen=True, slots=True)
class TestedSkill:
    """One skill under test: its arms and its units."""

    skill: str
    sha256: str
    arms: Arms
    units: tuple[PairUnit, ...]
    expected_tier: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the summary and the dry run say of it beside figures."""
        full = next(iter(self.arms.arms.values()))
        return {
            "size_tier": self.arms.tier,
            "expected_tier": self.expected_tier,
            "body_bytes": self.arms.body_bytes,
            "scale": scale(full.raw.tokens_estimated),
            "summary_error": self.arms.summary_error,
            "missing_siblings": list(self.arms.missing_siblings),
            "refused_siblings": [list(each) for each in self.arms.refused_siblings],
            "left_out_siblings": list(self.arms.left_out_siblings),
            "conditions": {
                name: {**asdict(arm.size), "raw_bytes": arm.raw.bytes}
                for name, arm in self.arms.arms.items()
            },
        }


def size_impact_units(
    candidates: Iterable[Candidate],
    catalog: Catalog,
    *,
    role: str = DEFAULT_ROLE,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> list[TestedSkill]:
    """Return the candidates with their arms: full, summary, baseline, and siblings where listed.

    Raises SkillError when a skill's file has become unreadable.
    """
    return [
        _tested_skill(
            skill,
            document,
            size_impact_arms(
                document.text,
                document.folder,
                role=role,
                siblings=candidate.siblings,
                max_sibling_bytes=candidate.max_sibling_bytes,
                chars_per_token=chars_per_token,
            ),
            SIZE_IMPACT,
            [(prompt, candidate.criteria) for prompt in candidate.test_prompts],
            candidate.expected_tier,
        )
        for candidate in candidates
        for skill in [catalog.get(candidate.skill)]
        for document in [document_of(skill)]
    ]


def effectiveness_units(
    rubrics: Iterable[Rubric],
    catalog: Catalog,
    *,
    role: str = DEFAULT_ROLE,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> list[TestedSkill]:
    """Return the skills of rubrics with their arms: enhanced and baseline. Raises SkillError."""
    return [
        _tested_skill(
            skill,
            document,
            effectiveness_arms(document.text, role=role, chars_per_token=chars_per_token),
            EFFECTIVENESS,
            [
                (prompt, rubric.criteria_of(index))
                for index, prompt in enumerate(rubric.test_prompts)
            ],
        )
        for rubric in rubrics
        for skill in [catalog.get(rubric.skill_name)]
        for document in [document_of(skill)]
    ]


@dataclass(frozen=True, slots=True)
class Document:
    """A skill's own file as text, and the folder of the files beside it."""

    text: str
    folder: str | None


def document_of(skill: Skill) -> Document:
    """Return the text of a skill's document. A skill that was created in code is rendered.

    Raises SkillIoError and SkillError when the file has changed or cannot be read.
    """
    if not skill.path:
        fields = {"name": skill.name, "description": skill.description}
        front = "".join(f"{field}: {json.dumps(value)}\n" for field, value in fields.items())
        return Document(f"---\n{front}---\n\n{skill.body or ''}\n", None)
    data = read_file(skill.path, DEFAULT_LIMITS.skill_file_bytes).data
    try:
        folder = skill_folder(skill)
    except ResourceRefused:  # a single document, with nothing beside it
        folder = None
    return Document(decode(data, skill.path), folder)


def _tested_skill(
    skill: Skill,
    document: Document,
    arms: Arms,
    comparisons: Sequence[tuple[str, str]],
    prompts: Sequence[tuple[str, Any]],
    expected_tier: str | None = None,
) -> TestedSkill:
    possible = tuple(
        pair for pair in comparisons if all(condition in arms.arms for condition in pair)
    )
    units = tuple(
        PairUnit(
            skill.name,
            index,
            prompt,
            tuple(criteria),
            arms.arms,
            possible,
            arms.tier,
            arms.body_bytes,
        )
        for index, (prompt, criteria) in enumerate(prompts)
    )
    return TestedSkill(skill.name, text_digest(document.text), arms, units, expected_tier)
