"""The list of skills: one card for each skill of a catalog."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.shapes import library as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.skills import TriggersDocument
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.skill import SKILL_FIELDS, Skill


class CatalogCard(NamedTuple):
    """What is to know about one skill without its instructions."""

    skill: Skill
    tokens: int
    """Estimated tokens of the instructions."""
    remarks: int
    """How many diagnostics concern its file."""
    shadowed_by: str | None
    """Path of the skill of the same name that goes first, or None."""
    places: tuple[str, ...]
    """Paths of the skill: its own first, then those of its copies and variants."""
    lack: str = ""
    """Why it is not chosen here, whatever the request; empty where its requirements are met."""

    def document(self) -> dict[str, Any]:
        """Return the shape of a card, and what else the skill has of the table of fields."""
        skill = self.skill
        shape = from_attributes(
            shapes.Card,
            skill,
            places=self.places,
            layout=skill.origin,
            triggers=from_attributes(TriggersDocument, skill.triggers),
            tokens=self.tokens,
            shadowed_by=self.shadowed_by,
            remarks=self.remarks,
            lack=self.lack,
        )
        further = {
            each.name: each.encode(value)
            for each in _FURTHER
            if (value := getattr(skill, each.name)) != each.default
        }
        members: dict[str, Any] = encode(shape)
        return members | further


_FURTHER = tuple(
    each
    for each in SKILL_FIELDS.values()
    if each.wire and each.name not in {*shapes.Card.__dataclass_fields__, "origin"}
)
"""The fields that follow the members of the shape; ``origin`` is its ``layout``."""


class ListResult(NamedTuple):
    """Every skill and convention document, and everything that was remarked."""

    roots: tuple[str, ...]
    cards: tuple[CatalogCard, ...]
    """One for each skill: copies and variants are places of the one that wins."""
    diagnostics: tuple[Diagnostic, ...]
    counts: SkillCounts
    """Of the whole catalog, whatever part of it is listed."""

    def document(self) -> shapes.Listing:
        """Return ``skillyard.list/1``."""
        return shapes.Listing(
            skills=tuple(card.document() for card in self.cards),
            counts=self.counts.document(),
            diagnostics=tuple(each.document() for each in self.diagnostics),
        )


def card(catalog: Catalog, skill: Skill) -> CatalogCard:
    """Return the card of one skill of the catalog."""
    remarks = sum(each.path == skill.path for each in catalog.diagnostics)
    return _card(
        catalog, skill, remarks, catalog.shadowed.get(skill), RequirementChecker(catalog.named)
    )


def list_skills(catalog: Catalog, *, tags: tuple[str, ...] = ()) -> ListResult:
    """Return the cards of all skills, or of those with one of the tags.

    Shadowed skills and convention documents are among them, copies and variants are not.
    """
    remarks = Counter(each.path for each in catalog.diagnostics)
    shadowed = catalog.shadowed
    checker = RequirementChecker(catalog.named)
    cards = tuple(
        _card(catalog, skill, remarks[skill.path], shadowed.get(skill), checker)
        for skill in catalog
        if skill.path not in catalog.further and (not tags or has_tag(skill, tags))
    )
    return ListResult(catalog.roots, cards, catalog.diagnostics, catalog.counts)


def _card(
    catalog: Catalog,
    skill: Skill,
    remarks: int,
    winner: Skill | None,
    checker: RequirementChecker,
) -> CatalogCard:
    tokens = estimate_tokens(skill.body or "")
    shadowed_by = winner.path if winner is not None else None
    places = catalog.places(skill)
    return CatalogCard(skill, tokens, remarks, shadowed_by, places, checker.lack(skill))
