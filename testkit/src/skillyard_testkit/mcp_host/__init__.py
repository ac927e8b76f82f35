"""A host of the MCP Skills extension, to test servers with: it verifies what they serve.

There is one :class:`SkillHost` for each server, next to a client session of the MCP SDK, which must
be installed. Entries are data until somebody approves one. An approval is valid for exactly the
files that were listed. Every byte is verified against the entry. Nothing here runs anything, and
what a skill declares about tools or permissions has no effect.
"""

from skillyard_testkit.mcp_host.entries import Listed, ServedFile, ServedSkill
from skillyard_testkit.mcp_host.host import LoadedSkill, SkillHost
from skillyard_testkit.mcp_host.refusals import EntryInvalid, HostRefused, NotApproved, Unverified

__all__ = [
    "EntryInvalid",
    "HostRefused",
    "Listed",
    "LoadedSkill",
    "NotApproved",
    "ServedFile",
    "ServedSkill",
    "SkillHost",
    "Unverified",
]
