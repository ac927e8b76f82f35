"""An embedder for tests: how often each letter stands in a text."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest

from skillyard.engine.embedding import protocol
from skillyard.engine.embedding.protocol import Embedder
from skillyard.errors import EmbedderFailed

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
PATIENCE_S = 30.0
"""After so long a test gives up; nothing here takes a second."""


class Letters:
    """Counts letters; remembers what it was asked."""

    threads: int | None
    """Only there where a test sets it."""
    multilingual: Letters | None = None
    passages: tuple[int, float] | None = None

    def __init__(self, name: str = "letters", alphabet: str = ALPHABET) -> None:
        self.id = name
        self.is_english = False
        self.alphabet = alphabet
        self.asked: list[str] = []
        self.queries: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        (self.queries if query else self.asked).extend(texts)
        return [[float(text.lower().count(letter)) for letter in self.alphabet] for text in texts]


class GatedLetters(Letters):
    """Letters that wait after some batches of skills until a gate is opened."""

    def __init__(self, free_batches: int = 0) -> None:
        super().__init__()
        self.free_batches = free_batches
        self.waits = Event()
        self.gate = Event()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        if not query and self.free_batches <= 0:
            self.waits.set()
            assert self.gate.wait(PATIENCE_S)
        self.free_batches -= not query
        return super().embed(texts, query=query)


class BrokenLetters(Letters):
    """Letters that fail while they are broken."""

    is_broken = True
    attempts = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.attempts += 1
        if self.is_broken:
            raise EmbedderFailed(self.id, "it is broken")
        return super().embed(texts, query=query)


def install(monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> None:
    """Register an embedder under the name ``letters``."""
    monkeypatch.setattr(protocol, "_entry_points", lambda: {"letters": lambda: embedder})
