"""The ``hybrid`` scorer: words and meaning, mixed, with a probability on top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from skillyard.arguments import Converted, converted, set_field
from skillyard.index.library import Library
from skillyard.index.searcher import tie_key
from skillyard.ranking.hybrid.calibration import logit, probabilities, probability, slope
from skillyard.ranking.hybrid.constants import (
    CALIBRATION,
    FUSION,
    Calibration,
    Facts,
    Fusion,
    Situation,
)
from skillyard.ranking.hybrid.coverage import cover
from skillyard.ranking.hybrid.evidence import WHOLE, Evidence, Found
from skillyard.ranking.hybrid.facts import facts, situation
from skillyard.ranking.hybrid.finding import find, named_by
from skillyard.ranking.hybrid.points import Points, points, totals
from skillyard.ranking.hybrid.question import Question, Vocabulary, question, spelling
from skillyard.ranking.hybrid.reason import reason
from skillyard.ranking.query import Query, called_words, invokes
from skillyard.ranking.scorer import (
    DefaultPolicy,
    Explanation,
    Level,
    Ordered,
    Scored,
    floor_of,
    maybe_of,
)
from skillyard.skill import Skill

if TYPE_CHECKING:
    from skillyard.embedding.protocol import Embedder
    from skillyard.ranking.confidence.patterns import PatternIndex
    from skillyard.ranking.hybrid.dense import Dense
    from skillyard.ranking.hybrid.reranking import Reranker

__all__ = ["HYBRID", "BoundHybrid", "Hybrid"]

WRONG_COST = 2.0
"""A wrong skill costs twice as much as a missed one: it is read, and followed, in vain."""
FLOOR = floor_of(WRONG_COST)
"""Two chances in three: below, a skill is not chosen."""
MAYBE = maybe_of(WRONG_COST)
"""One chance in four: from there a skill is worth a question, where none is chosen."""
MENU_MARGIN = 0.02


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Fielded BM25F and a static token table, fused on scores and calibrated. Scale 0..1.

    The score is the probability that the skill fits, as seen on requests with and without a
    fitting skill. ``include_conventions`` makes candidates of AGENTS.md and kin; a ``reranker``
    (see :mod:`.reranking`) looks at the best candidates again. An ``embedder`` (a name, or see
    :mod:`skillyard.embedding.protocol`) adds its cosine to the points; the probability is worked
    out from the built-in evidence as before.
    """

    fusion: Fusion = FUSION
    calibration: Calibration = CALIBRATION
    include_conventions: bool = False
    reranker: Converted[str | Reranker | None, Reranker | None] = converted(None)
    embedder: Converted[str | Embedder | None, Embedder | None] = converted(None)

    name = "hybrid"
    scale = "0..1"
    levels = (Level(0.8, "high"), Level(FLOOR, "medium"), Level(0.0, "low"))
    default_policy = DefaultPolicy(FLOOR, 5, MENU_MARGIN, "name, path", MAYBE, WRONG_COST)

    def __post_init__(self) -> None:
        if self.reranker is not None:
            set_field(self, "reranker", _resolved(self.reranker))
        if self.embedder is not None:
            set_field(self, "embedder", _embedder(self.embedder))

    def with_embedder(self, embedder: str | Embedder) -> Hybrid:
        """Return the same scorer with an embedder: what the name ``hybrid+NAME`` stands for.

        Raises UnknownName, EmbedderFailed.
        """
        return Hybrid(
            self.fusion, self.calibration, self.include_conventions, self.reranker, embedder
        )

    def bind(self, skills: Iterable[Skill]) -> BoundHybrid:
        """Use the index that the skills bring with them, or make one in memory."""
        library = getattr(skills, "library", None)
        if library is not None and not self.include_conventions:
            return BoundHybrid(self, library)
        from skillyard.index.memory_library import MemoryLibrary  # it loads what building needs

        return BoundHybrid(
            self, MemoryLibrary(skills, include_conventions=self.include_conventions)
        )


HYBRID = Hybrid()


def _resolved(reranker: str | Reranker) -> Reranker:
    from skillyard.ranking.hybrid.reranking import resolve_reranker

    return resolve_reranker(reranker)


def _embedder(embedder: str | Embedder) -> Embedder:
    from skillyard.embedding.protocol import resolve_embedder

    return resolve_embedder(embedder)


def _signals(own: Points) -> dict[str, float]:
    return {name: value for name, value in zip(Points._fields, own, strict=True) if value}


def _deaf(asked: Question, found: Found) -> bool:
    """True where the request has no direction, or none that any skill lies in."""
    return not asked.vector or found.meaning[0] <= 0.0


