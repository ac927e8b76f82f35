"""What is found for one request: words, meaning, and evidence that is neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.index.token_table import UNIT

__all__ = [
    "UNIT_DOT",
    "CandidateSet",
    "Coverage",
    "Evidence",
    "ExtraEvidence",
    "Feedback",
    "score_range",
]

UNIT_DOT = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


class Coverage(NamedTuple):
    """How much of a long request one of the best skills covers (:mod:`.coverage`)."""

    points: float = 0.0
    """What that gives, beside what the least of the best has; 0 at least."""
    share: float = 0.0
    """Share of the request's weight that stands in terms that the skill holds, 0..1."""
    length: float = 0.0
    """Natural logarithm of how many times longer than a short body the skill's is; 0 at least."""


class Evidence(NamedTuple):
    """What speaks for and against one candidate, in the units of each kind."""

    words: float
    """Exact BM25F score: Σ weight · impact."""
    meaning: float
    """Cosine of the request's vector (or of :class:`Feedback`) and the skill's, -1..1."""
    called: bool = False
    """The request calls it by ``@name`` or ``/name``, or is nothing but its name."""
    phrases: tuple[str, ...] = ()
    """Names and trigger phrases of it that stand in the request."""
    share: float = 0.0
    """What the longest of them makes of the request's words, 0..1."""
    files: float = 0.0
    """The weight of the best file pattern that matches, 0..1."""
    prior: float = 0.0
    avoid: float = 0.0
    """Share of the request's weight that stands in what the skill is not for, 0..1."""
    embedded: float = 0.0
    """Cosine by an embedder, -1..1; 0 without one."""
    ranked: bool = True
    """False when it is only near in meaning: then its words count nothing."""
    cover: Coverage = Coverage()


class ExtraEvidence(NamedTuple):
    """What few candidates have beside words and meaning: the rest of :class:`Evidence`."""

    called: bool = False
    phrases: tuple[str, ...] = ()
    share: float = 0.0
    files: float = 0.0
    prior: float = 0.0
    avoid: float = 0.0


class Feedback(NamedTuple):
    """The request's direction, moved towards where its best skills by words lie."""

    direction: bytes
    """The direction that cosines are taken with."""
    own: float
    """What the request's own direction counts in it, as a unit vector."""
    best: tuple[tuple[int, float], ...]
    """What the direction of each of the best skills counts, by ordinal."""


class CandidateSet(NamedTuple):
    """The candidates of one request, and what their scores are measured against."""

    word_scores: Mapping[int, float]
    """The exact score of words, by ordinal, of the best by words and of those that more than words
    and meaning speak for. No other's words count."""
    cosines: Mapping[int, float]
    """The cosine of every candidate, by ordinal."""
    extra: Mapping[int, ExtraEvidence]
    """What else speaks for and against some of them."""
    word_range: tuple[float, float]
    """The (best, least counted) score of words: what stretches to 1 and 0."""
    cosine_range: tuple[float, float]
    embedder_cosines: Mapping[int, float] = {}
    """The cosine of each by an embedder; empty without one."""
    embedder_range: tuple[float, float] = (0.0, 0.0)
    query_cosines: Mapping[int, float] = {}
    """The cosine of every candidate with the request alone, by ordinal: the same as
    :attr:`cosines` but in a long request."""
    feedback: Feedback | None = None
    """What cosines are taken with instead of the request's own direction; None for that one."""
    coverage: Mapping[int, Coverage] = {}
    """In a long request, how much of it each of the best covers, by ordinal."""

    def evidence(self, ordinal: int, word_range: float) -> Evidence:
        """Return what is known of a candidate; ``word_range`` is its score where it is not ranked."""
        extra = self.extra.get(ordinal, ExtraEvidence())
        cosine = self.embedder_cosines.get(ordinal, 0.0)
        ranked = ordinal in self.word_scores
        score = self.word_scores.get(ordinal, word_range)
        cover = self.coverage.get(ordinal, Coverage())
        return Evidence(score, self.cosines[ordinal], *extra, cosine, ranked, cover)


def score_range(scores: Sequence[float], depth: int) -> tuple[float, float]:
    """Return the best score and the one at ``depth``; 0 where the list is shorter."""
    best = scores[0] if scores else 0.0
    return best, scores[depth - 1] if len(scores) >= depth else 0.0
