"""The ``relevance`` scorer: content, references, query match, popularity, curation (Skyll).

Source: the Skyll ranking document; open points are read as in spec/skyll.md §2.1. The sum is not
capped. Skills without content are in a second tier, regardless of their points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

from skillyard.base.sums import stable_sum
from skillyard.engine.ranking.field_hits import FieldHits, InvertedFields, plain_id, terms
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Scored
from skillyard.engine.skill import Skill

CONTENT_POINTS = 40.0
REFERENCES_POINTS = 15.0
MATCH_POINTS = 30.0
POPULARITY_POINTS = 15.0
POPULARITY_DECADES = 4.0
"""Full popularity at 10**4 installs."""
CURATED_POINTS = 8.0
"""The formula and both tables say 8; one heading says "up to 10"."""

EXACT_ID = 1.0
ALL_IN_ID = 0.9
ID_IN_QUERY = 0.85
ALL_IN_TITLE = 0.8
ALL_IN_ID_OR_TITLE = 0.75
ALL_IN_DESCRIPTION = 0.7
PART_IN_ID_OR_TITLE = 0.5
PART_IN_DESCRIPTION = 0.35
PART_IN_BODY = 0.15


@dataclass(frozen=True, slots=True)
class Relevance:
    """Skyll's relevance: 0 to 100 points, and up to 8 for curated skills."""

    content_points: float = CONTENT_POINTS
    references_points: float = REFERENCES_POINTS
    match_points: float = MATCH_POINTS
    popularity_points: float = POPULARITY_POINTS
    curated_points: float = CURATED_POINTS

    name = "relevance"
    scale = "points"
    levels = ()
    # The document has no floor. 2 points are the margin of the menu of ``select``.
    default_policy = DefaultPolicy(
        0.0, 10, 2.0, "content first, query match, installs, curated, source, id, name, path"
    )

    def bind(self, skills: Iterable[Skill]) -> BoundRelevance:
        """Read id, title, description and the first 2,000 characters of the body."""
        return BoundRelevance(self, tuple(skills))

    def popularity(self, install_count: int) -> float:
        """Return the popularity points of an install count (logarithmic, full at 10,000)."""
        share = min(log10(max(0, install_count) + 1) / POPULARITY_DECADES, 1.0)
        return share * self.popularity_points


class _StaticSignals(NamedTuple):
    """The signals of one skill that do not depend on the query."""

    content: float
    has_references: bool
    popularity: float
    curated: bool


class BoundRelevance:
    """Relevance over one snapshot."""

    def __init__(self, scorer: Relevance, skills: tuple[Skill, ...]) -> None:
        self.scorer = scorer
        self.skills: Sequence[Skill] = skills
        self.position = {skill: number for number, skill in enumerate(skills)}
        self.facts = [self._facts(skill) for skill in skills]
        self.words = InvertedFields(skills)

    def _facts(self, skill: Skill) -> _StaticSignals:
        body = skill.body
        return _StaticSignals(
            self.scorer.content_points if body and not body.isspace() else 0.0,
            bool(skill.references),
            self.scorer.popularity(skill.install_count),
            skill.curated,
        )

    def prepare(self, query: Query) -> ScoredRelevance:
        """Find the query's terms in the fields."""
        return ScoredRelevance(self, query)


class ScoredRelevance(Scored):
    """The relevance scores of one query. Every skill has one."""

    tiered = True

    def __init__(self, bound: BoundRelevance, query: Query) -> None:
        self._bound = bound
        self._with_references = query.include_references
        self._terms = list(dict.fromkeys(terms(query.text)))
        self.blank = not self._terms
        self._plain = plain_id(query.text) if self._terms else ""
        self._hits: FieldHits = bound.words.hits(self._terms)
        self._match = self._best_matches()

    def _best_matches(self) -> dict[int, float]:
        """Return the best rule of each skill that contains a query term or equals the query."""
        best = {number: max(self._rules(number).values()) for number in self._hits.touched}
        return {number: value for number, value in best.items() if value}

    def _rules(self, number: int) -> dict[str, float]:
        """Return the value in 0..1 of each rule that applies to a skill."""
        n, hits, words = len(self._terms), self._hits, self._bound.words
        if not n:
            return {"no match": 0.0}
        rules: dict[str, float] = {}
        in_id, either = hits.id[number], hits.id_or_title[number]
        if in_id:
            if words.plain_id(number) == self._plain:
                rules["query is the id"] = EXACT_ID
            if in_id == n:
                rules["every term in the id"] = ALL_IN_ID
            if hits.matched.issuperset(words.id_words(number)):
                rules["every id term in the query"] = ID_IN_QUERY
        if hits.title[number] == n:
            rules["every term in the title"] = ALL_IN_TITLE
        if either == n:
            rules["every term in id or title"] = ALL_IN_ID_OR_TITLE
        elif either:
            rules[f"{either} of {n} terms in id or title"] = PART_IN_ID_OR_TITLE * either / n
        described = hits.description[number]
        if described == n:
            rules["every term in the description"] = ALL_IN_DESCRIPTION
        elif described:
            label = f"{described} of {n} terms in the description"
            rules[label] = PART_IN_DESCRIPTION * described / n
        if hits.body[number]:
            label = f"{hits.body[number]} of {n} terms in the body"
            rules[label] = PART_IN_BODY * hits.body[number] / n
        return rules or {"no match": 0.0}

    def _signals(self, number: int) -> tuple[float, float, float, float, float]:
        scorer, facts = self._bound.scorer, self._bound.facts[number]
        match = self._match.get(number, 0.0)
        counts_references = self._with_references and facts.has_references
        return (
            facts.content,
            scorer.references_points if counts_references else 0.0,
            scorer.match_points * match,
            facts.popularity,
            scorer.curated_points * match if facts.curated else 0.0,
        )

    def scores(self) -> list[tuple[Skill, float]]:
        """Return every skill with its points; the document drops none."""
        skills = enumerate(self._bound.skills)
        return [(skill, stable_sum(self._signals(number))) for number, skill in skills]

    def tier(self, skill: Skill) -> int:
        """1 for skills without content, which come last; 0 for others."""
        return 0 if self._bound.facts[self._bound.position[skill]].content else 1

    def tie_break(self, skill: Skill) -> tuple[Any, ...]:
        """Better match, more installs, curated, then source and id."""
        number = self._bound.position[skill]
        return (
            -self._match.get(number, 0.0),
            -skill.install_count,
            not skill.curated,
            skill.source or "",
            skill.slug or "",
        )

    def explain(self, skill: Skill) -> Explanation:
        """Return the five signals in points; the match contains the rules that apply."""
        number = self._bound.position[skill]
        signals = self._signals(number)
        content, references, match, popularity, curated = signals
        points = self._bound.scorer.match_points
        rules = sorted(self._rules(number).items(), key=lambda rule: -rule[1])
        details = tuple(Explanation(label, points * value, (), "leaf") for label, value in rules)
        parts = (
            Explanation("content", content, (), "leaf", "" if content else "no content"),
            Explanation("references", references, (), "leaf"),
            Explanation("query_match", match, details, "max", rules[0][0]),
            Explanation(
                "popularity", popularity, (), "leaf", f"{max(0, skill.install_count):,} installs"
            ),
            Explanation("curated_boost", curated, (), "leaf", "curated" if skill.curated else ""),
        )
        return Explanation("relevance", stable_sum(signals), parts)


RELEVANCE = Relevance()
