"""Oasis ``key_skills/*/SKILL.md``: which files belong to the registry.

Source: the Oasis document, "SKILL.md Format" and "Discovery Rules". Files that miss a required
field are no part of the registry; they remain ordinary skills where they can be read as such.
"""

from __future__ import annotations

from skillyard.errors import Diagnostic
from skillyard.formats.agentskills import Document, Parsed, parse_document
from skillyard.formats.fields import Fields
from skillyard.formats.file_names import OASIS_FOLDER
from skillyard.formats.nodes import Scalar
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Origin, Skill

__all__ = ["parse_key_skill"]


def parse_key_skill(document: Document, content: str, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse one registry file. ``origin`` is ``oasis`` only when every required field is there.

    Raises SkillError for a file that cannot be read as a skill at all.
    """
    parsed = parse_document(document, content, strict=False, limits=limits)
    missing = _missing(parsed.skill, parsed.fields)
    if not missing:
        return parsed
    parsed.diagnostics.append(
        Diagnostic(
            "oasis_incomplete",
            "warning",
            document.path,
            f"not in the {OASIS_FOLDER} registry: {', '.join(missing)} missing or of a wrong type",
            "give id, name, description, triggers (a list) and priority (an integer)",
            1,
        )
    )
    return parsed._replace(skill=parsed.skill.replace(origin=Origin.AGENTSKILLS))


def _missing(skill: Skill, fields: Fields | None) -> list[str]:
    """Return the required fields that are not there in an acceptable form.

    Name and description have been checked by reading already.
    """
    if fields is None:
        return []
    node = fields.node("id")
    given = {
        "id": isinstance(node, Scalar) and not node.null and bool(node.text.strip()),
        "triggers": bool(skill.triggers.phrases),
        "priority": fields.is_integer("priority"),
    }
    return [field for field, present in given.items() if not present]
