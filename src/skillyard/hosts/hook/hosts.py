"""The supported agent hosts and their settings files.

Sources: Claude Code's hooks reference; Codex's hooks page and the JSON schemas in its repository
(``codex-rs/hooks/schema/generated``), as of November 2026. Both send one JSON object on standard
input, and both accept the same answer.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.base.errors import UnknownName

EVENT = "UserPromptSubmit"
"""The name of the event in the payloads, settings and answers of both hosts."""
MAX_CONTEXT_CHARS = 9_500
"""Limit for the characters of an answer. Claude Code passes at most 10,000 to the model."""


class Host(NamedTuple):
    """One host and the file with its hooks."""

    name: str
    folder: str
    """Below the home folder."""
    variable: str
    """Environment variable that replaces the folder."""
    file: str
    note: str
    """The step that the user has to take once after the installation."""
    sign: str
    """Before a skill's name it makes the host load that skill: ``/`` at the start of a prompt, and
    ``$`` anywhere."""

    def home(self) -> str:
        """Return the folder of the user's settings."""
        own = os.environ.get(self.variable)
        return own or os.path.join(os.path.expanduser("~"), self.folder)

    def settings(self) -> str:
        """Return the path of the user's settings."""
        return os.path.join(self.home(), self.file)


HOSTS = (
    Host(
        "claude-code",
        ".claude",
        "CLAUDE_CONFIG_DIR",
        "settings.json",
        "sessions that are open take it up when they are started again",
        "/",
    ),
    Host(
        "codex",
        ".codex",
        "CODEX_HOME",
        "hooks.json",
        "Codex runs it once you have looked at it: type /hooks there",
        "$",
    ),
)


def host_of(name: str) -> Host:
    """Return the host with that name. Raises UnknownName."""
    for host in HOSTS:
        if host.name == name:
            return host
    raise UnknownName("host", name, [host.name for host in HOSTS])
