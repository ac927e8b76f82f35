"""The fence: a random part of a frame that the author of a skill cannot know.

A frame is ``[skill:NAME]`` … ``[/skill]``, or with a fence ``[skill:NAME fence=FENCE]`` …
``[/skill:FENCE]``. Both closing tags are escaped inside a frame, so a body cannot close it even if
it contains the right fence.
"""

from __future__ import annotations

import re

from skillyard.base.errors import InvalidInput

_BYTES = 8
_FENCE = "[0-9a-z]{8,64}"


def random_fence() -> str:
    """Return 16 random hexadecimal digits, for one frame or for the frames of one prompt."""
    from secrets import token_hex  # deferred: slow to import

    return token_hex(_BYTES)


def check_fence(fence: str | None) -> None:
    """Raise InvalidInput unless the fence is None or 8 to 64 of the characters 0-9 and a-z."""
    if fence is not None and re.fullmatch(_FENCE, fence) is None:
        raise InvalidInput("fence must be None or 8 to 64 of the characters 0-9 and a-z")


def opening_tag(name: str, fence: str | None = None) -> str:
    """Return the first line of a frame. The name must already be safe."""
    return f"[skill:{name}]" if fence is None else f"[skill:{name} fence={fence}]"


def closing_tag(fence: str | None = None) -> str:
    """Return the last line of a frame."""
    return "[/skill]" if fence is None else f"[/skill:{fence}]"


def fence_of(text: str) -> str | None:
    """Return the fence of the frame at the start of a text, or None."""
    match = re.match(rf"\[skill:[^\n]* fence=({_FENCE})\]\n", text)
    return None if match is None else match.group(1)
