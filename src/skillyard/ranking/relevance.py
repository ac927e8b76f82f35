"""The ``relevance`` scorer: content, references, query match, popularity, curation (Skyll).

Source: the Skyll ranking document; open points as spec/skyll.md §2.1 reads them. The sum is not
capped; skills without content come in a second tier, whatever their points.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

from skillyard.ranking.overlap import tokens
from skillyard.ranking.query import Query
from skillyard.ranking.scorer import DefaultPolicy, Explanation, Scored
from skillyard.skill import Skill
from skillyard.text import stream_safe

__all__ = ["RELEVANCE", "Relevance", "terms"]

CONTENT_POINTS = 40.0
REFERENCES_POINTS = 15.0
MATCH_POINTS = 30.0
POPULARITY_POINTS = 15.0
POPULARITY_DECADES = 4.0
"""Full popularity at 10**4 installs."""
CURATED_POINTS = 8.0
"""The formula and both tables say 8; one heading says "up to 10"."""
BODY_CHARS = 2_000
MIN_PREFIX = 4
"""A query term of this many letters also matches the words that it begins."""

EXACT_ID = 1.0
ALL_IN_ID = 0.9
ID_IN_QUERY = 0.85
ALL_IN_TITLE = 0.8
ALL_IN_ID_OR_TITLE = 0.75
ALL_IN_DESCRIPTION = 0.7
PART_IN_ID_OR_TITLE = 0.5
PART_IN_DESCRIPTION = 0.35
PART_IN_BODY = 0.15

# Scripts written without blanks: kana, Han, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_SPACED_WORD = re.compile(r"[^\W_]+")
_FIRST_UNSPACED = "\u0e00"
_BREAKS = re.compile(r"[\s\-_/]+")


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", stream_safe(text)).casefold()
    return unicodedata.normalize("NFKC", folded)


def terms(text: str) -> list[str]:
    """Return the words, folded, in order: letters and digits; unspaced scripts as pairs."""
    if text.isascii():
        return tokens(text)
    folded = _fold(text)
    if _IS_UNSPACED.search(folded) is None:
        return _SPACED_WORD.findall(folded)
    words: list[str] = []
    for run in _WORD.findall(folded):
        if run[0] < _FIRST_UNSPACED or not _is_unspaced(run[0]) or len(run) <= 2:
            words.append(run)
        else:
            words.extend(run[start : start + 2] for start in range(len(run) - 1))
    return words


_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def _is_unspaced(char: str) -> bool:
    return _IS_UNSPACED.fullmatch(char) is not None


def _plain_id(text: str) -> str:
    return _BREAKS.sub(" ", _fold(text)).strip()


class _Vocabulary:
    """The words of all fields: by stem, and in order for prefixes."""

    __slots__ = ("_by_stem", "_ordered", "_stem")

    def __init__(self, words: Iterable[str]) -> None:
        import Stemmer  # here, because only this scorer and confidence stem

        self._stem = Stemmer.Stemmer("english").stemWord
        self._ordered = sorted(set(words))
        self._by_stem: dict[str, list[str]] = {}
        for word in self._ordered:
            self._by_stem.setdefault(self._stem(word), []).append(word)

    def matching(self, term: str) -> list[str]:
        """Return the words that are the term: equal stems, or begun by it (4+ letters)."""
        found = dict.fromkeys(self._by_stem.get(self._stem(term), ()))
        if len(term) >= MIN_PREFIX:
            position = bisect_left(self._ordered, term)
            while position < len(self._ordered) and self._ordered[position].startswith(term):
                found[self._ordered[position]] = None
                position += 1
        return list(found)


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
    # No floor in the document; 2 points are the margin of our own menu.
    default_policy = DefaultPolicy(
        0.0, 10, 2.0, "content first, query match, installs, curated, source, id, name, path"
    )

    def bind(self, skills: Iterable[Skill]) -> BoundRelevance:
        """Invert id, title, description and the first 2,000 characters of the body."""
        return BoundRelevance(self, tuple(skills))

    def popularity(self, install_count: int) -> float:
        """Return the popularity points of an install count (logarithmic, full at 10,000)."""
        share = min(log10(max(0, install_count) + 1) / POPULARITY_DECADES, 1.0)
        return share * self.popularity_points


class _Facts(NamedTuple):
    """What does not depend on the query, for one skill."""

    content: float
    has_references: bool
    popularity: float
    curated: bool
    id_words: tuple[str, ...]
    plain_id: str


_FIELDS = ("id", "title", "description", "body")


class BoundRelevance:
    """Relevance over one snapshot."""

    def __init__(self, scorer: Relevance, skills: tuple[Skill, ...]) -> None:
        self.scorer = scorer
        self.skills: Sequence[Skill] = skills
        self.position = {skill: number for number, skill in enumerate(skills)}
        self.facts: list[_Facts] = []
        self.postings: dict[str, dict[str, list[int]]] = {field: {} for field in _FIELDS}
        for number, skill in enumerate(skills):
            self._add(number, skill)
        words = {word for field in _FIELDS for word in self.postings[field]}
        self.vocabulary = _Vocabulary(words)

    def _add(self, number: int, skill: Skill) -> None:
        slug = skill.slug or skill.name
        body = skill.body or ""
        id_words = tuple(dict.fromkeys(terms(slug)))
        fields = {
            "id": id_words,
            "title": dict.fromkeys(terms(skill.title if skill.title is not None else skill.name)),
            "description": dict.fromkeys(terms(skill.description)),
            "body": dict.fromkeys(terms(body[:BODY_CHARS])),
        }
        for field, words in fields.items():
            postings = self.postings[field]
            for word in words:
                row = postings.get(word)
                if row is None:
                    postings[word] = [number]
                else:
                    row.append(number)
        self.facts.append(
            _Facts(
                self.scorer.content_points if body.strip() else 0.0,
                bool(skill.references),
                self.scorer.popularity(skill.install_count),
                skill.curated,
                id_words,
                _plain_id(slug),
            )
        )

    def prepare(self, query: Query) -> ScoredRelevance:
        """Find the query's terms in the fields."""
        return ScoredRelevance(self, query)


