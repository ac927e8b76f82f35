"""Retrieves the candidates of one request from the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from skillyard.engine.analysis.phrases import QUOTED, find_phrases_in
from skillyard.engine.index.facet_terms import (
    AVOID,
    NAME,
    NAME_TERM,
    PHRASE,
    PRIOR,
    exact_name_term,
    find_phrases,
    name_terms,
    tag_term,
)
from skillyard.engine.index.library import Library
from skillyard.engine.index.segment_searcher import SegmentSearcher, Weights
from skillyard.engine.index.token_table import UNIT, shift_vector
from skillyard.engine.ranking.hybrid.constants import Fusion
from skillyard.engine.ranking.hybrid.fusion import (
    EXCLUDED,
    NOTHING_QUOTED,
    SUBJECT,
    UNIT_DOT,
    CandidateSet,
    Evidence,
    Quoted,
    RocchioFeedback,
    fuse_totals,
    top_by_points,
)
from skillyard.engine.ranking.hybrid.query_analysis import SKILL, AnalysedQuery
from skillyard.engine.ranking.query import Query, called_words, invokes

if TYPE_CHECKING:
    from skillyard.engine.ranking.hybrid.dense_index import DenseIndex

MAX_NAME_WORDS = 12
"""A request with more words is not compared with whole names."""
MAX_PHRASE_CHARS = 500
"""The phrases that descriptions quote are looked up in this much of a request: a long one holds
some by chance."""
UNLIMITED = 1_000_000_000
"""A limit that includes all documents."""


def retrieve(
    query: Query,
    analysed: AnalysedQuery,
    library: Library,
    fusion: Fusion,
    files: Mapping[int, float],
    judged: Mapping[int, float],
    dense: DenseIndex | None = None,
) -> CandidateSet:
    """Return the candidates: the best by BM25F, the best by cosine, and those with other evidence.

    ``files`` maps ordinals to the weight of a matching file pattern, ``judged`` to the user's
    feedback. ``dense`` is the embedder's index.
    """
    searcher = library.searcher
    has_tags = query.include_tags or query.exclude_tags
    allowed = _allowed_by_tags(query, searcher) if has_tags else None
    hits = searcher.lexical(analysed.weights, fusion.depth, allowed)
    phrases = _phrase_matches(analysed, searcher, allowed)
    by_name = _named_ordinals(query, analysed, library, allowed)
    quoted: dict[int, Quoted] = {}
    if not by_name and searcher.frequency(QUOTED):
        quoted = _quoted_phrases(analysed, searcher, allowed)
    is_choosy = analysed.excluded or analysed.mentions.subjects
    forbidden = _forbidden_ordinals(analysed, library) if is_choosy else {}
    known = {
        ordinal: Evidence(
            called=ordinal in by_name,
            phrases=phrases.get(ordinal, ()),
            quoted=quoted.get(ordinal, NOTHING_QUOTED),
            share=_phrase_share(phrases.get(ordinal, ()), analysed),
            files=files.get(ordinal, 0.0),
            feedback=judged.get(ordinal, 0.0),
            forbidden=forbidden.get(ordinal, ""),
        )
        for ordinal in {*by_name, *phrases, *quoted, *files, *judged, *forbidden}
    }
    inside = (ordinal for ordinal in (*files, *judged) if allowed is None or ordinal in allowed)
    tagged = allowed if allowed and query.include_tags and not analysed.terms else ()
    others = [*phrases, *quoted, *inside, *sorted(by_name), *sorted(tagged)]
    scores = dict(hits)  # then those of the others, in this order
    unscored = [ordinal for ordinal in dict.fromkeys(others) if ordinal not in scores]
    if unscored:
        exact = searcher.exact_scores(analysed.weights, unscored)
        scores.update(zip(unscored, exact, strict=True))
    word_range = _score_range_of(hits, fusion.depth)
    feedback = None
    if analysed.is_long:
        extra = _extra_evidence(list(scores), analysed, searcher, known)
        feedback = apply_feedback(scores, extra, word_range, analysed, searcher, fusion)
    vector = analysed.vector if feedback is None else feedback.direction
    nearest = searcher.semantic(vector, fusion.depth, allowed) if vector else []
    embedded_query = dense.direction(analysed) if dense is not None else b""
    embedded = [] if dense is None else dense.nearest(embedded_query, fusion.depth, allowed)
    near = dict(nearest)
    ordinals = list(dict.fromkeys([*scores, *near, *(ordinal for ordinal, _ in embedded)]))
    far = [ordinal for ordinal in ordinals if ordinal not in near]
    near.update(zip(far, searcher.dots(vector, far) if vector else [0] * len(far), strict=True))
    cosines = {ordinal: dot / UNIT_DOT for ordinal, dot in near.items()}
    query_cosines = cosines
    if feedback is not None:
        dots = searcher.dots(analysed.vector, ordinals)
        query_cosines = {o: dot / UNIT_DOT for o, dot in zip(ordinals, dots, strict=True)}
    most, least = _score_range_of(nearest, fusion.depth)
    return CandidateSet(
        word_scores=scores,
        cosines=cosines,
        extra=_extra_evidence(ordinals, analysed, searcher, known),
        word_range=word_range,
        cosine_range=(most / UNIT_DOT, least / UNIT_DOT),
        embedder_cosines={} if dense is None else dense.cosines(embedded_query, ordinals),
        embedder_range=_score_range_of(embedded, fusion.depth),
        embedder_weight=0.0 if dense is None else _embedder_weight(query, analysed, fusion, dense),
        embedded_query=embedded_query,
        background=() if dense is None else dense.background(embedded_query),
        talk=0.0 if dense is None else dense.talk(embedded_query),
        query_cosines=query_cosines,
        feedback=feedback,
    )


def _embedder_weight(
    query: Query, analysed: AnalysedQuery, fusion: Fusion, dense: DenseIndex
) -> float:
    from skillyard.engine.embedding.protocol import LONG_WORDS, weights_of

    weights = weights_of(dense.embedder, fusion.embedder)
    if not analysed.is_english:
        return weights.foreign
    return weights.long if len(analysed.wanted.split()) > LONG_WORDS else weights.english


def _named_ordinals(
    query: Query, analysed: AnalysedQuery, library: Library, allowed: frozenset[int] | None
) -> set[int]:
    """Return the skills called in words, or by ``@name`` or ``/name``, also hidden ones.

    Without any, they are those whose name is the whole request.
    """
    searcher, text = library.searcher, analysed.wanted
    if analysed.mentions.called:
        in_words = ordinals_with(analysed.mentions.called, searcher)
        return {ordinal for ordinal in in_words if _passes_tags(query, searcher, ordinal)}
    words = called_words(text)
    if words:
        ordinals = {
            ordinal
            for ordinal in (*ordinals_by_name(words, searcher), *library.hidden_ordinals())
            if invokes(text, library.skill(ordinal), words)
            and _passes_tags(query, searcher, ordinal)
        }
        if ordinals:
            return ordinals
    if 0 < len(analysed.words) <= MAX_NAME_WORDS and not analysed.is_small_talk:
        return set(_ordinals_with(exact_name_term(text), searcher, allowed))
    return set()


def _forbidden_ordinals(analysed: AnalysedQuery, library: Library) -> dict[int, str]:
    """Return why each skill that the request does not want has no score.

    Its name is in what the request excludes, and not all in the rest, which may hold it as another
    word ("without the pdf skill, read report.pdf"); or the request forbids a product of its name,
    or speaks about it.
    """
    subjects = ordinals_with(analysed.mentions.subjects, library.searcher)
    reasons = dict.fromkeys(subjects, SUBJECT)
    products = [NAME_TERM + term for term in sorted(analysed.excluded_names)]
    reasons.update(dict.fromkeys(ordinals_with(products, library.searcher), EXCLUDED))
    elsewhere = analysed.not_excluded
    if SKILL in analysed.excluded and SKILL not in elsewhere:
        elsewhere = frozenset()
    terms = sorted(analysed.excluded - elsewhere)
    names = [(NAME_TERM + term, 1.0) for term in terms]
    for ordinal, _ in library.searcher.lexical(names, UNLIMITED) if names else ():
        if analysed.excluded.issuperset(name_terms(library.skill(ordinal).name)):
            reasons[ordinal] = EXCLUDED
    return reasons


def _score_range_of(hits: Sequence[tuple[int, float]], depth: int) -> tuple[float, float]:
    """Return (score that is rescaled to 1, score that is rescaled to 0) of a ranked list.

    The second is the score at ``depth``; 0.0 when the list is shorter, or when it equals the best.
    """
    best = hits[0][1] if hits else 0.0
    last = hits[depth - 1][1] if len(hits) >= depth else 0.0
    return best, last if last < best else 0.0


def _extra_evidence(
    ordinals: Sequence[int],
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    known: Mapping[int, Evidence],
) -> dict[int, Evidence]:
    """Return the evidence beside words and cosine, for the ordinals that have any."""
    total = reduce(add, [term.weight for term in analysed.terms], 0.0) or 1.0
    avoid_terms = [(AVOID + t.text, t.weight / total) for t in analysed.terms if t.avoided]
    avoid = _positive_scores(avoid_terms, ordinals, searcher) if avoid_terms else {}
    has_prior = bool(searcher.frequency(PRIOR))
    prior = _positive_scores([(PRIOR, 1.0)], ordinals, searcher) if has_prior else {}
    return {
        ordinal: known.get(ordinal, Evidence())._replace(
            prior=prior.get(ordinal, 0.0), avoid=avoid.get(ordinal, 0.0)
        )
        for ordinal in ordinals
        if ordinal in known or ordinal in avoid or ordinal in prior
    }


def _positive_scores(
    weights: Weights, ordinals: Sequence[int], searcher: SegmentSearcher
) -> dict[int, float]:
    scores = zip(ordinals, searcher.exact_scores(weights, ordinals), strict=True)
    return {ordinal: score for ordinal, score in scores if score}


def _phrase_share(phrases: Sequence[str], analysed: AnalysedQuery) -> float:
    """Return the share of the request's words in the longest of the phrases, 0..1."""
    if not phrases or not analysed.words:
        return 0.0
    return max([phrase.count(" ") + 1 for phrase in phrases]) / len(analysed.words)


