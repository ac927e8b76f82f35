"""The agent hosts that this hook knows: where their settings lie and what they hand over.

Sources: Claude Code's hooks reference; Codex's hooks page and the JSON schemas in its repository
(``codex-rs/hooks/schema/generated``), as of November 2026. Both send one JSON object on standard
input, and both take the same answer.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.errors import UnknownName

__all__ = ["EVENT", "HOSTS", "MOST_CONTEXT", "Host", "host_of"]

EVENT = "UserPromptSubmit"
"""The event of both hosts, in their payloads, their settings and their answers."""
MOST_CONTEXT = 9_500
"""Characters of an answer. Claude Code hands 10,000 to the model and a preview of any more."""


class Host(NamedTuple):
    """One host and the file that its hooks are set in."""

    name: str
    folder: str
    """Below the home folder."""
    variable: str
    """Environment variable that replaces the folder."""
    file: str
    note: str
    """What its user has to do once after installing."""

    def home(self) -> str:
        """Return the folder of the user's own settings."""
        own = os.environ.get(self.variable)
        return own or os.path.join(os.path.expanduser("~"), self.folder)

    def settings(self) -> str:
        """Return the path of the user's own settings."""
        return os.path.join(self.home(), self.file)


HOSTS = (
    Host(
        "claude-code",
        ".claude",
        "CLAUDE_CONFIG_DIR",
        "settings.json",
        "sessions that are open take it up when they are started again",
    ),
    Host(
        "codex",
        ".codex",
        "CODEX_HOME",
        "hooks.json",
        "Codex runs it once you have looked at it: type /hooks there",
    ),
)


def host_of(name: str) -> Host:
    """Return the host of a name. Raises UnknownName."""
    for host in HOSTS:
        if host.name == name:
            return host
    raise UnknownName("host", name, [host.name for host in HOSTS])
