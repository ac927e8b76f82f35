"""What identifies a document in an index, and what an index was made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.analysis.analyzer import VERSION as ANALYZER_VERSION

if TYPE_CHECKING:
    from skillyard.index.token_table import TokenTable
    from skillyard.skill import Skill

__all__ = ["document_key", "index_settings"]

WEIGHTING_VERSION = 6
"""Grows whenever the same terms would get other impacts, other marks or other vectors."""


def document_key(skill: Skill) -> str:
    """Return what identifies the skill in one index: its path, or its id when built in code."""
    return skill.path or skill.id


def index_settings(table: TokenTable) -> dict[str, str]:
    """Return what an index was made with: one made with anything else is made anew."""
    return {
        "analyzer": str(ANALYZER_VERSION),
        "weighing": str(WEIGHTING_VERSION),
        "table": table.id,
    }
