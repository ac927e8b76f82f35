"""The order of the best skills of a short request, once more.

Points are rescaled for each request: the best words and the best cosine have the same points in
every request, however good they are. So a listwise linear model weighs, beside the points, three
absolute numbers of the best skills: how much of the request a skill contains, how much of the
request are names that it does not contain (a sibling for another product), and the cosine of the
two. ``training/order.py`` fits it; ``training/README.md`` has its gain, and what other numbers add
to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING

from skillyard.base.sums import stable_sum
from skillyard.engine.index.facet_terms import FULL_IMPACT, LENGTH, MAX_BODY_TERMS, SHORT_BODY_TERMS
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.ranking.hybrid.constants import Fusion
from skillyard.engine.ranking.hybrid.fusion import CandidateSet, Coverage, Order, top_by_points
from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

if TYPE_CHECKING:
    from skillyard.engine.embedding.protocol import Embedder


def score_order(
    totals: Mapping[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
    embedder: Embedder | None,
) -> dict[int, Order]:
    """Return what orders the best skills once more, by ordinal.

    ``totals`` are the points so far. The cosine is that of the token table, or of an embedder that
    has numbers for it (:class:`~skillyard.engine.embedding.protocol.EmbedderOrder`). The result is
    empty unless the request is in English (the language of the training data) and calls no skill by
    name. The points are at least 0: they are relative to the lowest of the best skills.
    """
    if not analysed.is_english or any(extra.called for extra in candidates.extra.values()):
        return {}
    by_share, by_names, by_cosine = fusion.share, fusion.names, fusion.cosine
    cosine_of = candidates.cosines
    if embedder is not None and candidates.embedder_cosines:
        from skillyard.engine.embedding.protocol import order_of

        if (own := order_of(embedder)) is not None:
            (by_share, by_names, by_cosine), cosine_of = own, candidates.embedder_cosines
    best = top_by_points(totals, searcher, fusion.ordered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    terms = [(term.text, term.rarity) for term in analysed.terms]
    names = [(text, rarity) for text, rarity in terms if text in analysed.named]
    total = stable_sum([rarity for _, rarity in terms]) or 1.0
    all_names = stable_sum([rarity for _, rarity in names])
    shares = [rarity / total for rarity in searcher.matched_weights(terms, ordinals)]
    present = searcher.matched_weights(names, ordinals) if names else [0.0] * len(ordinals)
    missing = [max(0.0, all_names - rarity) / total for rarity in present]
    cosines = [cosine_of.get(ordinal, 0.0) for ordinal in ordinals]
    points = [
        by_share * share - by_names * name + by_cosine * cosine
        for share, name, cosine in zip(shares, missing, cosines, strict=True)
    ]
    least = min(points, default=0.0)
    rows = zip(ordinals, points, shares, missing, cosines, strict=True)
    return {ordinal: Order(own - least, *values) for ordinal, own, *values in rows}


FULL_LOG_LENGTH = log(MAX_BODY_TERMS / SHORT_BODY_TERMS) / FULL_IMPACT
"""log(length / short length) for a LENGTH impact of 1."""


def score_coverage(
    totals: Mapping[int, float],
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
) -> dict[int, Coverage]:
    """Return the coverage of the best skills by ordinal.

    ``totals`` are the points so far. The result is empty unless the request is long, has a vector,
    is in English (the language of the training data) and calls no skill by name. The points are at
    least 0: they are relative to the lowest of the best skills.
    """
    if candidates.feedback is None or not analysed.is_english:
        return {}
    if any(extra.called for extra in candidates.extra.values()):
        return {}
    best = top_by_points(totals, searcher, fusion.covered)
    ordinals = [ordinal for ordinal, points in best if points > 0.0]
    terms = [(term.text, term.rarity) for term in analysed.terms]
    matched = searcher.matched_weights(terms, ordinals)
    lengths = searcher.exact_scores([(LENGTH, FULL_LOG_LENGTH)], ordinals)
    total = stable_sum([rarity for _, rarity in terms])
    shares = [rarity / total for rarity in matched]
    cosines = [candidates.cosines.get(ordinal, 0.0) for ordinal in ordinals]
    model_scores = [
        fusion.coverage * share + fusion.nearness * cosine - fusion.length * length
        for share, cosine, length in zip(shares, cosines, lengths, strict=True)
    ]
    least = min(model_scores, default=0.0)
    rows = zip(ordinals, model_scores, shares, lengths, cosines, strict=True)
    return {ordinal: Coverage(points - least, *values) for ordinal, points, *values in rows}