def _ordinals_with(
    term: str, searcher: SegmentSearcher, allowed: frozenset[int] | None
) -> list[int]:
    if not searcher.frequency(term):
        return []
    return [ordinal for ordinal, _ in searcher.lexical([(term, 1.0)], UNLIMITED, allowed)]


def ordinals_with(terms: Iterable[str], searcher: SegmentSearcher) -> list[int]:
    """Return the ordinals with one of the facet terms, ascending."""
    return sorted({o for term in terms for o in _ordinals_with(term, searcher, None)})


def ordinals_by_name(words: Iterable[str], searcher: SegmentSearcher) -> list[int]:
    """Return the ordinals whose name or slug starts with one of the words, ascending."""
    return ordinals_with((NAME + word for word in words), searcher)


def _phrase_matches(
    analysed: AnalysedQuery, searcher: SegmentSearcher, allowed: frozenset[int] | None
) -> dict[int, tuple[str, ...]]:
    """Return, by ordinal, the names and trigger phrases that occur in the request."""
    phrases: dict[int, tuple[str, ...]] = {}
    for phrase in find_phrases(analysed.words, searcher.existing_terms):
        for ordinal in _ordinals_with(PHRASE + phrase, searcher, allowed):
            phrases[ordinal] = (*phrases.get(ordinal, ()), phrase)
    return phrases


