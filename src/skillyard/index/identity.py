"""What identifies a document in an index, and what an index was made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.analysis.analyzer import VERSION as ANALYZER

if TYPE_CHECKING:
    from skillyard.index.table import Table
    from skillyard.skill import Skill

__all__ = ["key_of", "settings_of"]

WEIGHING = 6
"""Grows whenever the same terms would get other impacts, other marks or other vectors."""


def key_of(skill: Skill) -> str:
    """Return what identifies the skill in one index: its path, or its id when built in code."""
    return skill.path or skill.id


def settings_of(table: Table) -> dict[str, str]:
    """Return what an index was made with: one made with anything else is made anew."""
    return {"analyzer": str(ANALYZER), "weighing": str(WEIGHING), "table": table.id}
