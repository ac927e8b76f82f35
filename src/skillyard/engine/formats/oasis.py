"""Parses Oasis ``key_skills/*/SKILL.md`` files, and decides which belong to the registry.

Source: the Oasis document, "SKILL.md Format" and "Discovery Rules". A file without a required field
is not part of the registry. It remains an ordinary skill when it can be parsed as one.
"""

from __future__ import annotations

from skillyard.base.errors import Diagnostic
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.formats.agentskills import ParsedDocument, SkillText, parse_document
from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.file_names import OASIS_FOLDER
from skillyard.engine.formats.yaml_guard import Scalar
from skillyard.engine.skill import Origin, Skill


def parse_key_skill(
    document: SkillText, content: str, limits: Limits = DEFAULT_LIMITS
) -> ParsedDocument:
    """Parse one registry file. ``origin`` is ``oasis`` only when no required field is missing.

    Raises SkillError for a file that is not a skill.
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
    """Return the required fields that are missing or have a wrong type.

    Parsing has already checked name and description.
    """
    if fields is None:
        return []
    node = fields.node("id")
    checks = {
        "id": isinstance(node, Scalar) and not node.null and bool(node.text.strip()),
        "triggers": fields.node("triggers") is not None and bool(skill.triggers.phrases),
        "priority": fields.is_integer("priority"),
    }
    return [field for field, present in checks.items() if not present]
