"""The keyword signal: which skills have words of a text in their metadata, weighted by rarity.

Sources: "Skill Evaluation System", "Keyword Detector" (sources and their weights, TF-IDF), and the
ruling on the formula that the document leaves open:

    TF  = 1 + ln(times the term is in the text)
    IDF = (ln((N+1) / (df+1)) + 1) / (ln((N+1) / 2) + 1)            1 for a term of one skill
    S   = Σ source weight · IDF² · TF  /  (1 + 0.5 · ln(T/8) where T > 8 distinct terms)
    K   = S / (S + 0.4)

Each term counts once per skill, from the best source that holds it, so more matching metadata
never lowers K. (N and df are fixed by the snapshot; one more match only adds to S.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.base.text import stream_safe
from skillyard.engine.analysis.analyzer import stem_word
from skillyard.engine.ranking.confidence.records import (
    Candidates,
    KeywordMatch,
    MatchedKeyword,
    as_skills,
)
from skillyard.engine.skill import Skill

# The document's table "Match Source Weights", best first. Reasons use the same order.
SOURCES = (("name", 0.40), ("keywords", 0.35), ("tags", 0.25), ("description", 0.15))

SATURATION = 0.4
"""S at which K is one half. 0.3 to 0.5 all keep the documented properties."""
LENGTH_FREE = 8
LENGTH_DAMPING = 0.5
"""Texts of more than LENGTH_FREE distinct terms are damped slowly: they match more skills."""


def keyword_score(evidence: float) -> float:
    """Return K for the summed evidence S; 0 to below 1."""
    return evidence / (evidence + SATURATION)


class PromptTerm(NamedTuple):
    """One distinct term of a text."""

    stem: str
    surface: str
    """The first form of the term in the text."""
    times: int


class KeywordText(NamedTuple):
    """A text as distinct terms in the order of their first appearance."""

    terms: tuple[PromptTerm, ...]
    damping: float
    """The divisor of S."""


def read_prompt(text: str, short_terms: frozenset[str] = frozenset()) -> KeywordText:
    """Return the distinct terms of a text with their counts."""
    surfaces: dict[str, str] = {}
    counts: dict[str, int] = {}
    parts: set[str] = set()
    for term in terms(text, short_terms):
        surfaces.setdefault(term.stem, term.surface)
        counts[term.stem] = counts.get(term.stem, 0) + 1
        if not term.whole:
            parts.add(term.stem)
    distinct = tuple(PromptTerm(stem, surfaces[stem], count) for stem, count in counts.items())
    # The unsplit form of a split word repeats the same word and does not make the text longer.
    longer = max(1.0, len(parts) / LENGTH_FREE)
    return KeywordText(distinct, 1.0 + LENGTH_DAMPING * log(longer))


class KeywordHit(NamedTuple):
    """One term of the text in one skill."""

    term: PromptTerm
    source: str
    source_weight: float
    rarity: float
    """IDF, 0..1."""
    added: float
    """The term's contribution to S."""

    @property
    def weight(self) -> float:
        """The source weight times the squared rarity."""
        return self.source_weight * self.rarity * self.rarity


