"""Undoes what makes a text safe inside a frame."""

from __future__ import annotations

from skillyard.base.text import _frame_tags


def unescape_frame(text: str) -> str:
    """Return the text as it was before ``escape_frame``."""
    return _frame_tags().sub(lambda match: "[" + match.group(1)[1:], text)
