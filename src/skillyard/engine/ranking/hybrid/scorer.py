"""The ``hybrid`` scorer: fused BM25F and vector scores, calibrated to a probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from skillyard.base.arguments import Conversion, conversion, set_field
from skillyard.engine.index.facet_terms import NAME_TERM, name_terms
from skillyard.engine.index.library import Library
from skillyard.engine.index.segment_searcher import tie_key
from skillyard.engine.ranking.hybrid.calibration import (
    adjust_by_cosine,
    best_log_odds,
    log_odds_slope,
    probabilities,
    probability,
    query_features,
    skill_features,
)
from skillyard.engine.ranking.hybrid.constants import (
    CALIBRATION,
    FUSION,
    SMALL_TALK,
    Calibration,
    Features,
    Fusion,
    QueryFeatures,
)
from skillyard.engine.ranking.hybrid.fusion import (
    UNIT_DOT,
    CandidateSet,
    Evidence,
    fuse,
    fuse_totals,
    look_again,
)
from skillyard.engine.ranking.hybrid.query_analysis import (
    SKILL,
    AnalysedQuery,
    Vocabulary,
    analyse_query,
    forms_in,
    written_forms,
)
from skillyard.engine.ranking.hybrid.retrieval import retrieve
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import (
    DefaultPolicy,
    Explanation,
    Level,
    OrderedScores,
    Scored,
    floor_of,
    maybe_of,
)
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.embedding.protocol import Embedder
    from skillyard.engine.ranking.confidence.patterns import PatternIndex
    from skillyard.engine.ranking.hybrid.dense_index import DenseIndex
    from skillyard.engine.ranking.hybrid.explanation import ExplainedQuery, Side

WRONG_COST = 2.0
"""Cost of a wrong skill relative to a missed one: it is read and followed in vain."""
FLOOR = floor_of(WRONG_COST)
"""2/3: skills below this probability are not selected."""
MAYBE = maybe_of(WRONG_COST)
"""1/4: from this probability a skill is worth a question when none is selected."""
MENU_MARGIN = 0.02
MAX_NAMED_TERMS = 6
"""Terms listed in a reason."""
MIN_NAMED_COSINE = 0.2
"""Smallest cosine that a reason mentions."""


@dataclass(frozen=True, slots=True)
class Hybrid:
    """BM25F and static token vectors, fused and calibrated. Scale 0..1.

    The score is the probability that the skill fits. ``include_conventions`` also ranks convention
    documents such as AGENTS.md. An ``embedder`` (a name, or
    :mod:`skillyard.engine.embedding.protocol`) adds its cosine to the points; the probability still
    uses the built-in evidence.
    """

    fusion: Fusion = FUSION
    calibration: Calibration = CALIBRATION
    include_conventions: bool = False
    embedder: Conversion[str | Embedder | None, Embedder | None] = conversion(None)
    name: str = field(default="hybrid", init=False, repr=False, compare=False)
    """``hybrid``, or ``hybrid+NAME`` for an embedder that was given by its name."""

    scale = "0..1"
    levels = (Level(0.8, "high"), Level(FLOOR, "medium"), Level(0.0, "low"))
    default_policy = DefaultPolicy(FLOOR, 5, MENU_MARGIN, "name, path", MAYBE, WRONG_COST)

    def __post_init__(self) -> None:
        if isinstance(self.embedder, str):
            set_field(self, "name", f"hybrid+{self.embedder}")
        if self.embedder is not None:
            from skillyard.engine.embedding.protocol import resolve_embedder

            set_field(self, "embedder", resolve_embedder(self.embedder))

    def with_embedder(self, embedder: str | Embedder) -> Hybrid:
        """Return the scorer with an embedder, as the name ``hybrid+NAME`` does.

        Raises UnknownName, EmbedderFailed.
        """
        return Hybrid(self.fusion, self.calibration, self.include_conventions, embedder)

    def bind(
        self, skills: Iterable[Skill], progress: Callable[[int, int], object] | None = None
    ) -> BoundHybrid:
        """Use the index of the catalog, or build one in memory for all such scorers of a catalog.

        ``progress`` is called while an embedder's vectors are computed, and may raise to stop.
        """
        library = getattr(skills, "library", None)
        if library is not None and not self.include_conventions:
            return BoundHybrid(self, library, progress)
        for bound in tuple(getattr(skills, "bound", {}).values()):
            if isinstance(bound, BoundHybrid) and bound.has_skills_of(self):
                return BoundHybrid(self, bound.library, progress)
        from skillyard.engine.index.library import (
            memory_library,
        )

        memory = memory_library(skills, include_conventions=self.include_conventions)
        return BoundHybrid(self, memory, progress)


HYBRID = Hybrid()


def _ranks(totals: Mapping[int, float]) -> dict[int, int]:
    """Return, by ordinal, how many candidates have more points."""
    descending = sorted(totals.values(), reverse=True)
    first = {total: place for place, total in reversed([*enumerate(descending)])}
    return {ordinal: first[total] for ordinal, total in totals.items()}


class BoundHybrid:
    """``hybrid`` over one library. Immutable and thread-safe."""

    def __init__(
        self,
        scorer: Hybrid,
        library: Library,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self.scorer = scorer
        self.library = library
        self.vocabulary = Vocabulary(library.searcher, library.table)
        self.dense: DenseIndex | None = None
        self._patterns: PatternIndex | None = None  # made for the first query that names files
        if scorer.embedder is not None:
            from skillyard.engine.ranking.hybrid.dense_index import DenseIndex

            self.dense = DenseIndex(scorer.embedder, library, progress)

    def has_skills_of(self, scorer: Hybrid) -> bool:
        """Return True when the other scorer ranks the same skills."""
        return self.scorer.include_conventions == scorer.include_conventions

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills of the library, in catalog order."""
        return self.library.skills

    def prepare(self, query: Query) -> ScoredHybrid:
        """Retrieve and score the candidates of the query.

        "Write the offer, no cover letter" and "publish it, no server" have the same words for what
        the task is not, and for what it is about. So both readings are ranked, and the strict one
        counts where it finds another skill that may fit.
        """
        library, fusion = self.library, self.scorer.fusion
        judged: dict[int, float] = {}
        if query.feedback:
            from skillyard.engine.ranking.hybrid.user_feedback import feedback_by_ordinal

            judged = feedback_by_ordinal(query, library)
        files = self._files(query) if query.files else {}
        asides_of = None if self.dense is None else self.dense.asides
        first: ScoredHybrid | None = None
        while True:
            analysed = analyse_query(query, self.vocabulary, asides_of, is_strict=first is not None)
            candidates = retrieve(query, analysed, library, fusion, files, judged, self.dense)
            totals = fuse_totals(candidates, fusion)
            candidates = look_again(
                totals, candidates, analysed, library.searcher, fusion, self.scorer.embedder
            )
            scored = ScoredHybrid(self, query, analysed, candidates, totals)
            if first is not None:
                may_fit = scored.best is not None and probability(scored.log_odds) >= MAYBE
                return scored if may_fit and scored.best != first.best else first
            if not analysed.is_ambiguous:
                return scored
            first = scored

    def _files(self, query: Query) -> dict[int, float]:
        """Return, by ordinal, the weight of the best pattern that matches a file of the query."""
        patterns = self.library.patterns()
        if not patterns:
            return {}
        if self._patterns is None:
            from skillyard.engine.ranking.confidence.patterns import PatternIndex

            self._patterns = PatternIndex((str(o), globs) for o, globs in patterns.items())
        matches = self._patterns.match(query.files)
        weights = ((o, matches.best_weight(at)) for at, o in enumerate(patterns))
        return {ordinal: weight for ordinal, weight in weights if weight}


