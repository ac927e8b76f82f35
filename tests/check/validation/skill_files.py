"""Skill files and trees for the tests of validation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import skillyard as sy
from skillyard import Diagnostic
from tests.parity.trees import write_tree as tree

__all__ = ["BODY", "DESCRIPTION", "check", "codes", "text", "tree"]

DESCRIPTION = "Sharpens pencils to a given angle. Use for blunt pencils."
BODY = "# Steps\n\nTurn the pencil, not the knife."


def text(
    name: str = "pencil", description: str = DESCRIPTION, extra: str = "", body: str = BODY
) -> str:
    """Return a SKILL.md; ``extra`` is further frontmatter lines, each with its line feed."""
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n{body}\n"


def codes(found: Iterable[Diagnostic], severity: str | None = None) -> list[str]:
    """Return the codes in order, of one severity where one is given."""
    return [each.code for each in found if severity in (None, each.severity)]


def check(root: Path, content: str | bytes, profile: str = "lenient") -> list[Diagnostic]:
    """Return what a profile says about one ``pencil/SKILL.md``."""
    return sy.validate(tree(root, {"pencil/SKILL.md": content}) / "pencil", profile)