def _quoted_phrases(
    analysed: AnalysedQuery, searcher: SegmentSearcher, allowed: frozenset[int] | None
) -> dict[int, Quoted]:
    """Return, by ordinal, the phrases of its description that occur in the request."""
    quoted: dict[int, Quoted] = {}
    phrases = find_phrases_in(analysed.wanted[:MAX_PHRASE_CHARS], searcher.existing_terms)
    for key, words, share in phrases:
        for ordinal in _ordinals_with(QUOTED + key, searcher, allowed):
            if share > quoted.get(ordinal, NOTHING_QUOTED).share:
                quoted[ordinal] = Quoted(words, share)
    return quoted


def _allowed_by_tags(query: Query, searcher: SegmentSearcher) -> frozenset[int] | None:
    """Return the ordinals that pass the query's tags, or None when they leave out none."""
    excluded = {
        o for tag in query.exclude_tags for o in _ordinals_with(tag_term(tag), searcher, None)
    }
    if query.include_tags:
        tags = (tag_term(tag) for tag in query.include_tags)
        included = {ordinal for tag in tags for ordinal in _ordinals_with(tag, searcher, None)}
        return frozenset(included - excluded)
    return frozenset(set(searcher.ordinals()) - excluded) if excluded else None


def _passes_tags(query: Query, searcher: SegmentSearcher, ordinal: int) -> bool:
    """Return True when a skill, possibly an excluded one, passes the query's tags."""
    included = [tag_term(tag) for tag in query.include_tags]
    excluded = [tag_term(tag) for tag in query.exclude_tags]
    return not any(searcher.impacts(ordinal, excluded)) and (
        not included or any(searcher.impacts(ordinal, included))
    )


