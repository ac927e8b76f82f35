"""Terms of a text, and numbers seeded by texts."""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["seeded_number", "terms"]

_WORD = re.compile(r"[^\W_]{4,}")
_COMMON = frozenset(
    ["about", "above", "after", "also", "answer", "because", "before", "being", "below", "both",
     "could", "does", "each", "from", "have", "here", "into", "just", "like", "make", "more",
     "most", "must", "need", "only", "other", "over", "please", "same", "should", "skill", "some",
     "such", "than", "that", "their", "them", "then", "there", "these", "they", "this", "those",
     "used", "uses", "using", "want", "what", "when", "where", "which", "while", "will", "with",
     "without", "would", "your"]
)  # fmt: skip


def terms(text: str) -> list[str]:
    """Return the words of four letters and more, lower case, each once, in order."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return [word for word in words if word not in _COMMON]


def seeded_number(below: int, *texts: str) -> int:
    """Return a number from 0 to ``below`` - 1 that depends on the texts alone."""
    digest = sha256("|".join(texts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % below