class KeywordIndex:
    """An inverted index of skills' metadata terms, each with its best source.

    N and df are those of ``statistics``, or of this index when it is None.
    """

    def __init__(
        self,
        skills: Sequence[Skill],
        short_terms: frozenset[str] = frozenset(),
        statistics: KeywordIndex | None = None,
    ) -> None:
        self.skills = skills
        self.short_terms = short_terms
        self.statistics = statistics or self
        self._postings: dict[str, tuple[list[int], ...]] = {}
        postings = self._postings
        for position, skill in enumerate(skills):
            for stem, source in _best_sources(skill, short_terms).items():
                if stem not in postings:
                    postings[stem] = tuple([] for _ in SOURCES)
                postings[stem][source].append(position)

    def rarity(self, stem: str) -> float:
        """Return the IDF of a stem, 0..1; 1 for a stem of a single skill."""
        statistics = self.statistics
        rows = statistics._postings.get(stem, ())
        holders = max(1, sum(len(row) for row in rows))
        top = len(statistics.skills) + 1
        return (log(top / (holders + 1)) + 1.0) / (log(max(1.0, top / 2)) + 1.0)

    def evidence(self, prompt: KeywordText) -> list[float]:
        """Return S for every skill by position, 0.0 where nothing matches."""
        totals = [0.0] * len(self.skills)
        for term in prompt.terms:
            rows = self._postings.get(term.stem, ())
            contributions = self._contributions(term, prompt)
            for row, amount in zip(rows, contributions, strict=False):
                for position in row:
                    totals[position] += amount
        return totals

    def _contributions(self, term: PromptTerm, prompt: KeywordText) -> list[float]:
        """Return the contribution of one term of the text to S, by source."""
        rarity = self.rarity(term.stem)
        frequency = 1.0 + log(term.times)
        return [weight * rarity * rarity * frequency / prompt.damping for _, weight in SOURCES]

    def hits(self, position: int, prompt: KeywordText) -> list[KeywordHit]:
        """Return the terms that one skill shares with the text, in the order of the text."""
        sources = _best_sources(self.skills[position], self.short_terms)
        hits: list[KeywordHit] = []
        for term in prompt.terms:
            number = sources.get(term.stem)
            if number is not None:
                contribution = self._contributions(term, prompt)[number]
                hits.append(
                    KeywordHit(term, *SOURCES[number], self.rarity(term.stem), contribution)
                )
        return hits

    def holders(self, stem: str) -> set[int]:
        """Return the skills that have the stem in their name, keywords or tags."""
        return {position for row in self._postings.get(stem, ())[:-1] for position in row}


def _best_sources(skill: Skill, short_terms: frozenset[str]) -> dict[str, int]:
    """Return each stem of a skill's metadata with the number of its best source."""
    best: dict[str, int] = {}
    keywords = (*skill.keywords, *skill.triggers.keywords)
    texts = (skill.name, "\n".join(keywords), "\n".join(skill.tags), skill.description)
    for number, text in enumerate(texts):
        for term in terms(text, short_terms):
            best.setdefault(term.stem, number)
    return best


def total(hits: Sequence[KeywordHit]) -> float:
    """Return S for one skill, added in the same order as in :meth:`KeywordIndex.evidence`."""
    evidence = 0.0
    for hit in hits:
        evidence += hit.added
    return evidence


def by_source(hits: Sequence[KeywordHit]) -> list[KeywordHit]:
    """Return the hits best source first, then in the order of the text."""
    return sorted(hits, key=lambda hit: -hit.source_weight)


def keyword_match(skill: Skill, hits: Sequence[KeywordHit]) -> KeywordMatch | None:
    """Return the documented record of one skill's hits, best source first; None without hits."""
    if not hits:
        return None
    matched = tuple(
        MatchedKeyword(hit.term.surface, hit.source, hit.weight, hit.term.times)
        for hit in by_source(hits)
    )
    return KeywordMatch(skill.name, keyword_score(total(hits)), matched)


class KeywordDetector:
    """The document's ``KeywordDetector``: finds the skills that have words of a text.

    ``short_terms`` are words of fewer than three characters that count nevertheless (``ui``,
    ``go``).
    """

    def __init__(self, short_terms: Sequence[str] | frozenset[str] = ()) -> None:
        self.short_terms = frozenset(term.lower() for term in short_terms)
        self._index: KeywordIndex | None = None

    @check_arguments
    def build_index(self, catalog: Candidates) -> None:
        """Index the skills whose number and word frequencies determine the rarity of a word."""
        self._index = KeywordIndex(as_skills(catalog), self.short_terms)

    @check_arguments
    def match(self, text: str, catalog: Candidates | None = None) -> list[KeywordMatch]:
        """Return the skills that share a word with the text, best first, then by name.

        ``catalog`` contains the candidates; None means the skills of the index. Without an index
        the candidates are indexed first. Raises InvalidInput when there is neither.
        """
        index = self._index_of(catalog)
        prompt = read_prompt(text, self.short_terms)
        candidates = [
            keyword_match(index.skills[position], index.hits(position, prompt))
            for position, evidence in enumerate(index.evidence(prompt))
            if evidence
        ]
        matches = [match for match in candidates if match is not None]
        return sorted(matches, key=lambda match: (-match.confidence, match.skill_name))

    def _index_of(self, catalog: Candidates | None) -> KeywordIndex:
        if catalog is None:
            if self._index is None:
                raise InvalidInput("catalog: give some, or call build_index first")
            return self._index
        candidates = as_skills(catalog)
        if self._index is not None and self._index.skills == candidates:
            return self._index
        return KeywordIndex(candidates, self.short_terms, self._index)


