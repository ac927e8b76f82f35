"""The ``triggers`` scorer: trigger phrases, name mentions and description words, as in Oasis.

Source: the Oasis document, "Skill Selection"; open points are read as in
spec/adk-and-agentskills.md §3: whole adjacent words; each distinct phrase once; function words of
the request left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Scored
from skillyard.engine.skill import Skill

PHRASE_POINTS = 10.0
"""Oasis: direct trigger phrase hit, +10 each."""
NAME_POINTS = 20.0
"""Oasis: exact skill name mention, +20."""
KEYWORD_POINTS = 1.0
"""Oasis: keyword overlap with description, +1 each."""
THRESHOLD = 10.0
"""Oasis: pick the highest score above threshold (``>=10``)."""

_FUNCTION_WORDS = """
a an and are as at be but by can do for from has have how i if in into is it its me my no not of
on or our please should so than that the their them then there these they this to us use used
using want was we what when where which who will with would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words of a request that do not count as keywords."""


class _Punctuation(dict[int, str]):
    """Maps a punctuation or symbol character to a blank and every other to itself."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = mapped = " " if unicodedata.category(char)[0] in "PS" else char
        return mapped


_PUNCTUATION = _Punctuation()


def normalise(text: str) -> list[str]:
    """Return the words: lower case, every punctuation or symbol character a blank."""
    return text.lower().translate(_PUNCTUATION).split()


def _has_cjk(text: str) -> bool:
    """True when the text contains Chinese, Japanese or Korean characters."""
    if text.isascii():
        return False
    return any(
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
        for char in text
    )


class Phrases:
    """The phrases of all skills, by their first word. Immutable and thread-safe.

    Phrases of scripts that are written without blanks are matched inside words too.
    """

    __slots__ = ("_by_first_word", "_unspaced")

    def __init__(self, declared: Iterable[tuple[int, tuple[str, ...]]]) -> None:
        """Take (skill number, words of a phrase). An empty phrase never matches."""
        self._by_first_word: dict[str, list[tuple[int, tuple[str, ...], str]]] = {}
        self._unspaced: list[tuple[int, tuple[str, ...], str]] = []
        for number, words in declared:
            joined = " ".join(words)
            if _has_cjk(joined):
                self._unspaced.append((number, words, joined))
            elif words:
                phrases = self._by_first_word.setdefault(words[0], [])
                phrases.append((number, words, f" {joined} "))

    def hits(self, words: Sequence[str]) -> dict[int, list[tuple[str, ...]]]:
        """Return the phrases that occur as adjacent words, by skill, each once."""
        text = f" {' '.join(words)} "
        begun = [self._by_first_word.get(word, ()) for word in dict.fromkeys(words)]
        matches: dict[int, list[tuple[str, ...]]] = {}
        for number, phrase, joined in chain(*begun, self._unspaced):
            if joined in text:
                matches.setdefault(number, []).append(phrase)
        return matches


@dataclass(frozen=True, slots=True)
class TriggerPhrases:
    """Oasis trigger scoring, in points without an upper bound."""

    phrase_points: float = PHRASE_POINTS
    name_points: float = NAME_POINTS
    keyword_points: float = KEYWORD_POINTS

    name = "triggers"
    scale = "points"
    levels = ()
    # One point is the smallest difference. Closer scores are ties, decided by priority.
    default_policy = DefaultPolicy(THRESHOLD, 1, 0.5, "priority (higher first), id, name, path")

    def bind(self, skills: Iterable[Skill]) -> BoundTriggers:
        """Index phrases and names by their first word, descriptions by their words."""
        return BoundTriggers(self, tuple(skills))


class BoundTriggers:
    """Trigger scoring over one snapshot."""

    def __init__(self, scorer: TriggerPhrases, skills: tuple[Skill, ...]) -> None:
        self.scorer = scorer
        self.skills: Sequence[Skill] = skills
        self.position = {skill: number for number, skill in enumerate(skills)}
        phrases: list[tuple[int, tuple[str, ...]]] = []
        self.descriptions: dict[str, list[int]] = {}
        for number, skill in enumerate(skills):
            distinct = dict.fromkeys(tuple(normalise(p)) for p in skill.triggers.phrases)
            phrases.extend((number, words) for words in distinct)
            for word in dict.fromkeys(normalise(skill.description)):
                if word not in FUNCTION_WORDS:
                    self.descriptions.setdefault(word, []).append(number)
        names = [(number, tuple(normalise(skill.name))) for number, skill in enumerate(skills)]
        self.phrases = Phrases(phrases)
        self.names = Phrases(names)

    def prepare(self, query: Query) -> ScoredTriggers:
        """Find the phrases, names and description words of the request."""
        return ScoredTriggers(self, normalise(query.text))


class ScoredTriggers(Scored):
    """The trigger scores of one request."""

    def __init__(self, bound: BoundTriggers, words: list[str]) -> None:
        self._bound = bound
        self._words = words
        self.blank = not words
        self._phrases = bound.phrases.hits(words)
        self._named = bound.names.hits(words)
        self._keywords = [w for w in dict.fromkeys(words) if w not in FUNCTION_WORDS]
        scorer = bound.scorer
        points: dict[int, float] = {}
        for number, phrases in self._phrases.items():
            points[number] = scorer.phrase_points * len(phrases)
        for word in self._keywords:
            for number in bound.descriptions.get(word, ()):
                points[number] = points.get(number, 0.0) + scorer.keyword_points
        for number in self._named:
            points[number] = points.get(number, 0.0) + scorer.name_points
        self._points = points

    def scores(self) -> list[tuple[Skill, float]]:
        """Return the skills with at least one point."""
        skills = self._bound.skills
        return [(skills[number], self._points[number]) for number in sorted(self._points)]

    def tie_break(self, skill: Skill) -> tuple[Any, ...]:
        """Higher priority first, then the id in byte order."""
        return (-skill.priority, (skill.slug or "").encode("utf-8", "surrogatepass"))

    def explain(self, skill: Skill) -> Explanation:
        """Return one part each for the phrases, the description words and the name."""
        bound, scorer = self._bound, self._bound.scorer
        number = bound.position[skill]
        phrases = self._phrases.get(number, [])
        described = set(normalise(skill.description))
        keywords = [word for word in self._keywords if word in described]
        parts = []
        if phrases:
            details = tuple(
                Explanation("phrase", scorer.phrase_points, (), "leaf", " ".join(words))
                for words in phrases
            )
            note = ", ".join(detail.note for detail in details)
            parts.append(
                Explanation("triggers", scorer.phrase_points * len(phrases), details, "sum", note)
            )
        if keywords:
            total = scorer.keyword_points * len(keywords)
            parts.append(Explanation("description", total, (), "leaf", ", ".join(keywords)))
        if number in self._named:
            parts.append(Explanation("name", scorer.name_points, (), "leaf", skill.name))
        note = f"priority {skill.priority}" if skill.priority else ""
        return Explanation("triggers", self._points.get(number, 0.0), tuple(parts), "sum", note)


TRIGGERS = TriggerPhrases()
