"""What the index found for one request: words, meaning, and evidence that is neither."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from skillyard.index.marks import AVOID, CALL, NAME, PRIOR, exact_mark, phrases_in, tag_mark
from skillyard.index.searcher import Searcher, Weights
from skillyard.index.table import UNIT
from skillyard.ranking.hybrid.constants import Fusion
from skillyard.ranking.hybrid.question import Question
from skillyard.ranking.query import Query
from skillyard.summing import added
from skillyard.value import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillyard.ranking.hybrid.dense import Dense

__all__ = ["Beside", "Cover", "Evidence", "Feedback", "Found", "find", "named_by", "span"]

LONGEST_NAME = 12
"""Words of a request that may be nothing but a name."""
FIRST = 10
"""Skills by words among which one that fits stands out."""
MANY = 1_000_000_000
"""As a limit: all that there are."""
WHOLE = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


class Cover(NamedTuple):
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
    cover: Cover = Cover()


class Beside(NamedTuple):
    """What few candidates have beside words and meaning: the rest of :class:`Evidence`."""

    called: bool = False
    phrases: tuple[str, ...] = ()
    share: float = 0.0
    files: float = 0.0
    prior: float = 0.0
    avoid: float = 0.0


class Feedback(NamedTuple):
    """The request's direction, moved towards where its best skills lie."""

    direction: bytes
    """The direction that cosines are taken with."""
    own: float
    """What the request's own direction counts in it, as a unit vector."""
    best: tuple[tuple[int, float], ...]
    """What the direction of each of the best skills counts, by ordinal."""


class Found(NamedTuple):
    """The candidates of one request, and what their scores are measured against."""

    by_words: Mapping[int, float]
    """The exact score of words, by ordinal, of the best by words and of those that more than words
    and meaning speak for. No other's words count."""
    by_meaning: Mapping[int, float]
    """The cosine of every candidate, by ordinal."""
    beside: Mapping[int, Beside]
    """What else speaks for and against some of them."""
    words: tuple[float, float]
    """The (best, least counted) score of words: what stretches to 1 and 0."""
    meaning: tuple[float, float]
    by_embedder: Mapping[int, float] = {}
    """The cosine of each by an embedder; empty without one."""
    embedder: tuple[float, float] = (0.0, 0.0)
    lead: float = 0.0
    """How far the best score of words lies before the tenth, or before nothing."""
    agreed: float = 0.0
    """Share of the shorter of the two lists, by words and by meaning, that the other holds too."""
    nearest: float = 0.0
    """The best cosine with the request alone."""
    feedback: Feedback | None = None
    """What cosines are taken with instead of the request's own direction; None for that one."""
    covers: Mapping[int, Cover] = {}
    """In a long request, how much of it each of the best covers, by ordinal."""

    def evidence(self, ordinal: int, words: float) -> Evidence:
        """Return what is known of a candidate; ``words`` is its score where it is not ranked."""
        beside = self.beside.get(ordinal, Beside())
        cosine = self.by_embedder.get(ordinal, 0.0)
        ranked = ordinal in self.by_words
        score = self.by_words.get(ordinal, words)
        cover = self.covers.get(ordinal, Cover())
        return Evidence(score, self.by_meaning[ordinal], *beside, cosine, ranked, cover)


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
    meaning = searcher.semantic(asked.vector, fusion.depth, allowed) if asked.vector else []
    calls = _calls(asked, searcher, allowed)
    named = {o for o in called if _tagged(query, searcher, o)}
    if not named and 0 < len(asked.words) <= LONGEST_NAME and not asked.talk:
        named.update(_holders(exact_mark(query.text), searcher, allowed))
    direction = dense.direction(query.text) if dense is not None else b""
    embedded = [] if dense is None else dense.nearest(direction, fusion.depth, allowed)
    scores = dict(words)
    near = {ordinal: dot / WHOLE for ordinal, dot in meaning}
    agreed = sum(map(near.__contains__, scores)) / max(1, min(len(scores), len(near)))
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
        scores.update(zip(unscored, searcher.exact(weights, unscored), strict=True))
    ordinals = list(dict.fromkeys([*scores, *near, *(ordinal for ordinal, _ in embedded)]))
    far = [ordinal for ordinal in ordinals if ordinal not in near]
    dots = searcher.dots(asked.vector, far) if asked.vector else [0] * len(far)
    most, least = _span_of(meaning, fusion.depth)
    best, tenth = _span_of(words, FIRST)
    near.update(zip(far, [dot / WHOLE for dot in dots], strict=True))
    return Found(
        scores,
        near,
        _beside(ordinals, asked, searcher, named, calls, files),
        _span_of(words, fusion.depth),
        (most / WHOLE, least / WHOLE),
        {} if dense is None else dense.cosines(direction, ordinals),
        _span_of(embedded, fusion.depth),
        best - tenth,
        agreed,
        most / WHOLE,
    )


def _span_of(found: Sequence[tuple[int, float]], depth: int) -> tuple[float, float]:
    """Return :func:`span` of the scores in (ordinal, score)."""
    best = found[0][1] if found else 0.0
    return best, found[depth - 1][1] if len(found) >= depth else 0.0


def span(scores: Sequence[float], depth: int) -> tuple[float, float]:
    """Return the best score and the one at ``depth``; 0 where the list is shorter."""
    best = scores[0] if scores else 0.0
    return best, scores[depth - 1] if len(scores) >= depth else 0.0


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
    scores = zip(ordinals, searcher.exact(weights, ordinals), strict=True)
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
    for phrase in phrases_in(asked.words, searcher.known):  # few are
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
