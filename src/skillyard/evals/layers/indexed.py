"""Which skills of a library stand in the index that a router is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.skill import Origin

if TYPE_CHECKING:
    from skillyard.catalog import Catalog
    from skillyard.skill import Skill

__all__ = ["routed_skills"]


def routed_skills(catalog: Catalog) -> list[Skill]:
    """Return the skills that a router may pick: no hidden ones, no convention documents."""
    return [skill for skill in catalog if not skill.hidden and skill.origin != Origin.CONVENTION]
