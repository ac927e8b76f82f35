"""The size of a text for a model: bytes, estimated tokens, and size classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

from skillyard.base.errors import InvalidInput

CHARS_PER_TOKEN = 4.0
"""English prose has about four characters a token; 3.6 is reported for Claude 4.7 and later
(spec/evals.md §1.7, from measurements that others published)."""

SMALL_BELOW_BYTES = 5_000
LARGE_ABOVE_BYTES = 15_000
"""Tiers of a body (spec/evals.md §1.7): both bounds belong to ``medium``."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of one text."""

    bytes: int
    """In UTF-8."""
    tokens_estimated: int
    method: str
    """The method of the estimate: ``chars/4`` or ``chars/3.6``."""


def estimate_tokens(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """Return the estimated tokens of a text: characters over the constant, rounded up.

    0 for an empty text. Raises InvalidInput unless ``chars_per_token`` is finite and above 0.
    """
    if not 0 < chars_per_token < inf:
        raise InvalidInput(f"chars_per_token must be above 0 and finite, not {chars_per_token!r}")
    return ceil(len(text) / chars_per_token)


def size_of(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> Size:
    """Return the bytes and the estimated tokens of a text. Raises InvalidInput as the estimate."""
    return Size(
        len(text.encode("utf-8", "surrogatepass")),
        estimate_tokens(text, chars_per_token),
        f"chars/{chars_per_token:g}",
    )


def tier(body_bytes: int) -> str:
    """Return ``small`` (under 5,000 bytes), ``medium`` (to 15,000 inclusive) or ``large``."""
    if body_bytes < SMALL_BELOW_BYTES:
        return "small"
    return "large" if body_bytes > LARGE_ABOVE_BYTES else "medium"
