"""What a tree of skills looks like: file names, folders by their part, agents' own folders."""

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
"""Never entered, whatever lies in them (names compared without case)."""
BUILD_FOLDERS = frozenset(["target", "dist", "build", "coverage"])
"""Entered only when they hold a ``SKILL.md`` themselves: these are also names of skills."""
OWN_FOLDERS = frozenset(["references", "scripts", "assets", "resources", "docs", "examples"])
"""Inside a skill these belong to the skill: no skill is looked for in them."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Where Skyll looks for reference documents, beside the siblings of ``SKILL.md``."""


class AgentFolder(NamedTuple):
    """Where one agent keeps the user's skills: ``home`` below the home folder, or by variable."""

    agent: str
    home: str
    variable: str = ""
    """Environment variable that replaces the folder above ``skills``, where the agent has one."""


# Source: the agents' own documentation, as gathered in spec/peers.md §3.6.
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
    """One folder to look below."""

    path: str
    scope: str = "project"


def user_folder(folder: AgentFolder, environ: dict[str, str] | None = None) -> str:
    """Return where one agent keeps this user's skills."""
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
