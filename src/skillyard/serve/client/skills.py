"""Makes a skill of the library from one that a service sent."""

from __future__ import annotations

from skillyard.base.shapes import skills
from skillyard.base.shapes.encoder import encode
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill


def as_skill(document: skills.Skill) -> Skill:
    """Return the skill: it can be ranked, injected or put into a catalog like any other."""
    # Fields with their own names on the wire are those of SKILL_FIELDS.
    wire = {each.name: getattr(document, each.name) for each in SKILL_FIELDS.values() if each.wire}
    return Skill(
        document.name,
        document.description or "",
        document.content,
        slug=document.id,
        title=None if document.title == document.name else document.title,
        version=document.version,
        allowed_tools=document.allowed_tools,
        references=tuple(
            Reference(each.name, each.path, each.content) for each in document.references
        ),
        metadata=document.metadata,
        source=document.source,
        install_count=document.install_count,
        curated=document.curated,
        hash=document.digest,
        **{**wire, "triggers": encode(document.triggers)},
    )
