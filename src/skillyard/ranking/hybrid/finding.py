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
from skillyard.ranking.hybrid.evidence import WHOLE, Beside, Found
from skillyard.ranking.hybrid.feedback import follow, is_long
from skillyard.ranking.hybrid.question import Question
from skillyard.ranking.query import Query
from skillyard.summing import added

if TYPE_CHECKING:
    from skillyard.ranking.hybrid.dense import Dense

__all__ = ["find", "named_by"]

LONGEST_NAME = 12
"""Words of a request that may be nothing but a name."""
MANY = 1_000_000_000
"""As a limit: all that there are."""


def find(
    query: Query,
    asked: Question,
    searcher: Searcher,
    fusion: Fusion,
    files: Mapping[int, float],
    called: Sequence[int],
    dense: Dense | None = None,
) -> Found:
    """Return the candidates: the best by words, the best by meaning, and the ones called.

    ``files`` are the ordinals whose file patterns match; ``called`` those that the request calls
    by ``@name``, hidden ones too, which are no answers otherwise. ``dense`` is what an embedder
    says of the library.
    """
    allowed = _allowed(query, searcher)
    weights = asked.weights
    words = searcher.lexical(weights, fusion.depth, allowed)
    calls = _calls(asked, searcher, allowed)
    named = {o for o in called if _tagged(query, searcher, o)}
    if not named and 0 < len(asked.words) <= LONGEST_NAME and not asked.talk:
        named.update(_holders(exact_name_term(query.text), searcher, allowed))
    scores = dict(words)
    said = dict.fromkeys(
        [
            *calls,
            *(ordinal for ordinal in files if allowed is None or ordinal in allowed),
            *sorted(named),
            *(sorted(allowed) if allowed and query.include_tags and not asked.terms else ()),
        ]
    )
    unscored = [ordinal for ordinal in said if ordinal not in scores]
    if unscored:
        scores.update(zip(unscored, searcher.exact_scores(weights, unscored), strict=True))
    spread = _span_of(words, fusion.depth)
    feedback = None
    if is_long(asked):
        beside = _beside(list(scores), asked, searcher, named, calls, files)
        feedback = follow(scores, beside, spread, asked, searcher, fusion)
    direction = asked.vector if feedback is None else feedback.direction
    meaning = searcher.semantic(direction, fusion.depth, allowed) if direction else []
    near = {ordinal: dot / WHOLE for ordinal, dot in meaning}
    heard = dense.direction(query.text) if dense is not None else b""
    embedded = [] if dense is None else dense.nearest(heard, fusion.depth, allowed)
    ordinals = list(dict.fromkeys([*scores, *near, *(ordinal for ordinal, _ in embedded)]))
    far = [ordinal for ordinal in ordinals if ordinal not in near]
    dots = searcher.dots(direction, far) if direction else [0] * len(far)
    near.update(zip(far, [dot / WHOLE for dot in dots], strict=True))
    most, least = _span_of(meaning, fusion.depth)
    alone = near
    if feedback is not None:
        dots = searcher.dots(asked.vector, ordinals)
        alone = dict(zip(ordinals, [dot / WHOLE for dot in dots], strict=True))
    return Found(
        scores,
        near,
        _beside(ordinals, asked, searcher, named, calls, files),
        spread,
        (most / WHOLE, least / WHOLE),
        {} if dense is None else dense.cosines(heard, ordinals),
        _span_of(embedded, fusion.depth),
        alone,
        feedback,
    )


def _span_of(found: Sequence[tuple[int, float]], depth: int) -> tuple[float, float]:
    """Return the best score and the one that counts as nothing: that of the last of a full list.

    Where so many copies share the best score that they fill the list, nothing less was seen.
    """
    best = found[0][1] if found else 0.0
    last = found[depth - 1][1] if len(found) >= depth else 0.0
    return best, last if last < best else 0.0


def _beside(
    ordinals: Sequence[int],
    asked: Question,
    searcher: Searcher,
    named: Collection[int],
    calls: Mapping[int, tuple[str, ...]],
    files: Mapping[int, float],
) -> dict[int, Beside]:
    total = added([term.weight for term in asked.terms]) or 1.0
    shunned = [(AVOID + t.text, t.weight / total) for t in asked.terms if t.avoided]
    avoid = _above_zero(shunned, ordinals, searcher) if shunned else {}
    known = bool(searcher.frequency(PRIOR))
    prior = _above_zero([(PRIOR, 1.0)], ordinals, searcher) if known else {}
    some = {*named, *calls, *files, *avoid, *prior}
    if not some:
        return {}
    return {
        ordinal: Beside(
            ordinal in named,
            calls.get(ordinal, ()),
            _share(calls.get(ordinal, ()), asked),
            files.get(ordinal, 0.0),
            prior.get(ordinal, 0.0),
            avoid.get(ordinal, 0.0),
        )
        for ordinal in ordinals
        if ordinal in some
    }


def _above_zero(weights: Weights, ordinals: Sequence[int], searcher: Searcher) -> dict[int, float]:
    scores = zip(ordinals, searcher.exact_scores(weights, ordinals), strict=True)
    return {ordinal: score for ordinal, score in scores if score}


def _share(phrases: Sequence[str], asked: Question) -> float:
    if not phrases or not asked.words:
        return 0.0
    return max([phrase.count(" ") + 1 for phrase in phrases]) / len(asked.words)


def _holders(mark: str, searcher: Searcher, allowed: frozenset[int] | None) -> list[int]:
    if not searcher.frequency(mark):
        return []
    return [ordinal for ordinal, _ in searcher.lexical([(mark, 1.0)], MANY, allowed)]


def named_by(words: Iterable[str], searcher: Searcher) -> list[int]:
    """Return the ordinals whose name or slug starts with one of the words, ascending."""
    return sorted({o for word in words for o in _holders(NAME + word, searcher, None)})


def _calls(
    asked: Question, searcher: Searcher, allowed: frozenset[int] | None
) -> dict[int, tuple[str, ...]]:
    """Return by ordinal the names and trigger phrases that stand in the request."""
    found: dict[int, tuple[str, ...]] = {}
    for phrase in find_phrases(asked.words, searcher.existing_terms):  # few are
        for ordinal in _holders(PHRASE + phrase, searcher, allowed):
            found[ordinal] = (*found.get(ordinal, ()), phrase)
    return found


def _allowed(query: Query, searcher: Searcher) -> frozenset[int] | None:
    """Return the ordinals that the query's tags leave, or None for all."""
    out = {o for tag in query.exclude_tags for o in _holders(tag_term(tag), searcher, None)}
    if query.include_tags:
        tags = (tag_term(tag) for tag in query.include_tags)
        kept = {ordinal for tag in tags for ordinal in _holders(tag, searcher, None)}
        return frozenset(kept - out)
    return frozenset(set(searcher.ordinals()) - out) if out else None


def _tagged(query: Query, searcher: Searcher, ordinal: int) -> bool:
    """True when the query's tags leave a skill that no list of answers holds."""
    wanted = [tag_term(tag) for tag in query.include_tags]
    refused = [tag_term(tag) for tag in query.exclude_tags]
    return not any(searcher.impacts(ordinal, refused)) and (
        not wanted or any(searcher.impacts(ordinal, wanted))
    )
