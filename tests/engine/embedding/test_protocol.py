"""Embedders by name, what they say looked at before it is used, and vectors as bytes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from math import inf, nan, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.embedding.protocol import (
    embed_checked,
    resolve_embedder,
    unit_bytes,
)
from skillyard.engine.ranking.registry import resolve
from skillyard.errors import EmbedderFailed, InvalidInput, UnknownName
from tests.engine.embedding.letters import Letters
from tests.tables import for_each


def test_a_wrong_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: "):
        resolve_embedder("nosuch")


@for_each(
    ("name", "numbers", "what"),
    [
        *(("weights", n, "three numbers") for n in [(0.4, 0.2), (0.4, 0.2, 1.5), (nan,) * 3, 1.0]),
        *(("calibration", n, "7 or 21 finite") for n in [(inf,) * 7, [1.0] * 7, (1.0,) * 8]),
        *(("order", n, "three finite") for n in [(1.0, 2.0), (1.0, 2.0, nan), "abc"]),
        *(("passages", n, "two finite") for n in [4, (4,), (4, nan), ("4", 0.6)]),
    ],
)
def test_numbers_that_mean_nothing_are_refused(name: str, numbers: object, what: str) -> None:
    letters = Letters()
    setattr(letters, name, numbers)
    with pytest.raises(InvalidInput, match=f"embedder letters: {name} must be {what}"):
        resolve_embedder(letters)


def test_the_encoder_names_the_package_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    with pytest.raises(EmbedderFailed, match=r"embedder encoder: not installed.*skillyard-encoder"):
        resolve("hybrid+encoder")


@for_each(
    "error", [ModuleNotFoundError("No module named 'onnxruntime'"), ValueError("bad"), OSError()]
)
def test_whatever_an_embedder_raises_is_its_failure(error: Exception) -> None:
    class Broken(Letters):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
            raise error

    with pytest.raises(EmbedderFailed, match="embedder letters: ") as caught:
        embed_checked(Broken(), ["x"])
    assert caught.value.__cause__ is error


def test_a_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("letters", "tests.engine.embedding.nosuch:Letters", "skillyard.embedders")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])
    with pytest.raises(EmbedderFailed, match=r"embedder letters: ModuleNotFoundError.*install its"):
        resolve_embedder("letters")


class _Says:
    id = "says"

    def __init__(self, said: Any) -> None:
        self.said = said

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        return self.said


@for_each(
    ("said", "what"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([], "0 vectors"),
        ([[1.0], [1.0, 2.0]], "vectors of 1, 2 numbers"),
        ([[], []], "vectors of 0 numbers"),
        ([[0.0] * 4_097] * 2, "up to 4096"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(said: Any, what: str) -> None:
    with pytest.raises(EmbedderFailed, match=what):
        embed_checked(_Says(said), ["a", "b"])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_unit_vectors_are_as_long_as_a_byte_reaches(values: list[float]) -> None:
    stored = array("b", unit_bytes(values))
    if not any(values):
        assert len(stored) == 0
    else:
        assert len(stored) == len(values)
        assert (
            abs(sqrt(sum(value * value for value in stored)) - 127) <= 0.5 * sqrt(len(values)) + 1
        )
        assert all(a * b >= 0 for a, b in zip(stored, values, strict=True))
