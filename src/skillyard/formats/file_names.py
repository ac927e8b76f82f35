"""The file and folder names that determine the kind of a document."""

from __future__ import annotations

__all__ = ["CONVENTION_NAMES", "OASIS_FOLDER", "ROOT_ONLY", "convention_of"]

OASIS_FOLDER = "key_skills"
"""The folder whose direct children are Oasis skills."""

# File name, lower case -> (skill name, tag). AGENT.md is an AGENTS.md (adk-skill 0.6 folds it).
CONVENTION_NAMES = {
    "agents.md": ("agents", "agents-md"),
    "agent.md": ("agents", "agents-md"),
    "claude.md": ("claude", "claude-md"),
    "gemini.md": ("gemini", "gemini-md"),
    "copilot.md": ("copilot", "copilot-md"),
    "skills.md": ("skills", "skills-md"),
    "soul.md": ("soul", "soul-md"),
}
ROOT_ONLY = frozenset(["soul.md"])
"""Names that are read directly in a root only."""


def convention_of(file_name: str) -> tuple[str, str] | None:
    """Return (skill name, tag) for a convention file name, case ignored, else None."""
    return CONVENTION_NAMES.get(file_name.lower())
