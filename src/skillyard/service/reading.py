"""Reading: one card for each skill of a catalog."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from skillyard.catalog import Catalog, has_tag
from skillyard.context.budget import estimate_tokens
from skillyard.errors import Diagnostic
from skillyard.skill import Skill

__all__ = ["Card", "Listing", "card", "list_skills"]


class Card(NamedTuple):
    """What is to know about one skill without its instructions."""

    skill: Skill
    tokens: int
    """Estimated tokens of the instructions."""
    remarks: int
    """How many diagnostics concern its file."""
    shadowed_by: str | None
    """Path of the skill of the same name that goes first, or None."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a card."""
        skill = self.skill
        return {
            "name": skill.name,
            "id": skill.id,
            "slug": skill.slug,
            "title": skill.title,
            "description": skill.description,
            "path": skill.path,
            "scope": skill.scope,
            "layout": skill.origin,
            "tags": list(skill.tags),
            "keywords": list(skill.keywords),
            "triggers": {key: list(value) for key, value in skill.triggers._asdict().items()},
            "version": skill.version,
            "license": skill.license,
            "compatibility": skill.compatibility,
            "allowed_tools": list(skill.allowed_tools),
            "hidden": skill.hidden,
            "priority": skill.priority,
            "tokens": self.tokens,
            "hash": skill.hash,
            "last_modified": skill.last_modified,
            "shadowed_by": self.shadowed_by,
            "remarks": self.remarks,
        }


class Listing(NamedTuple):
    """Every skill found, and everything that was remarked."""

    roots: tuple[str, ...]
    cards: tuple[Card, ...]
    diagnostics: tuple[Diagnostic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.list/1``."""
        return {
            "schema": "skillyard.list/1",
            "skills": [card.to_dict() for card in self.cards],
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def card(catalog: Catalog, skill: Skill) -> Card:
    """Return the card of one skill of the catalog."""
    remarks = sum(found.path == skill.path for found in catalog.diagnostics)
    return _card(skill, remarks, catalog.shadowed.get(skill))


def list_skills(
    catalog: Catalog, *, tags: tuple[str, ...] = (), layout: str | None = None
) -> Listing:
    """Return the cards of all skills, or of those with one of the tags and of that layout."""
    remarks = Counter(found.path for found in catalog.diagnostics)
    shadowed = catalog.shadowed
    cards = tuple(
        _card(skill, remarks[skill.path], shadowed.get(skill))
        for skill in catalog
        if (not tags or has_tag(skill, tags)) and (layout is None or skill.origin == layout)
    )
    return Listing(catalog.roots, cards, catalog.diagnostics)


def _card(skill: Skill, remarks: int, winner: Skill | None) -> Card:
    tokens = estimate_tokens(skill.body or "")
    return Card(skill, tokens, remarks, winner.path if winner is not None else None)
