"""Document keys, and the settings that decide whether an index can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.engine.analysis.analyzer import VERSION as ANALYZER_VERSION

if TYPE_CHECKING:
    from skillyard.engine.index.token_table import TokenTable
    from skillyard.engine.skill import Skill

WEIGHTING_VERSION = 7
"""Version of reading, impacts, facet terms and vectors. A change forces a rebuild."""


def document_key(skill: Skill) -> str:
    """Return the key of a skill in an index: its path, or its id when it was built in code."""
    return skill.path or skill.id


def index_settings(table: TokenTable) -> dict[str, str]:
    """Return the settings of an index. An index with other settings is rebuilt."""
    return {
        "analyzer": str(ANALYZER_VERSION),
        "weighing": str(WEIGHTING_VERSION),
        "table": table.id,
    }
