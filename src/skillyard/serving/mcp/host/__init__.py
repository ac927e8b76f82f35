"""The host side of the Skills extension: skills of other servers, verified and approved.

There is one :class:`SkillHost` for each server, next to a client session of the official SDK, under
a label that the host chooses. Entries are data until a person approves one. An approval is valid
for exactly the files that were shown. Every byte is verified against the entry before it is used.
Cached files are stored where no agent looks for skills. Nothing here runs anything, and what a
skill declares about tools or permissions has no effect.
"""

from __future__ import annotations

from skillyard.serving.mcp.host.approvals import Approvals
from skillyard.serving.mcp.host.cache import SkillCache
from skillyard.serving.mcp.host.entries import Listed, ServedFile, ServedSkill, named
from skillyard.serving.mcp.host.host import LoadedSkill, SkillHost
from skillyard.serving.mcp.host.refusals import EntryInvalid, HostRefused, NotApproved, Unverified

__all__ = [
    "Approvals",
    "EntryInvalid",
    "HostRefused",
    "Listed",
    "LoadedSkill",
    "NotApproved",
    "ServedFile",
    "ServedSkill",
    "SkillCache",
    "SkillHost",
    "Unverified",
    "named",
]
