"""Skills and catalogs for examples: every field that an example does not speak of is neutral."""

from __future__ import annotations

from typing import Any

import skillyard as sy

__all__ = ["catalog", "document", "message", "names", "ranked", "skill"]


def skill(
    name: str = "acct", description: str = "Bills.", body: str | None = "zzz", **fields: Any
) -> sy.Skill:
    """Return a skill that no query of the examples matches unless a field makes it."""
    fields.setdefault("path", f".skills/{name}.md")
    return sy.Skill(name=name, description=description, body=body, **fields)


def catalog(*skills: sy.Skill) -> sy.Catalog:
    return sy.Catalog.from_skills(skills)


def ranked(scorer: str, query: str, *skills: sy.Skill, **options: Any) -> list[sy.Match]:
    """Return the whole ranking of these skills."""
    return sy.rank(catalog(*skills), query, scorer=scorer, limit=None, **options)


def names(matches: Any) -> list[str]:
    return [match.skill.name for match in matches]


def document(
    name: str, description: str = "Does a thing.", body: str = "Body.", extra: str = ""
) -> str:
    """Return the text of a skill file; ``extra`` is further frontmatter lines."""
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n{body}\n"


def message(*texts: str, role: str = "user") -> dict[str, Any]:
    """Return a chat message of text parts."""
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}
