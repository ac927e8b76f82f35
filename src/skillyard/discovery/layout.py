"""The layout of a tree of skills: file names, special folders, and the agents' folders."""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = [
    "AGENT_FOLDERS",
    "BUILD_FOLDERS",
    "HEAVY_FOLDERS",
    "OWN_FOLDERS",
    "REFERENCE_FOLDERS",
    "RUNTIME_FOLDER",
    "SKILL_FILE",
    "AgentFolder",
    "Root",
    "user_folder",
    "user_roots",
]

SKILL_FILE = "SKILL.md"
RUNTIME_FOLDER = ".skills"

HEAVY_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "site-packages", "__pycache__", ".venv", "venv"}
    | {".next", ".tox", ".nox", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
"""Never entered. Names are compared without case."""
BUILD_FOLDERS = frozenset(["target", "dist", "build", "coverage"])
"""Entered only when they contain a ``SKILL.md``, because skills have such names too."""
OWN_FOLDERS = frozenset(["references", "scripts", "assets", "resources", "docs", "examples"])
"""Folders that belong to a skill when they lie in its folder. They are not searched for skills."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Folders in which Skyll finds reference documents, besides the folder of ``SKILL.md`` itself."""


class AgentFolder(NamedTuple):
    """The folder of one agent's user skills: ``home`` below the home folder, or by variable."""

    agent: str
    home: str
    variable: str = ""
    """Environment variable for the folder above ``skills``; empty when the agent has none."""


# Source: the documentation of each agent, collected in spec/peers.md §3.6.
AGENT_FOLDERS = (
    AgentFolder("agents", ".agents/skills"),
    AgentFolder("agents (XDG)", ".config/agents/skills"),
    AgentFolder("Claude Code", ".claude/skills", "CLAUDE_CONFIG_DIR"),
    AgentFolder("Codex", ".codex/skills", "CODEX_HOME"),
    AgentFolder("Copilot", ".copilot/skills"),
    AgentFolder("Cursor", ".cursor/skills"),
    AgentFolder("Gemini CLI", ".gemini/skills"),
    AgentFolder("OpenCode", ".config/opencode/skills"),
)


class Root(NamedTuple):
    """One folder to search, with the scope of its skills."""

    path: str
    scope: str = "project"


def user_folder(folder: AgentFolder, environ: dict[str, str] | None = None) -> str:
    """Return the path of one agent's user skills."""
    variables = os.environ if environ is None else environ
    base = variables.get(folder.variable) if folder.variable else None
    if base:
        return os.path.join(base, "skills")
    return os.path.join(variables.get("HOME") or os.path.expanduser("~"), folder.home)


def user_roots(environ: dict[str, str] | None = None) -> tuple[Root, ...]:
    """Return the user's agent folders that exist, in the order of the table."""
    roots = []
    for folder in AGENT_FOLDERS:
        path = user_folder(folder, environ)
        if os.path.isdir(path):
            roots.append(Root(path, "user"))
    return tuple(roots)
