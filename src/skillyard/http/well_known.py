"""The well-known index of this catalog (discovery draft 0.2.0): skills that others may fetch.

Listed is what is a folder with a SKILL.md and goes by its name alone: convention documents,
single documents, skills marked internal and those that another of the name goes before are not,
nor skills of a store that were published without frontmatter, of which no SKILL.md can be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from skillyard.catalog import Catalog
from skillyard.digest import sha256
from skillyard.hosting.local import file_of, is_document
from skillyard.skill import Origin, Skill
from skillyard.sources.paths import is_inside
from skillyard.sources.well_known import SCHEMA

__all__ = ["INDEX_PATH", "SKILL_PATH", "index_of", "published"]

INDEX_PATH = "/.well-known/agent-skills/index.json"
SKILL_PATH = "/.well-known/agent-skills/{name}/SKILL.md"
DESCRIPTION_CHARS = 1_024


def index_of(catalog: Catalog) -> dict[str, Any]:
    """Return the index; addresses are relative to it."""
    return {
        "$schema": SCHEMA,
        "skills": [
            {
                "name": skill.name,
                "type": "skill-md",
                "description": skill.description[:DESCRIPTION_CHARS],
                "url": f"{quote(skill.name, safe='')}/SKILL.md",
                "digest": f"sha256:{_digest(skill)}",
            }
            for skill in published(catalog).values()
        ],
    }


def _digest(skill: Skill) -> str:
    """Return the digest of what is served: of a stored skill that may differ in blanks."""
    return sha256(file_of(skill)).hex() if skill.stored else skill.hash


def published(catalog: Catalog) -> dict[str, Skill]:
    """Return the skills that are listed, by name, sorted; of one name the first by path."""
    found: dict[str, Skill] = {}
    for skill in _listed(catalog):
        found.setdefault(skill.name, skill)
    return found


def _listed(catalog: Catalog) -> Iterator[Skill]:
    for skill in catalog.candidates:
        internal = str(skill.metadata.get("internal", "")).lower() == "true"
        if skill.origin == Origin.CONVENTION or internal or is_document(skill):
            continue
        if skill.stored and skill.frontmatter is None:
            continue
        if "/" not in skill.name and is_inside(skill.name) and skill.description:
            yield skill
