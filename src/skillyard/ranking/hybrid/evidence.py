"""What the index found for one request: words, meaning, and evidence that is neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from skillyard.index.marks import AVOID, CALL, NAME, PRIOR, exact_mark, tag_mark
from skillyard.index.searcher import CANDIDATES, Searcher
from skillyard.index.table import UNIT
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.question import Question
from skillyard.ranking.query import Query
from skillyard.summing import added

__all__ = ["Evidence", "Found", "find", "named_by"]

LONGEST_NAME = 12
"""Words of a request that may be nothing but a name."""
MANY = 1_000_000_000
"""As a limit: all that there are."""
WHOLE = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


class Evidence(NamedTuple):
    """What speaks for and against one candidate, in the units of each kind."""

    words: float
    """Exact BM25F score: Σ weight · impact."""
    meaning: float
    """Cosine of the request's vector and the skill's, -1..1."""
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


class Found(NamedTuple):
    """The candidates of one request, and what their scores are measured against."""

    candidates: Mapping[int, Evidence]
    """By ordinal."""
    words: tuple[float, float]
    """The (best, least counted) score of words: what stretches to 1 and 0."""
    meaning: tuple[float, float]


def find(
    query: Query,
    asked: Question,
    searcher: Searcher,
    fusion: Fusion,
    files: Mapping[int, float],
    called: Sequence[int],
) -> Found:
    """Return the candidates: the best by words, the best by meaning, and the ones called.

    ``files`` are the ordinals whose file patterns match; ``called`` those that the request calls
    by ``@name``, hidden ones too, which are no answers otherwise.
    """
    allowed = _allowed(query, searcher)
    words = searcher.lexical(asked.weights, CANDIDATES, allowed)
    meaning = searcher.semantic(asked.vector, fusion.depth, allowed) if asked.vector else []
    calls = _calls(asked, searcher, allowed)
    named = {o for o in called if _tagged(query, searcher, o)}
    if not named and 0 < asked.length <= LONGEST_NAME and not asked.talk:
        named.update(_holders(exact_mark(query.text), searcher, allowed))
    ordinals = sorted(
        {
            *(ordinal for ordinal, _ in words),
            *(ordinal for ordinal, _ in meaning),
            *calls,
            *(ordinal for ordinal in files if allowed is None or ordinal in allowed),
            *named,
            *(allowed if allowed and query.include_tags and not asked.terms else ()),
        }
    )
    return Found(
        _evidence(ordinals, asked, searcher, frozenset(named), calls, files),
        _span([score for _, score in words], fusion.depth),
        _span([dot / WHOLE for _, dot in meaning], fusion.depth),
    )


def _span(scores: Sequence[float], depth: int) -> tuple[float, float]:
    """Return the best score and the one at ``depth``; 0 where the list is shorter."""
    best = scores[0] if scores else 0.0
    return best, scores[depth - 1] if len(scores) >= depth else 0.0


def _evidence(
    ordinals: Sequence[int],
    asked: Question,
    searcher: Searcher,
    named: frozenset[int],
    calls: Mapping[int, tuple[str, ...]],
    files: Mapping[int, float],
) -> dict[int, Evidence]:
    words = searcher.exact(asked.weights, ordinals)
    dots = searcher.dots(asked.vector, ordinals) if asked.vector else [0] * len(ordinals)
    total = added([term.weight for term in asked.terms]) or 1.0
    shunned = [(AVOID + term.text, term.weight / total) for term in asked.terms]
    shunned = [pair for pair in shunned if searcher.frequency(pair[0])]
    avoid = searcher.exact(shunned, ordinals) if shunned else [0.0] * len(ordinals)
    known = bool(searcher.frequency(PRIOR))
    prior = searcher.exact([(PRIOR, 1.0)], ordinals) if known else [0.0] * len(ordinals)
    return {
        ordinal: Evidence(
            score,
            dot / WHOLE,
            ordinal in named,
            calls.get(ordinal, ()),
            _share(calls.get(ordinal, ()), asked),
            files.get(ordinal, 0.0),
            before,
            against,
        )
        for ordinal, score, dot, before, against in zip(
            ordinals, words, dots, prior, avoid, strict=True
        )
    }


def _share(phrases: Sequence[str], asked: Question) -> float:
    if not phrases or not asked.length:
        return 0.0
    return max([phrase.count(" ") + 1 for phrase in phrases]) / asked.length


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
    for phrase in asked.phrases:
        for ordinal in _holders(CALL + phrase, searcher, allowed):
            found[ordinal] = (*found.get(ordinal, ()), phrase)
    return found


def _allowed(query: Query, searcher: Searcher) -> frozenset[int] | None:
    """Return the ordinals that the query's tags leave, or None for all."""
    out = {o for tag in query.exclude_tags for o in _holders(tag_mark(tag), searcher, None)}
    if query.include_tags:
        tags = (tag_mark(tag) for tag in query.include_tags)
        kept = {ordinal for tag in tags for ordinal in _holders(tag, searcher, None)}
        return frozenset(kept - out)
    return frozenset(set(searcher.ordinals()) - out) if out else None


def _tagged(query: Query, searcher: Searcher, ordinal: int) -> bool:
    """True when the query's tags leave a skill that no list of answers holds."""
    wanted = [tag_mark(tag) for tag in query.include_tags]
    refused = [tag_mark(tag) for tag in query.exclude_tags]
    return not any(searcher.impacts(ordinal, refused)) and (
        not wanted or any(searcher.impacts(ordinal, wanted))
    )
