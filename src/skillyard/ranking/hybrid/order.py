"""The order of the best skills of a short request, once more, with an embedder.

Points are rescaled for each request: the best words and the best cosine have the same points in
every request, however good they are. So a listwise linear model weighs, beside the points, three
absolute numbers of the best skills: how much of the request a skill contains, how much of the
request are names that it does not contain (a sibling for another product), and the embedder's
cosine. ``training/order_encoder.py`` fits it; ``training/README.md`` has its gain, and what other
numbers add to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillyard.index.searcher import Searcher
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import CandidateSet, Order
from skillyard.ranking.hybrid.fusion import top_by_points
from skillyard.ranking.hybrid.query_analysis import AnalysedQuery
from skillyard.sums import stable_sum

if TYPE_CHECKING:
    from skillyard.embedding.protocol import Embedder

__all__ = ["score_order"]


def score_order(
    totals: Mapping[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: Searcher,
    fusion: Fusion,
    embedder: Embedder | None,
) -> dict[int, Order]:
    """Return what orders the best skills once more, by ordinal.

    ``totals`` are the points so far. The result is empty unless the embedder has numbers for it
    (:class:`~skillyard.embedding.protocol.EmbedderOrder`), and the request has a cosine, is in
    English (the language of the training data) and calls no skill by name. The points are at least
    0: they are relative to the lowest of the best skills.
    """
    from skillyard.embedding.protocol import order_of

    counts = None if embedder is None else order_of(embedder)
    if counts is None or not candidates.embedder_cosines or not analysed.is_english:
        return {}
    if any(extra.called for extra in candidates.extra.values()):
        return {}
    best = top_by_points(totals, searcher, fusion.ordered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    total = stable_sum([term.weight for term in analysed.terms]) or 1.0
    names = [(term.text, term.weight) for term in analysed.terms if term.text in analysed.named]
    all_names = stable_sum([weight for _, weight in names])
    shares = [weight / total for weight in searcher.matched_weights(analysed.weights, ordinals)]
    present = searcher.matched_weights(names, ordinals) if names else [0.0] * len(ordinals)
    missing = [max(0.0, all_names - weight) / total for weight in present]
    cosines = [candidates.embedder_cosines.get(ordinal, 0.0) for ordinal in ordinals]
    scores = [
        counts.share * share - counts.names * name + counts.cosine * cosine
        for share, name, cosine in zip(shares, missing, cosines, strict=True)
    ]
    least = min(scores, default=0.0)
    rows = zip(ordinals, scores, shares, missing, strict=True)
    return {ordinal: Order(points - least, *values) for ordinal, points, *values in rows}
