"""Undoes what makes a text safe inside a frame."""

from __future__ import annotations

import re

from skillyard.base.text import _FRAME_TAG


def unescape_frame(text: str) -> str:
    """Return the text as it was before ``escape_frame``."""
    return re.sub(_FRAME_TAG, lambda match: "[" + match.group(1)[1:], text)