MIN_CHARS = 3
"""Shorter words are dropped ("Filters stop words and short tokens (<3 chars)")."""

_MAX_CACHED_WORD_CHARS = 64
"""Longer words (keys, hashes) are not cached."""

# Function words, and the words of requests that say nothing about the task.
_STOP_TEXT = (
    "about above after again against all also and another any are because been before being "
    "below between both but can could did does doing done dont down during each few for from "
    "had has have having her here him his how into isnt its itself just more most must nor "
    "not now off once only onto other our out over own same she should some such than that "
    "the their them then there these they this those through too under until very was were "
    "what when where which while who why will with within without wont would yes you your get "
    "getting got make makes making use uses used using need needs want wants help let please "
    "thank thanks hello hey"
)
STOP_WORDS = frozenset(_STOP_TEXT.split())

# Runs of letters and digits; an apostrophe inside a word does not end it. The classes are
# disjoint, so the pattern is linear.
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_APOSTROPHES = str.maketrans("", "", "'\u2019")


class KeywordTerm(NamedTuple):
    """One word of a text."""

    stem: str
    surface: str
    """The word itself, in small letters."""
    whole: bool
    """True for the unsplit form of a word whose parts are also terms."""


def terms(text: str, short_terms: frozenset[str] = frozenset()) -> list[KeywordTerm]:
    """Return the terms of a text in order, with repetitions.

    Stop words, numbers, and words of fewer than three characters that are not in ``short_terms``
    (lower case) are dropped.
    """
    terms_: list[KeywordTerm] = []
    for word in _words(text):
        known = _word_terms if len(word) <= _MAX_CACHED_WORD_CHARS else _word_terms.__wrapped__
        terms_ += known(word, short_terms)
    return terms_


def _words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text)
    text = unicodedata.normalize("NFC", stream_safe(text))
    marks = {char for char in set(text) if unicodedata.category(char).startswith("M")}
    if not marks:
        return _WORD.findall(text)
    # Vowel signs and accents that do not compose belong to the surrounding word.
    word_chars = marks | {"'", "\u2019"}
    return "".join(char if char.isalnum() or char in word_chars else " " for char in text).split()


@lru_cache(maxsize=65_536)
def _word_terms(word: str, short_terms: frozenset[str]) -> tuple[KeywordTerm, ...]:
    word = word.translate(_APOSTROPHES)
    parts = _split_at_capitals(word)
    split = [_term(part, False, short_terms) for part in parts]
    counted = [term for term in split if term is not None]
    if len(parts) > 1:
        whole = _term(word, bool(counted), short_terms)
        counted += [whole] if whole is not None else []
    return tuple(counted)


def _term(word: str, whole: bool, short_terms: frozenset[str]) -> KeywordTerm | None:
    word = word.lower()
    if len(word) < MIN_CHARS and word not in short_terms:
        return None
    if word in STOP_WORDS or word.isnumeric():
        return None
    return KeywordTerm(stem_word(word), word, whole)


def _split_at_capitals(word: str) -> list[str]:
    """Split ``getUserProfile`` and ``HTTPServer`` into their words."""
    if word[1:].islower() or word.isupper() or not word.isalnum():
        return [word]
    starts = [0]
    for at in range(1, len(word)):
        if not word[at].isupper():
            continue
        before, after = word[at - 1], word[at + 1 : at + 2]
        if not before.isupper() or after.islower():
            starts.append(at)
    return [word[start:end] for start, end in zip(starts, [*starts[1:], len(word)], strict=True)]
