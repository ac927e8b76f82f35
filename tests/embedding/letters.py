"""An embedder for tests: how often each letter stands in a text."""

from __future__ import annotations

from collections.abc import Sequence

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Letters:
    """Counts letters; remembers what it was asked."""

    def __init__(self, name: str = "letters", alphabet: str = ALPHABET) -> None:
        self.id = name
        self.alphabet = alphabet
        self.asked: list[str] = []
        self.queries: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        (self.queries if query else self.asked).extend(texts)
        return [[float(text.lower().count(letter)) for letter in self.alphabet] for text in texts]
