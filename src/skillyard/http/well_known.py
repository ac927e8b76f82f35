"""The well-known index of this catalog (discovery draft 0.2.0): skills that others may fetch.

Listed is what is a folder with a SKILL.md and goes by its name alone: convention documents,
single documents, skills marked internal and those that another of the name goes before are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from skillyard.catalog import Catalog
from skillyard.hosting.local import is_document
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
                "digest": f"sha256:{skill.hash}",
            }
            for skill in published(catalog).values()
        ],
    }


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
        if "/" not in skill.name and is_inside(skill.name) and skill.description:
            yield skill
