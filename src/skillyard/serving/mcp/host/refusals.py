"""Why a served skill is not used. All are :class:`~skillyard.errors.SkillyardError`."""

from __future__ import annotations

from skillyard.errors import SkillyardError
from skillyard.text import clean_line, shorten

__all__ = ["EntryInvalid", "HostRefused", "NotApproved", "Unverified"]


class HostRefused(SkillyardError):
    """A served skill is not used; ``label`` is the server's, ``uri`` the skill's or the file's."""

    def __init__(self, label: str, uri: str, what: str) -> None:
        shown = clean_line(shorten(uri, 300))
        super().__init__(f"{label}: {shown}: {clean_line(shorten(what, 500))}")
        self.label = label
        self.uri = uri
        self.what = what


class EntryInvalid(HostRefused):
    """What the server says of the skill breaks the extension, or its limits: it is not loaded."""


class Unverified(HostRefused):
    """Content is not what the entry describes: changed, damaged or never listed. Refresh it."""


class NotApproved(HostRefused):
    """Nobody has approved the skill, or its files are not those that were approved."""
