"""From evidence to points: what orders the candidates of one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from skillyard.index.searcher import Searcher, tie_key
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import Evidence, Found

__all__ = ["Points", "first", "points", "shares", "stretch", "totals"]


class Points(NamedTuple):
    """What each kind of evidence gives; their sum, in this order, orders the skills."""

    words: float
    meaning: float
    called: float
    phrase: float
    files: float
    prior: float
    avoid: float
    embedder: float = 0.0
    coverage: float = 0.0
    rerank: float = 0.0

    @property
    def total(self) -> float:
        """The sum, added one by one in the order of the fields."""
        total = 0.0
        for value in self:
            total += value
        return total


def stretch(score: float, span: tuple[float, float]) -> float:
    """Return where ``score`` stands between the least and the best that count, 0..1."""
    best, least = span
    if score <= least or best <= least:
        return 0.0
    return (score - least) / (best - least)


def points(evidence: Evidence, found: Found, fusion: Fusion, *, deaf: bool) -> Points:
    """Return the points of one candidate.

    ``deaf`` is True where the request has no direction (no word that the table knows): then words
    count alone.
    """
    words, meaning, embedder = shares(found, fusion, deaf=deaf)
    return Points(
        words * stretch(evidence.words, found.words) if evidence.ranked else 0.0,
        meaning * stretch(evidence.meaning, found.meaning),
        fusion.called if evidence.called else 0.0,
        fusion.phrase if evidence.phrases else 0.0,
        fusion.files * evidence.files,
        fusion.prior * evidence.prior,
        -fusion.avoid * evidence.avoid,
        embedder * stretch(evidence.embedded, found.embedder),
        evidence.cover.points,
    )


def shares(found: Found, fusion: Fusion, *, deaf: bool) -> tuple[float, float, float]:
    """Return what words, meaning and an embedder count; an embedder leaves the others the rest."""
    words, meaning = (1.0, 0.0) if deaf else (fusion.words, fusion.meaning)
    if not found.by_embedder:
        return words, meaning, 0.0
    rest = 1.0 - fusion.embedder
    return words * rest, meaning * rest, fusion.embedder


def totals(found: Found, fusion: Fusion, *, deaf: bool) -> dict[int, float]:
    """Return :attr:`Points.total` of every candidate, by ordinal: the same, worked out at once."""
    words, meaning, embedder = shares(found, fusion, deaf=deaf)
    most_words, no_words = found.words
    most_meaning, no_meaning = found.meaning
    words_room = max(most_words - no_words, 0.0)
    meaning_room = max(most_meaning - no_meaning, 0.0)
    if meaning_room:
        made = {
            o: meaning * ((cosine - no_meaning) / meaning_room) if cosine > no_meaning else 0.0
            for o, cosine in found.by_meaning.items()
        }
    else:
        made = dict.fromkeys(found.by_meaning, 0.0)
    if words_room:
        for ordinal, score in found.by_words.items():
            if score > no_words:  # two are added: which comes first makes no difference
                made[ordinal] += words * ((score - no_words) / words_room)
    if embedder:
        for ordinal, cosine in found.by_embedder.items():
            made[ordinal] += embedder * stretch(cosine, found.embedder)
    for ordinal in found.beside:
        made[ordinal] = points(found.evidence(ordinal, 0.0), found, fusion, deaf=deaf).total
    return made


def first(made: Mapping[int, float], searcher: Searcher, number: int) -> list[tuple[int, float]]:
    """Return the (ordinal, points) of the best skills; equal ones by the index's own order."""
    if number < 1 or not made:
        return []
    least = sorted(made.values(), reverse=True)[:number][-1]
    close = [pair for pair in made.items() if pair[1] >= least]
    if len({points for _, points in close}) < len(close):  # digests take time: only where needed
        close.sort(key=lambda pair: tie_key(searcher.key(pair[0])))
    close.sort(key=lambda pair: -pair[1])
    return close[:number]