# Pseudo-relevance feedback: the vector of a long request is moved towards its best matches. A task
# prompt also mentions paths, people and deadlines, which distort its vector. The five best lexical
# matches have the actual task in common. The semantic search therefore uses the weighted sum of the
# request's unit vector and theirs (Rocchio, "Relevance feedback in information retrieval", 1971,
# applied to vectors).
COSINE_DEPTH = 50
"""The rank whose cosine is rescaled to 0."""


def apply_feedback(
    scores: Mapping[int, float],
    extra: Mapping[int, Evidence],
    words: tuple[float, float],
    analysed: AnalysedQuery,
    searcher: SegmentSearcher,
    fusion: Fusion,
) -> RocchioFeedback | None:
    """Return the moved vector of a long request; None when its best matches have no vectors.

    ``scores`` are the BM25F scores of the candidates, ``extra`` their other evidence, and ``words``
    the score range. The best matches are chosen by all of these and by the request's own vector.
    """
    ordinals = list(scores)
    cosines = [dot / UNIT_DOT for dot in searcher.dots(analysed.vector, ordinals)]
    descending = sorted(cosines, reverse=True)
    most = descending[0] if descending else 0.0
    least = descending[COSINE_DEPTH - 1] if len(descending) >= COSINE_DEPTH else 0.0
    if most <= 0.0:
        return None
    by_ordinal = dict(zip(ordinals, cosines, strict=True))
    candidates = CandidateSet(scores, by_ordinal, extra, words, (most, max(least, 0.0)))
    totals = fuse_totals(candidates, fusion)
    neighbours = [
        (ordinal, total, vector)
        for ordinal, total in top_by_points(totals, searcher, fusion.followed)
        if total > 0.0 and any(vector := searcher.vector(ordinal))
    ]
    own_weight, neighbour_weight = (1.0 - fusion.feedback) / UNIT, fusion.feedback
    weighted = [(vector, total) for _, total, vector in neighbours]
    shifted = shift_vector(analysed.vector, own_weight, weighted, neighbour_weight)
    if shifted is None:
        return None
    direction, sum_norm, norm = shifted
    shares = tuple(
        (ordinal, neighbour_weight / sum_norm * UNIT * total / norm)
        for ordinal, total, _ in neighbours
    )
    return RocchioFeedback(direction, own_weight * UNIT / norm, shares)
