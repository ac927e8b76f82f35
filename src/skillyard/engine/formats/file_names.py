"""The file and folder names that determine the kind of a document."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

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
    "copilot-instructions.md": ("copilot-instructions", "copilot-instructions-md"),
}
LONGEST_NAME = max(map(len, CONVENTION_NAMES))
ROOT_ONLY = frozenset(["soul.md"])
"""Names that are read directly in a root only."""


def convention_of(file_name: str) -> tuple[str, str] | None:
    """Return (skill name, tag) for a convention file name, case ignored, else None."""
    return CONVENTION_NAMES.get(file_name.lower())


class ConventionFolder(NamedTuple):
    """A folder whose files are conventions of one host; each is called after its file."""

    parent: str
    name: str
    endings: tuple[str, ...]
    tag: str
    source: str


CONVENTION_FOLDERS = (
    ConventionFolder(
        ".claude", "commands", (".md",), "claude-command", "code.claude.com/docs/en/skills"
    ),
    ConventionFolder(".cursor", "rules", (".mdc",), "cursor-rule", "cursor.com/docs/context/rules"),
    ConventionFolder(
        ".github",
        "instructions",
        (".instructions.md",),
        "github-instructions",
        "docs.github.com/en/copilot, repository custom instructions",
    ),
)
"""Read on 2026-11-28. The files may lie in folders below."""


def endings_below(parents: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the endings of the convention files in a folder; empty for an ordinary folder."""
    for each in CONVENTION_FOLDERS:
        if name == each.name and parents[-1:] == (each.parent,):
            return each.endings
    return ()


def folder_convention_of(path: str) -> tuple[str, str] | None:
    """Return (name, tag) of a file in a convention folder, else None."""
    parts = path.replace("\\", "/").split("/")
    for parent, name in pairwise(parts[:-1]):
        for each in CONVENTION_FOLDERS:
            if (parent, name) != (each.parent, each.name):
                continue
            for ending in each.endings:
                if parts[-1].endswith(ending):
                    return parts[-1].removesuffix(ending), each.tag
    return None
