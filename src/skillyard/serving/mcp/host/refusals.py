"""The errors of served skills. All are :class:`~skillyard.errors.SkillyardError`."""

from __future__ import annotations

from skillyard.errors import SkillyardError
from skillyard.text import clean_line, shorten

__all__ = ["EntryInvalid", "HostRefused", "NotApproved", "Unverified"]


class HostRefused(SkillyardError):
    """A served skill is not used; ``label`` is the server's, ``uri`` the skill's or the file's."""

    def __init__(self, label: str, uri: str, what: str) -> None:
        clean_uri = clean_line(shorten(uri, 300))
        super().__init__(f"{label}: {clean_uri}: {clean_line(shorten(what, 500))}")
        self.label = label
        self.uri = uri
        self.what = what


class EntryInvalid(HostRefused):
    """The server's entry violates the extension or its limits, and is not loaded."""


class Unverified(HostRefused):
    """Content does not match the entry: changed, damaged or not listed. Refresh the entry."""


class NotApproved(HostRefused):
    """The skill is not approved, or its files differ from the approved ones."""