class _Hits(NamedTuple):
    """How many query terms each skill holds, by field; lists indexed by skill number."""

    id: list[int]
    title: list[int]
    id_or_title: list[int]
    description: list[int]
    body: list[int]


class ScoredRelevance(Scored):
    """The relevance scores of one query. Every skill has one."""

    tiered = True

    def __init__(self, bound: BoundRelevance, query: Query) -> None:
        self._bound = bound
        self._with_references = query.include_references
        self._terms = list(dict.fromkeys(terms(query.text)))
        self._plain = _plain_id(query.text) if self._terms else ""
        matching = {term: bound.vocabulary.matching(term) for term in self._terms}
        self._matched_words = {word for words in matching.values() for word in words}
        self._touched: set[int] = set()
        self._hits = self._count(matching)
        self._match = self._best_matches()

    def _count(self, matching: dict[str, list[str]]) -> _Hits:
        size = len(self._bound.skills)
        hits = _Hits(*([0] * size for _ in range(5)))
        postings = self._bound.postings
        for words in matching.values():
            in_id = _union(postings["id"], words)
            in_title = _union(postings["title"], words)
            either = in_id if in_id == in_title else {*in_id, *in_title}
            described = _union(postings["description"], words)
            body = _union(postings["body"], words)
            for counts, numbers in (
                (hits.id, in_id),
                (hits.title, in_title),
                (hits.id_or_title, either),
                (hits.description, described),
                (hits.body, body),
            ):
                for number in numbers:
                    counts[number] += 1
            self._touched.update(either, described, body)
        return hits

    def _best_matches(self) -> dict[int, float]:
        """Return the best rule of every skill that holds a query term or is the query."""
        best = {number: max(self._rules(number).values()) for number in self._touched}
        return {number: value for number, value in best.items() if value}

    def _rules(self, number: int) -> dict[str, float]:
        """Return each rule that applies to a skill, with its value in 0 to 1."""
        n, hits, facts = len(self._terms), self._hits, self._bound.facts[number]
        if not n:
            return {"no match": 0.0}
        rules: dict[str, float] = {}
        in_id, either = hits.id[number], hits.id_or_title[number]
        if in_id:
            if facts.plain_id == self._plain:
                rules["query is the id"] = EXACT_ID
            if in_id == n:
                rules["every term in the id"] = ALL_IN_ID
            if self._matched_words.issuperset(facts.id_words):
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
        wanted = self._with_references and facts.has_references
        return (
            facts.content,
            scorer.references_points if wanted else 0.0,
            scorer.match_points * match,
            facts.popularity,
            scorer.curated_points * match if facts.curated else 0.0,
        )

    @property
    def blank(self) -> bool:
        """True for a query without a term."""
        return not self._terms

    def scores(self) -> list[tuple[Skill, float]]:
        """Return every skill with its points: the document drops none."""
        scorer, match = self._bound.scorer, self._match
        references = scorer.references_points if self._with_references else 0.0
        pairs = []
        for number, (skill, facts) in enumerate(
            zip(self._bound.skills, self._bound.facts, strict=True)
        ):
            best = match.get(number, 0.0)
            score = facts.content + (references if facts.has_references else 0.0)
            score = score + scorer.match_points * best + facts.popularity
            if facts.curated:
                score += scorer.curated_points * best
            pairs.append((skill, score))
        return pairs

    def tier(self, skill: Skill) -> int:
        """Skills without content come last, never dropped."""
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
        """Return the five signals in points; the match holds the rules that apply."""
        number = self._bound.position[skill]
        content, references, match, popularity, curated = self._signals(number)
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
        total = content + references + match + popularity + curated
        return Explanation("relevance", total, parts)


def _union(postings: dict[str, list[int]], words: list[str]) -> Iterable[int]:
    """Return the skills that hold one of the words, each once."""
    rows = [row for word in words if (row := postings.get(word))]
    if len(rows) == 1:
        return rows[0]
    return set().union(*rows) if rows else []


RELEVANCE = Relevance()
