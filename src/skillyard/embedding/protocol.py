"""The embedder protocol, the registry of embedders, and vectors as signed bytes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from math import isfinite, sqrt
from typing import Any, Protocol, runtime_checkable

from skillyard.errors import EmbedderFailed, InvalidInput, UnknownName
from skillyard.sums import stable_sum

__all__ = ["UNIT", "Embedder", "embed_checked", "embedder_names", "resolve_embedder", "unit_bytes"]

ENTRY_POINT_GROUP = "skillyard.embedders"
UNIT = 127
"""The norm of a stored vector, whose components are signed bytes."""
MAX_DIMENSIONS = 4_096

_BUILT_IN = {"http": "skillyard.embedding.endpoint:from_environment"}
_REMOVED = {
    "minilm": (
        "removed; use hybrid+http with an embeddings server"
        " (set SKILLYARD_EMBEDDINGS_URL and SKILLYARD_EMBEDDINGS_MODEL)"
    )
}
"""Names of earlier releases with their replacements."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Their cosine is the similarity of two texts."""

    @property
    def id(self) -> str:
        """Identifies the vectors in the cache: model and version."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """Return one vector for each text, all of one length above 0.

        ``query`` is True for requests and False for skills, for models that distinguish them. The
        result must be deterministic. Raises EmbedderFailed.
        """
        ...


def embedder_names() -> tuple[str, ...]:
    """Return the known names, sorted: the built-in ones and those of installed packages."""
    return tuple(sorted({*_BUILT_IN, *_entry_points()}))


def resolve_embedder(embedder: str | Embedder | Any) -> Embedder:
    """Return the embedder of a name (entry point ``skillyard.embedders``), or the object itself.

    Raises UnknownName, InvalidInput (also for a name of an earlier release, with its replacement),
    and EmbedderFailed when a dependency is not installed.
    """
    if isinstance(embedder, str):
        target = _BUILT_IN.get(embedder)
        if target is not None:
            module, _, name = target.partition(":")
            factory = getattr(import_module(module), name)
        else:
            load = _entry_points().get(embedder)
            if load is None and embedder in _REMOVED:
                raise InvalidInput(f"embedder {embedder} was {_REMOVED[embedder]}")
            if load is None:
                raise UnknownName("embedder", embedder, embedder_names())
            factory = load()
        embedder = factory() if callable(factory) and not isinstance(factory, Embedder) else factory
        embedder = embedder() if isinstance(embedder, type) else embedder
    if isinstance(embedder, type) or not isinstance(embedder, Embedder):
        raise InvalidInput("an embedder is a name, or an object with an id and a method embed")
    return embedder


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}


def embed_checked(
    embedder: Embedder, texts: Sequence[str], *, query: bool = False
) -> list[Sequence[float]]:
    """Return the embedder's vectors, after checks of number and length. Raises EmbedderFailed."""
    vectors = list(embedder.embed(texts, query=query))
    if len(vectors) != len(texts):
        raise EmbedderFailed(embedder.id, f"{len(vectors)} vectors for {len(texts)} texts")
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1 or not lengths <= set(range(1, MAX_DIMENSIONS + 1)):
        listed = ", ".join(map(str, sorted(lengths)))
        raise EmbedderFailed(
            embedder.id, f"vectors of {listed} numbers, not of one length up to {MAX_DIMENSIONS}"
        )
    return vectors


def unit_bytes(vector: Iterable[float]) -> bytes:
    """Return the vector scaled to the norm :data:`UNIT` as signed bytes; empty for a zero vector.

    Raises InvalidInput for anything but finite numbers.
    """
    values = [float(value) for value in vector]
    largest = max(map(abs, values), default=0.0)
    if not isfinite(largest) or not all(map(isfinite, values)):
        raise InvalidInput("a vector contains a value that is not a finite number")
    if not largest:
        return b""
    values = [value / largest for value in values]  # avoids underflow of squares
    scale = UNIT / sqrt(stable_sum([value * value for value in values]))
    return array("b", [max(-127, min(127, round(value * scale))) for value in values]).tobytes()
