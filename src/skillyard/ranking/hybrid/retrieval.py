"""The candidates of one request: what the index is asked, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from skillyard.index.facet_terms import (
    AVOID,
    NAME,
    PHRASE,
    PRIOR,
    exact_name_term,
    find_phrases,
    tag_term,
)
from skillyard.index.searcher import Searcher, Weights
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.evidence import UNIT_DOT, CandidateSet, ExtraEvidence
from skillyard.ranking.hybrid.feedback import apply_feedback, is_long_query
from skillyard.ranking.hybrid.query_analysis import AnalysedQuery
from skillyard.ranking.query import Query
from skillyard.sums import stable_sum

if TYPE_CHECKING:
    from skillyard.ranking.hybrid.dense_index import DenseIndex

__all__ = ["ordinals_by_name", "retrieve"]

MAX_NAME_WORDS = 12
"""Words of a request that may be nothing but a name."""
UNLIMITED = 1_000_000_000
"""As a limit: all that there are."""


def retrieve(
    query: Query,
    analysed: AnalysedQuery,
    searcher: Searcher,
    fusion: Fusion,
    files: Mapping[int, float],
    called: Sequence[int],
    dense: DenseIndex | None = None,
) -> CandidateSet:
    """Return the candidates: the best by words, the best by meaning, and the ones called.

    ``files`` are the ordinals whose file patterns match; ``called`` those that the request calls
    by ``@name``, hidden ones too, which are no answers otherwise. ``dense`` is what an embedder
    says of the library.
    """
    allowed = _allowed_by_tags(query, searcher)
    weights = analysed.weights
    words = searcher.lexical(weights, fusion.depth, allowed)
    calls = _phrase_matches(analysed, searcher, allowed)
    named = {o for o in called if _passes_tags(query, searcher, o)}
    if not named and 0 < len(analysed.words) <= MAX_NAME_WORDS and not analysed.is_small_talk:
        named.update(_ordinals_with(exact_name_term(query.text), searcher, allowed))
    scores = dict(words)
    unscored_evidence = dict.fromkeys(
        [
            *calls,
            *(ordinal for ordinal in files if allowed is None or ordinal in allowed),
            *sorted(named),
            *(sorted(allowed) if allowed and query.include_tags and not analysed.terms else ()),
        ]
    )
    unscored = [ordinal for ordinal in unscored_evidence if ordinal not in scores]
    if unscored:
        scores.update(zip(unscored, searcher.exact_scores(weights, unscored), strict=True))
    spread = _score_range_of(words, fusion.depth)
    feedback = None
    if is_long_query(analysed):
        extra = _extra_evidence(list(scores), analysed, searcher, named, calls, files)
        feedback = apply_feedback(scores, extra, spread, analysed, searcher, fusion)
    direction = analysed.vector if feedback is None else feedback.direction
    meaning = searcher.semantic(direction, fusion.depth, allowed) if direction else []
    near = {ordinal: dot / UNIT_DOT for ordinal, dot in meaning}
    embedded_query = dense.direction(query.text) if dense is not None else b""
    embedded = [] if dense is None else dense.nearest(embedded_query, fusion.depth, allowed)
    ordinals = list(dict.fromkeys([*scores, *near, *(ordinal for ordinal, _ in embedded)]))
    far = [ordinal for ordinal in ordinals if ordinal not in near]
    dots = searcher.dots(direction, far) if direction else [0] * len(far)
    near.update(zip(far, [dot / UNIT_DOT for dot in dots], strict=True))
    most, least = _score_range_of(meaning, fusion.depth)
    alone = near
    if feedback is not None:
        dots = searcher.dots(analysed.vector, ordinals)
        alone = dict(zip(ordinals, [dot / UNIT_DOT for dot in dots], strict=True))
    return CandidateSet(
        scores,
        near,
        _extra_evidence(ordinals, analysed, searcher, named, calls, files),
        spread,
        (most / UNIT_DOT, least / UNIT_DOT),
        {} if dense is None else dense.cosines(embedded_query, ordinals),
        _score_range_of(embedded, fusion.depth),
        alone,
        feedback,
    )


def _score_range_of(hits: Sequence[tuple[int, float]], depth: int) -> tuple[float, float]:
    """Return the best score and the one that counts as nothing: that of the last of a full list.

    Where so many copies share the best score that they fill the list, nothing less was seen.
    """
    best = hits[0][1] if hits else 0.0
    last = hits[depth - 1][1] if len(hits) >= depth else 0.0
    return best, last if last < best else 0.0


def _extra_evidence(
    ordinals: Sequence[int],
    analysed: AnalysedQuery,
    searcher: Searcher,
    named: Collection[int],
    calls: Mapping[int, tuple[str, ...]],
    files: Mapping[int, float],
) -> dict[int, ExtraEvidence]:
    total = stable_sum([term.weight for term in analysed.terms]) or 1.0
    shunned = [(AVOID + t.text, t.weight / total) for t in analysed.terms if t.avoided]
    avoid = _positive_scores(shunned, ordinals, searcher) if shunned else {}
    known = bool(searcher.frequency(PRIOR))
    prior = _positive_scores([(PRIOR, 1.0)], ordinals, searcher) if known else {}
    some = {*named, *calls, *files, *avoid, *prior}
    if not some:
        return {}
    return {
        ordinal: ExtraEvidence(
            ordinal in named,
            calls.get(ordinal, ()),
            _phrase_share(calls.get(ordinal, ()), analysed),
            files.get(ordinal, 0.0),
            prior.get(ordinal, 0.0),
            avoid.get(ordinal, 0.0),
        )
        for ordinal in ordinals
        if ordinal in some
    }


def _positive_scores(
    weights: Weights, ordinals: Sequence[int], searcher: Searcher
) -> dict[int, float]:
    scores = zip(ordinals, searcher.exact_scores(weights, ordinals), strict=True)
    return {ordinal: score for ordinal, score in scores if score}


def _phrase_share(phrases: Sequence[str], analysed: AnalysedQuery) -> float:
    if not phrases or not analysed.words:
        return 0.0
    return max([phrase.count(" ") + 1 for phrase in phrases]) / len(analysed.words)


def _ordinals_with(mark: str, searcher: Searcher, allowed: frozenset[int] | None) -> list[int]:
    if not searcher.frequency(mark):
        return []
    return [ordinal for ordinal, _ in searcher.lexical([(mark, 1.0)], UNLIMITED, allowed)]


def ordinals_by_name(words: Iterable[str], searcher: Searcher) -> list[int]:
    """Return the ordinals whose name or slug starts with one of the words, ascending."""
    return sorted({o for word in words for o in _ordinals_with(NAME + word, searcher, None)})


def _phrase_matches(
    analysed: AnalysedQuery, searcher: Searcher, allowed: frozenset[int] | None
) -> dict[int, tuple[str, ...]]:
    """Return by ordinal the names and trigger phrases that stand in the request."""
    phrases: dict[int, tuple[str, ...]] = {}
    for phrase in find_phrases(analysed.words, searcher.existing_terms):  # few are
        for ordinal in _ordinals_with(PHRASE + phrase, searcher, allowed):
            phrases[ordinal] = (*phrases.get(ordinal, ()), phrase)
    return phrases


def _allowed_by_tags(query: Query, searcher: Searcher) -> frozenset[int] | None:
    """Return the ordinals that the query's tags leave, or None for all."""
    excluded = {
        o for tag in query.exclude_tags for o in _ordinals_with(tag_term(tag), searcher, None)
    }
    if query.include_tags:
        tags = (tag_term(tag) for tag in query.include_tags)
        included = {ordinal for tag in tags for ordinal in _ordinals_with(tag, searcher, None)}
        return frozenset(included - excluded)
    return frozenset(set(searcher.ordinals()) - excluded) if excluded else None


def _passes_tags(query: Query, searcher: Searcher, ordinal: int) -> bool:
    """True when the query's tags leave a skill that no list of answers holds."""
    included = [tag_term(tag) for tag in query.include_tags]
    excluded = [tag_term(tag) for tag in query.exclude_tags]
    return not any(searcher.impacts(ordinal, excluded)) and (
        not included or any(searcher.impacts(ordinal, included))
    )