class BoundHybrid:
    """``hybrid`` over one library. Immutable; safe to share between threads."""

    def __init__(self, scorer: Hybrid, library: Library) -> None:
        self.scorer = scorer
        self.library = library
        self.vocabulary = Vocabulary(library.searcher, library.table)
        self.dense: Dense | None = None
        self._patterns: PatternIndex | None = None  # made for the first query that names files
        if scorer.embedder is not None:
            from skillyard.ranking.hybrid.dense import Dense  # it loads what it is made of

            self.dense = Dense(scorer.embedder, library)

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills it was bound to, in catalog order."""
        return self.library.skills

    def prepare(self, query: Query) -> ScoredHybrid:
        """Ask the index once; the rest follows from what it found."""
        library = self.library
        asked = question(query, self.vocabulary)
        files = self._files(query)
        called = self._called(query.text)
        fusion = self.scorer.fusion
        searcher = library.searcher
        found = find(query, asked, searcher, fusion, files, called, self.dense)
        made = totals(found, fusion, deaf=_deaf(asked, found))
        covers = cover(made, found, asked, searcher, fusion)
        for ordinal, covered in covers.items():
            made[ordinal] += covered.points
        return ScoredHybrid(self, query, asked, found._replace(covers=covers), made)

    def _called(self, text: str) -> list[int]:
        """Return the ordinals that the text calls by ``@name`` or ``/name``, hidden ones too."""
        words = called_words(text)
        if not words:
            return []
        library = self.library
        named = [(o, library.skill(o)) for o in named_by(words, library.searcher)]
        return [o for o, s in (*named, *library.hidden()) if invokes(text, s, words)]

    def _files(self, query: Query) -> dict[int, float]:
        """Return by ordinal the weight of the best pattern that matches a file of the query."""
        patterns = self.library.patterns() if query.files else {}
        if not patterns:
            return {}
        if self._patterns is None:
            from skillyard.ranking.confidence.patterns import PatternIndex

            self._patterns = PatternIndex((str(o), listed) for o, listed in patterns.items())
        matches = self._patterns.match(query.files)
        weights = ((o, matches.best_weight(at)) for at, o in enumerate(patterns))
        return {ordinal: weight for ordinal, weight in weights if weight}


class ScoredHybrid(Scored):
    """The scores of one query."""

    exhaustive = True
    settled = True

    def __init__(
        self,
        bound: BoundHybrid,
        query: Query,
        asked: Question,
        found: Found,
        made: dict[int, float],
    ) -> None:
        self._bound = bound
        self.query = query
        self.asked = asked
        self.found = found
        self._made = made
        self._deaf = _deaf(asked, found)
        self._said: Mapping[int, float] = {}

    @property
    def blank(self) -> bool:
        """True when the query holds nothing to look for."""
        return not self.asked.terms and not self.query.files

    @property
    def considered(self) -> int:
        """How many skills were looked at: all of the index."""
        return self._bound.library.searcher.size

    @cached_property
    def totals(self) -> dict[int, float]:
        """The points of each candidate, all kinds added, by ordinal."""
        found = self._made
        if self._bound.scorer.reranker is not None:
            self._said = self._opinions(found)
            for ordinal, said in self._said.items():
                found[ordinal] += self._bound.scorer.fusion.rerank * said
        return found

    def _opinions(self, found: Mapping[int, float]) -> dict[int, float]:
        """Return what the reranker says of the best candidates, -1..1 by ordinal."""
        from skillyard.ranking.hybrid.reranking import RERANKED, Candidate, opinions

        library, reranker = self._bound.library, self._bound.scorer.reranker
        assert reranker is not None
        order = sorted(found, key=lambda o: (-found[o], tie_key(library.searcher.key(o))))
        best = order[:RERANKED]
        candidates = [
            Candidate(library.full_skill(o), found[o], _signals(self._plain(o))) for o in best
        ]
        return dict(zip(best, opinions(reranker, self.query, candidates), strict=True))

    def _plain(self, ordinal: int) -> Points:
        """Return the points of a candidate before a reranker has seen it."""
        fusion = self._bound.scorer.fusion
        return points(self._evidence(ordinal), self.found, fusion, deaf=self._deaf)

    @cached_property
    def best(self) -> int | None:
        """The ordinal of the best candidate by points; ties by words, meaning, the index's own."""
        searcher, found = self._bound.library.searcher, self.found
        most = max(self.totals.values(), default=0.0)
        tied = [ordinal for ordinal, total in self.totals.items() if total == most]
        if len(tied) == 1:
            return tied[0]
        return min(
            tied,
            key=lambda o: (
                -found.by_words.get(o, 0.0),
                -found.by_meaning[o],
                tie_key(searcher.key(o)),
            ),
            default=None,
        )

    @cached_property
    def facts(self) -> Facts | None:
        """What the probability of the best skill is worked out from."""
        if self.best is None:
            return None
        library, evidence = self._bound.library, self._evidence(self.best)
        return facts(self.best, evidence, self.found, self.asked, library.searcher, library.table)

    @cached_property
    def situation(self) -> Situation:
        """What else the probability is worked out from: the request's length, the library's."""
        return situation(self.asked, self._bound.library.searcher)

    @cached_property
    def _top(self) -> tuple[float, float, float]:
        """The best skill's (points, log-odds), and what a point behind it costs."""
        calibration = self._bound.scorer.calibration
        if self.best is None or self.facts is None:
            return 0.0, 0.0, calibration.gap
        evidence = self._evidence(self.best)
        blank, talk = not self.asked.terms, self.asked.talk
        where = self.situation
        log_odds = logit(self.facts, where, evidence, calibration, blank=blank, talk=talk)
        return self.totals[self.best], log_odds, slope(log_odds, calibration)

    @property
    def log_odds(self) -> float:
        """The log-odds that the best skill fits; 0.0 where there is none."""
        return self._top[1]

    def score_of(self, total: float) -> float:
        """Return the probability of a skill with that many points; 0.0 without any."""
        if total <= 0:
            return 0.0
        best, log_odds, gap = self._top
        if total >= best:  # a skill that is no candidate may have more
            return probability(log_odds)
        return probability(log_odds - gap * (best - total))

    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the candidates that anything speaks for, best first; skills load when looked at.

        Equal scores are ordered by name and path. Where only tags are asked for, all that have
        them are there, with a score of zero.
        """
        scored = probabilities(self.totals.items(), *self._top)  # score_of each, at once
        if self.blank:
            scored += [(o, 0.0) for o, total in self.totals.items() if total <= 0]
        return Ordered(scored, self._bound.library.skill)

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the points by kind, those that are not zero."""
        return _signals(self._points_of(skill))

    def reason(self, skill: Skill) -> str:
        """Return the words that match, and how near the meaning is."""
        ordinal, evidence = self.evidence_of(skill)
        searcher = self._bound.library.searcher
        return reason(self.asked, evidence, searcher, ordinal, self._spelled)

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """The terms of the request as it spells them."""
        return spelling(self.query.text)

    def explain(self, skill: Skill) -> Explanation:
        """Return the tree behind the score: the probability, the points, terms and fields."""
        from skillyard.ranking.hybrid.explain import explain

        ordinal, evidence = self.evidence_of(skill)
        own = self._points_of(skill)
        return explain(self, self._bound, skill, ordinal, evidence, own)

    def _evidence(self, ordinal: int) -> Evidence:
        """Return the evidence of a candidate, its words scored where they do not count."""
        words = self.found.by_words.get(ordinal)
        if words is None:
            searcher = self._bound.library.searcher
            (words,) = searcher.exact_scores(self.asked.weights, [ordinal])
        return self.found.evidence(ordinal, words)

    def evidence_of(self, skill: Skill) -> tuple[int, Evidence]:
        """Return the ordinal and the evidence of any skill of the library."""
        library = self._bound.library
        ordinal = library.ordinal(skill)
        if ordinal is None:
            return -1, Evidence(0.0, 0.0)
        if ordinal in self.found.by_meaning:
            return ordinal, self._evidence(ordinal)
        searcher = library.searcher
        words = searcher.exact_scores(self.asked.weights, [ordinal])[0]
        feedback = self.found.feedback
        vector = self.asked.vector if feedback is None else feedback.direction
        near = searcher.dots(vector, [ordinal])[0] / WHOLE if vector else 0.0
        dense = self._bound.dense
        direction = b"" if dense is None else dense.direction(self.query.text)
        cosine = {} if dense is None else dense.cosines(direction, [ordinal])
        embedded = cosine.get(ordinal, 0.0)
        return ordinal, Evidence(words, near, embedded=embedded)

    def _points_of(self, skill: Skill) -> Points:
        ordinal, evidence = self.evidence_of(skill)
        fusion = self._bound.scorer.fusion
        own = points(evidence, self.found, fusion, deaf=self._deaf)
        if ordinal in self.totals and ordinal in self._said:
            own = own._replace(rerank=fusion.rerank * self._said[ordinal])
        return own
