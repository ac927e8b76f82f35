"""The layout of a tree of skills: file names and special folders."""

from __future__ import annotations

from typing import NamedTuple

SKILL_FILE = "SKILL.md"
RUNTIME_FOLDER = ".skills"

HEAVY_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "site-packages", "__pycache__", ".venv", "venv"}
    | {".next", ".tox", ".nox", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
    | {"skills-kept"}  # backups of `remove` and `update`
)
"""Never entered. Names are compared without case."""
BUILD_FOLDERS = frozenset(["target", "dist", "build", "coverage"])
"""Entered only when they contain a ``SKILL.md``, because skills have such names too."""
OWN_FOLDERS = frozenset(["references", "scripts", "assets", "resources", "docs", "examples"])
"""Folders that belong to a skill when they lie in its folder. They are not searched for skills."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Folders in which Skyll finds reference documents, besides the folder of ``SKILL.md`` itself."""


class Root(NamedTuple):
    """One folder to search, with the scope of its skills: project, user or system."""

    path: str
    scope: str = "project"
    host: str = ""
    """The host in whose folder it is (``discovery.hosts``); empty for a folder that was named."""
    plugin: str = ""
    """The plugin that the folder belongs to; it goes before the names of its skills."""
