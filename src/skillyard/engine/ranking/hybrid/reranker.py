"""The reranker protocol: adjusts the points of the best candidates of ``hybrid``.

There is no built-in reranker. Models on match features alone lost on held-out requests
(training/README.md). The protocol is for models that read the request together with the skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from math import isfinite
from typing import Any, NamedTuple, Protocol, runtime_checkable

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.engine.ranking.query import Query
from skillyard.engine.skill import Skill

ENTRY_POINT_GROUP = "skillyard.rerankers"
MAX_RERANKED = 50
"""Candidates that are reranked: the best by points."""


class Candidate(NamedTuple):
    """One candidate of the first stage."""

    skill: Skill
    points: float
    signals: Mapping[str, float]
    """The points by kind."""


@runtime_checkable
class Reranker(Protocol):
    """Scores the best candidates of one request."""

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> Sequence[float]:
        """Return one number for each candidate in their order, -1..1, to be added to its points.

        The numbers are weighted by ``Fusion.rerank``. The result must be deterministic.
        """
        ...


def resolve_reranker(reranker: str | Reranker | Any) -> Reranker:
    """Return the reranker of a name (entry point ``skillyard.rerankers``), or the object itself.

    Raises UnknownName, InvalidInput.
    """
    if isinstance(reranker, str):
        installed = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
        if reranker not in installed:
            raise UnknownName("reranker", reranker, sorted(installed))
        loaded = installed[reranker].load()
        reranker = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(reranker, Reranker):
        raise InvalidInput("a reranker is a name or an object with a method rerank")
    return reranker


def rerank_scores(reranker: Reranker, query: Query, candidates: Sequence[Candidate]) -> list[float]:
    """Return the reranker's numbers, checked and clamped to -1..1. Raises InvalidInput."""
    scores = [float(value) for value in reranker.rerank(query, candidates)]
    if len(scores) != len(candidates) or not all(map(isfinite, scores)):
        raise InvalidInput(
            f"{type(reranker).__name__}.rerank must give one finite number for each of the"
            f" {len(candidates)} candidates"
        )
    return [min(1.0, max(-1.0, value)) for value in scores]
