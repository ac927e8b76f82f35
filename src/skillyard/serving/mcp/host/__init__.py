"""The host side of the Skills extension: other servers' skills, verified and approved.

A :class:`SkillHost` stands beside a client session of the official SDK, one for each server, under
a label that the host gives it. Entries are data until a person approves one; an approval holds for
exactly the files that were seen; every byte is checked against the entry before it is used; what
is kept on disk lies where no agent looks for skills. Nothing here runs anything, and nothing that
a skill says of tools or permissions is given effect.
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
