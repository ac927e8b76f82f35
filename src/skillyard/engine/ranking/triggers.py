"""The ``triggers`` scorer: trigger phrases, name mentions and description words, as in Oasis.

Source: the Oasis document, "Skill Selection"; open points are read as in
spec/adk-and-agentskills.md §3: whole adjacent words; each distinct phrase once; function words of
the request left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
        self.phrases = PhraseAutomaton(phrases, _has_cjk)
        self.names = PhraseAutomaton(names, _has_cjk)

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


_ROOT = 0


class PhraseAutomaton:
    """The phrases of all skills, compiled. Immutable and thread-safe."""

    __slots__ = ("_ends", "_fail", "_next", "_unspaced")

    def __init__(
        self, declared: Sequence[tuple[int, tuple[str, ...]]], unspaced: Callable[[str], bool]
    ) -> None:
        """Take (skill number, words of a phrase). An empty phrase never matches.

        Phrases for which ``unspaced`` is True are matched inside words too.
        """
        self._next: list[dict[str, int]] = [{}]
        self._ends: list[list[tuple[int, tuple[str, ...]]]] = [[]]
        self._unspaced: list[tuple[int, tuple[str, ...], str]] = []
        for number, words in declared:
            joined = " ".join(words)
            if unspaced(joined):
                self._unspaced.append((number, words, joined))
            elif words:
                self._ends[self._node(words)].append((number, words))
        self._fail = self._fallbacks()

    def _node(self, words: tuple[str, ...]) -> int:
        node = _ROOT
        for word in words:
            below = self._next[node].get(word)
            if below is None:
                below = self._next[node][word] = len(self._next)
                self._next.append({})
                self._ends.append([])
            node = below
        return node

    def _fallbacks(self) -> list[int]:
        """Return for each node the node of its longest proper suffix that is in the tree."""
        fail = [_ROOT] * len(self._next)
        level = list(self._next[_ROOT].values())
        while level:
            deeper = []
            for node in level:
                for word, below in self._next[node].items():
                    suffix = fail[node]
                    while suffix and word not in self._next[suffix]:
                        suffix = fail[suffix]
                    fail[below] = self._next[suffix].get(word, _ROOT)
                    deeper.append(below)
            level = deeper
        return fail

    def hits(self, words: Sequence[str]) -> dict[int, list[tuple[str, ...]]]:
        """Return the phrases that occur as adjacent words, by skill, each once."""
        matches: dict[int, list[tuple[str, ...]]] = {}
        visited: set[int] = {_ROOT}  # the suffixes of a visited node are visited too
        node = _ROOT
        for word in words:
            while node and word not in self._next[node]:
                node = self._fail[node]
            node = self._next[node].get(word, _ROOT)
            suffix = node
            while suffix not in visited:
                visited.add(suffix)
                for number, phrase in self._ends[suffix]:
                    matches.setdefault(number, []).append(phrase)
                suffix = self._fail[suffix]
        if self._unspaced:
            text = " ".join(words)
            for number, phrase, joined in self._unspaced:
                if joined in text:
                    matches.setdefault(number, []).append(phrase)
        return matches
