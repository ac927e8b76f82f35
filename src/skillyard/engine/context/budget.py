"""Token estimates, and cutting of text to a budget."""

from __future__ import annotations

from collections.abc import Callable

from skillyard.base.text import plural

BYTES_PER_TOKEN = 4
"""UTF-8 bytes per token in estimates: English prose has about 4, code and CJK about 3."""
TRUNCATED = "[... truncated]"
"""The line added after a cut (wording of adk-skill)."""


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens: UTF-8 bytes over four, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


def cut(text: str, max_tokens: int) -> str:
    """Return the text cut to a token budget at a line end or blank, with a note.

    The note counts. The result is empty when even the note does not fit.
    """
    if estimate_tokens(text) <= max_tokens:
        return text
    room = max_tokens * BYTES_PER_TOKEN - len(TRUNCATED) - 1
    if room < 0:
        return ""
    head = text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
    boundary = head.rfind("\n")
    if boundary < len(head) // 2:
        boundary = max(head.rfind(" "), boundary)
    if boundary > 0:
        head = head[:boundary]
    return f"{head.rstrip()}\n{TRUNCATED}" if head.strip() else TRUNCATED


def largest_fitting(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number in ``low..high`` that fits, by bisection; ``low`` if none does.

    ``fits`` must not become True again after it was False.
    """
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def omission_note(count: int) -> str:
    """Return the note that ``count`` skills are not listed."""
    return f"({plural(count, 'more skill')} not listed)"
