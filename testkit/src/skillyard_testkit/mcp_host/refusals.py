"""The errors of served skills."""

from __future__ import annotations

from skillyard.base.errors import SkillyardError

__all__ = ["EntryInvalid", "HostRefused", "NotApproved", "Unverified"]


class HostRefused(SkillyardError):
    """A served skill is not used; ``label`` is the server's, ``uri`` the skill's or the file's."""

    def __init__(self, label: str, uri: str, what: str) -> None:
        super().__init__(f"{label}: {_line(uri)}: {_line(what)}")
        self.label = label
        self.uri = uri
        self.what = what


def _line(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:500])


class EntryInvalid(HostRefused):
    """The server's entry violates the extension or its limits, and is not loaded."""


class Unverified(HostRefused):
    """Content does not match the entry: changed, damaged or not listed. Refresh the entry."""


class NotApproved(HostRefused):
    """The skill is not approved, or its files differ from the approved ones."""