class ScoredHybrid(Scored):
    """The ``hybrid`` scores of one query."""

    exhaustive = True
    is_preordered = True
    considered = 0
    blank = False

    def __init__(
        self,
        bound: BoundHybrid,
        query: Query,
        analysed: AnalysedQuery,
        candidates: CandidateSet,
        totals: dict[int, float],
    ) -> None:
        self.bound = bound
        self.query = query
        self.analysed = analysed
        self.candidates = candidates
        self.totals = totals
        """The points of each candidate by ordinal."""
        self.blank = not analysed.terms and not query.files
        self.sets_aside = bool(analysed.excluded)
        self.considered = bound.library.searcher.size
        """All skills of the index."""

    @cached_property
    def best(self) -> int | None:
        """The ordinal of the best candidate by points; ties by BM25F score, cosine, tie key."""
        searcher, candidates = self.bound.library.searcher, self.candidates
        most = max(self.totals.values(), default=0.0)
        tied = [ordinal for ordinal, total in self.totals.items() if total == most]
        if len(tied) == 1:
            return tied[0]
        return min(
            tied,
            key=lambda o: (
                -candidates.word_scores.get(o, 0.0),
                -candidates.cosines[o],
                tie_key(searcher.key(o)),
            ),
            default=None,
        )

    @cached_property
    def features(self) -> Features | None:
        """The calibration's features of the best skill; None without candidates."""
        if self.best is None:
            return None
        library, evidence = self.bound.library, self._evidence(self.best)
        return skill_features(
            self.best, evidence, self.candidates, self.analysed, library.searcher, library.table
        )

    @property
    def margin(self) -> float:
        """The points of the best candidate above the next; 1.0 without another."""
        most, *others = sorted(self.totals.values(), reverse=True)
        return most - others[0] if others else 1.0

    @cached_property
    def query_features(self) -> QueryFeatures:
        """The calibration's features of the request and the library."""
        return query_features(self.analysed, self.bound.library.searcher)

    @cached_property
    def _top(self) -> tuple[float, float, float]:
        """(points, log-odds) of the best skill, and the log-odds lost per point behind it."""
        calibration = self.bound.scorer.calibration
        if self.best is None or self.features is None:
            return 0.0, 0.0, calibration.gap
        log_odds = best_log_odds(
            self.features,
            self.query_features,
            self._evidence(self.best),
            calibration,
            blank=not self.analysed.terms,
            is_small_talk=self.analysed.is_small_talk or self.candidates.talk >= SMALL_TALK,
            is_for_skills=self.analysed.mentions.is_work and self._best_has([SKILL]),
            is_plain_name=not self.features.rest and self.is_plain_name,
            adjust=self.adjust_log_odds if self.candidates.embedder_cosines else None,
        )
        return self.totals[self.best], log_odds, log_odds_slope(log_odds, calibration)

    @property
    def is_plain_name(self) -> bool:
        """True when the request writes no word of the best skill's name as a name."""
        return not self.analysed.mentions.is_work and not self._best_has(self.analysed.named)

    def _best_has(self, terms: Iterable[str]) -> bool:
        """Return True when the name of the best skill has one of the terms."""
        names = [NAME_TERM + term for term in terms]
        return self.best is not None and any(self.bound.library.searcher.impacts(self.best, names))

    def adjust_log_odds(self, log_odds: float) -> float:
        """Return the log-odds of the features after those of a calibrated embedder's cosines."""
        embedder, cosines = self.bound.scorer.embedder, self.candidates.embedder_cosines
        if not cosines or embedder is None or self.best is None or self.features is None:
            return log_odds
        from skillyard.engine.embedding.protocol import calibration_of

        calibration = calibration_of(embedder)
        if calibration is None:
            return log_odds
        return adjust_by_cosine(
            log_odds,
            self.best,
            cosines,
            self.features,
            self.query_features,
            calibration,
            self.candidates.background,
            margin=self.margin,
        )

    @cached_property
    def left_to_user(self) -> Skill | None:
        """The hidden skill that would be chosen if every skill could be; only with an embedder.

        Without it, a request for a skill that only its user calls would get the next best one. By
        words alone it would be found too often: "unit tests for the bulk delete".
        """
        bound, candidates = self.bound, self.candidates
        if not candidates.embedder_cosines or self.query.include_tags:
            return None
        library, fusion = bound.library, bound.scorer.fusion
        hidden = [o for o in library.hidden_ordinals() if o not in candidates.cosines]
        if not hidden:
            return None
        own = self._evidence_outside(hidden)
        meaning = {ordinal: each.meaning for ordinal, each in own.items()}
        embedded = {ordinal: each.embedded for ordinal, each in own.items()}
        everyone = candidates._replace(
            word_scores={**candidates.word_scores, **{o: each.words for o, each in own.items()}},
            cosines={**candidates.cosines, **meaning},
            query_cosines={**candidates.query_cosines, **meaning},
            embedder_cosines={**candidates.embedder_cosines, **embedded},
        )
        totals = fuse_totals(everyone, fusion)
        look_again(totals, everyone, self.analysed, library.searcher, fusion, bound.scorer.embedder)
        scored = ScoredHybrid(bound, self.query, self.analysed, everyone, totals)
        if scored.best not in own or probability(scored.log_odds) < FLOOR:
            return None
        skill = library.skill(scored.best)
        is_excluded = self.analysed.excluded.issuperset(name_terms(skill.name))
        return skill if skill.user_invocable and not is_excluded else None

    @property
    def best_feedback(self) -> float:
        """The user's feedback on the best skill, -1..1."""
        return 0.0 if self.best is None else self._evidence(self.best).feedback

    @property
    def log_odds(self) -> float:
        """The log-odds that the best skill fits; 0.0 without candidates."""
        return self._top[1]

    def score_of(self, total: float) -> float:
        """Return the probability of a skill with that many points; 0.0 for none."""
        if total <= 0:
            return 0.0
        best, log_odds, gap = self._top
        if total >= best:  # a skill outside the candidate set may have more
            return probability(log_odds)
        return probability(log_odds - gap * (best - total))

    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the candidates with positive points, best first. Skills are loaded on access.

        Equal scores are ordered by name and path. A query with tags only returns all skills that
        have the tags, with a score of 0.
        """
        scored = probabilities(self.totals.items(), *self._top)  # equals score_of() for each
        if self.blank:
            scored += [(o, 0.0) for o, total in self.totals.items() if total <= 0]
        return OrderedScores(scored, self.bound.library.skill)

    def signals(self, skill: Skill) -> Mapping[str, float]:
        """Return the non-zero points by kind of evidence."""
        evidence = self.evidence_of(skill)[1]
        points = fuse(evidence, self.candidates, self.bound.scorer.fusion)
        return {name: value for name, value in points._asdict().items() if value}

    def reason(self, skill: Skill) -> str:
        """Return the reason in one line: matched words, phrases, meaning, embedder, files."""
        ordinal, evidence = self.evidence_of(skill)
        if ordinal < 0:
            return ""
        terms, spelled = self.analysed.terms, written_forms(self.analysed.wanted)
        impacts = self.bound.library.searcher.impacts(ordinal, [term.text for term in terms])
        hits = [
            (term.weight * impact, term.text)
            for term, impact in zip(terms, impacts, strict=True)
            if impact
        ]
        hits.sort(key=lambda hit: (-hit[0], hit[1]))
        if any(text not in spelled for _, text in hits):
            spelled = forms_in(self.analysed, skill)
        parts = []
        if hits:
            more = f" and {len(hits) - MAX_NAMED_TERMS} more" if len(hits) > MAX_NAMED_TERMS else ""
            words = ", ".join(spelled.get(text, text) for _, text in hits[:MAX_NAMED_TERMS])
            parts.append(f"words: {words}{more}")
        if evidence.forbidden:
            parts.append(evidence.forbidden)
        if evidence.called:
            parts.append("called by name")
        quoted = (evidence.quoted.words,) if evidence.quoted.words else ()
        if phrases := dict.fromkeys((*evidence.phrases, *quoted)):
            parts.append("phrase: " + ", ".join(phrases))
        if evidence.meaning >= MIN_NAMED_COSINE:
            parts.append(f"meaning: {evidence.meaning:.2f}")
        if evidence.embedded >= MIN_NAMED_COSINE and ordinal in self._lifted_by_embedder:
            name = self.bound.scorer.name.partition("+")[2] or "embedder"
            parts.append(f"meaning by {name}: {evidence.embedded:.2f}")
        if evidence.files:
            parts.append("files: a pattern matches")
        if evidence.feedback:
            word = "right" if evidence.feedback > 0 else "wrong"
            parts.append(f"feedback: {word} for a similar request")
        return " | ".join(parts)

    @cached_property
    def _lifted_by_embedder(self) -> frozenset[int]:
        """The ordinals that would rank lower without the embedder, or would have no points."""
        candidates, fusion = self.candidates, self.bound.scorer.fusion
        if not candidates.embedder_cosines:
            return frozenset()
        totals, searcher = self.totals, self.bound.library.searcher
        plain = candidates._replace(embedder_cosines={}, coverage={}, order={})
        without = fuse_totals(plain, fusion)
        look_again(without, plain, self.analysed, searcher, fusion, None)
        rank, rank_without = _ranks(totals), _ranks(without)
        return frozenset(
            ordinal
            for ordinal, total in totals.items()
            if total > 0 and (without[ordinal] <= 0 or rank_without[ordinal] > rank[ordinal])
        )

    def explain(self, skill: Skill) -> Explanation:
        """Return the explanation tree: probability, points, terms and fields."""
        from skillyard.engine.ranking.hybrid.explanation import explain

        side = self._side(skill)
        return explain(self._explained, side, self.score_of(side.own.total))

    def what_decided(self, ahead: Skill, other: Skill) -> str:
        """Return the evidence that puts the first skill ahead most."""
        from skillyard.engine.ranking.hybrid.explanation import what_decided

        return what_decided(self._explained, self._side(ahead), self._side(other))

    def what_lacks(self, skill: Skill) -> str:
        """Return the words of the request that the skill lacks, and its phrases not in it."""
        from skillyard.engine.ranking.hybrid.explanation import what_lacks

        return what_lacks(self._explained, self._side(skill), self.query.text)

    def _side(self, skill: Skill) -> Side:
        from skillyard.engine.ranking.hybrid.explanation import Side

        ordinal, evidence = self.evidence_of(skill)
        own = fuse(evidence, self.candidates, self.bound.scorer.fusion)
        return Side(skill, ordinal, evidence, own)

    @cached_property
    def _explained(self) -> ExplainedQuery:
        from skillyard.engine.ranking.hybrid.explanation import ExplainedQuery

        dense, scorer = self.bound.dense, self.bound.scorer
        return ExplainedQuery(
            self.bound.library,
            scorer.calibration,
            scorer.fusion,
            scorer.embedder,
            "" if dense is None else dense.embedder.id,
            self.analysed,
            self.candidates,
            self.totals,
            self.best,
            self.features,
            self.query_features,
            self.adjust_log_odds,
            self.is_plain_name,
            self.best_feedback,
            self.log_odds,
        )

    def _evidence(self, ordinal: int) -> Evidence:
        """Return the evidence of a candidate; an unranked one gets its BM25F score for display."""
        words = self.candidates.word_scores.get(ordinal)
        if words is None:
            searcher = self.bound.library.searcher
            (words,) = searcher.exact_scores(self.analysed.weights, [ordinal])
        return self.candidates.evidence(ordinal, words)

    def evidence_of(self, skill: Skill) -> tuple[int, Evidence]:
        """Return (ordinal, evidence) of any skill of the library; the ordinal is -1 for others."""
        ordinal = self.bound.library.ordinal(skill)
        if ordinal is None:
            return -1, Evidence()
        if ordinal in self.candidates.cosines:
            return ordinal, self._evidence(ordinal)
        return ordinal, self._evidence_outside([ordinal])[ordinal]

    def _evidence_outside(self, ordinals: Sequence[int]) -> dict[int, Evidence]:
        """Return words, meaning and cosine of skills that are no candidates, by ordinal."""
        searcher, candidates, dense = self.bound.library.searcher, self.candidates, self.bound.dense
        words = searcher.exact_scores(self.analysed.weights, ordinals)
        feedback = candidates.feedback
        vector = self.analysed.vector if feedback is None else feedback.direction
        near = searcher.dots(vector, ordinals) if vector else [0] * len(ordinals)
        cosines = {} if dense is None else dense.cosines(candidates.embedded_query, ordinals)
        return {
            ordinal: Evidence(score, dot / UNIT_DOT, embedded=cosines.get(ordinal, 0.0))
            for ordinal, score, dot in zip(ordinals, words, near, strict=True)
        }
