"""A rule of the scan: its texts, two examples, and the function that finds its hits in a document.

Most rules are lists of patterns. A pattern names words, at least one of each group of which must be
in the document before the regular expression runs. That keeps the scan of ordinary files fast.
Every repetition in a pattern is bounded, so a search takes time linear in the text. A test checks
this for all patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from typing import NamedTuple

from skillyard.scanning.document import EVERY, Document, Terms

__all__ = [
    "HIGH",
    "LOW",
    "MEDIUM",
    "SEVERITIES",
    "Example",
    "Find",
    "Hit",
    "Pattern",
    "Rule",
    "find_patterns",
    "group",
    "pattern",
    "terms_of",
]

HIGH, MEDIUM, LOW = "high", "medium", "low"
SEVERITIES = (HIGH, MEDIUM, LOW)
"""The severest first. ``add`` refuses a skill with a finding of the first."""


class Hit(NamedTuple):
    """One place at which a rule applies."""

    start: int
    """Offset in the document's text."""
    end: int
    severity: str = ""
    """Lower than the rule's, or empty."""
    note: str = ""
    """What is said beside the rule's title."""


class Example(NamedTuple):
    """One file of a skill that shows what a rule finds, or what it leaves alone."""

    path: str
    text: str
    link: str = ""
    """Where it leads, when it is a link."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    id: str
    severity: str
    """The severity of most hits. A hit can be lower, never higher."""
    title: str
    why: str
    """How the technique harms, for the reference page."""
    fix: str
    hit: Example
    miss: Example
    patterns: tuple[Pattern, ...]
    find: Find
    quotable: bool
    """False for a rule whose hits mean the same in documentation about attacks."""

    def hits(self, document: Document) -> Iterable[Hit]:
        """Return the hits in a document whose terms are set, in any order."""
        return self.find(document, self.patterns)


Find = Callable[[Document, "tuple[Pattern, ...]"], "Iterable[Hit]"]


_BITS: dict[bytes, int] = {}
"""Word or text -> the bits of all groups that it is in."""
_groups = count()


def group(words: str) -> int:
    """Return the bit of a new group of words, separated by blanks."""
    bit = 1 << next(_groups)
    for word in words.encode().split():
        _BITS[word] = _BITS.get(word, 0) | bit
    return bit


def terms_of(document: Document) -> Terms:
    """Return the terms of a document. Texts of scripts without blanks need not be whole words."""
    found = _terms().intersection(document.words)
    if document.foreign and _LETTERS.search(document.foreign) is not None:
        found |= {text for text in _foreign_terms() if text in document.foreign}
    groups = 0
    for word in found:
        groups |= _BITS[word]
    return Terms(found, groups)


_LETTERS = re.compile(rb"[\xcd-\xe1\xe3-\xee]")
"""UTF-8 of Greek and Cyrillic letters, and of all scripts behind them, without punctuation."""


@cache
def _terms() -> frozenset[bytes]:
    return frozenset(_BITS)


@cache
def _foreign_terms() -> tuple[bytes, ...]:
    return tuple(text for text in _BITS if _LETTERS.match(text) is not None)


class Pattern(NamedTuple):
    """A regular expression, and what must be in a document before it is searched."""

    regex: re.Pattern[str]
    anchors: frozenset[bytes]
    """A match lies around one of these words. Empty: anywhere."""
    near: tuple[str, ...]
    """A match lies around one of these texts instead, where there are any."""
    groups: int
    severity: str
    kinds: frozenset[str]
    reach: int
    """Characters before and after an anchor that are searched. No match is longer."""

    def matches(self, document: Document) -> Iterator[re.Match[str]]:
        """Yield the matches near the anchors."""
        if document.kind in self.kinds and document.terms.groups & self.groups == self.groups:
            present = self.anchors & document.terms.words
            near = self.near or tuple(word.decode() for word in present)
            text = document.lowered  # with capitals, a search takes several times as long
            for start, end in windows(document, near, self.reach):
                yield from self.regex.finditer(text, start, end)


_REACH = 100
"""Characters that most patterns reach."""


def pattern(
    regex: str,
    words: Sequence[str] = (),
    *,
    severity: str = "",
    kinds: Iterable[str] = EVERY,
    near: Sequence[str] = (),
    reach: int = _REACH,
) -> Pattern:
    """Return a pattern. Each of ``words`` is a group of alternatives, separated by blanks.

    The expression is only searched around the words of the first group, which should be the rarest,
    or around the texts ``near``, in lower case. ``reach`` is the longest match in characters, with
    what it looks at around it; a test checks that it is.
    """
    compiled = re.compile(_in_lower_case(regex), re.VERBOSE | re.DOTALL)
    anchors = frozenset(words[0].encode().split()) if words else frozenset()
    groups = sum(map(group, words))
    kinds = frozenset(kinds)
    return Pattern(compiled, anchors, tuple(near), groups, severity, kinds, reach)


_LETTER = re.compile(r"\\.|\(\?P|[^\W\d_]", re.DOTALL)


def _in_lower_case(regex: str) -> str:
    """Return a regular expression for text in lower case; escapes stay as they are."""
    return _LETTER.sub(lambda match: match[0] if len(match[0]) > 1 else match[0].lower(), regex)


def windows(document: Document, near: Sequence[str], reach: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of the text around some texts, in order; all of it without any."""
    if not near:
        yield 0, len(document.text)
        return
    start = end = -1
    for position in sorted(chain.from_iterable(map(document.positions, near))):
        if position - reach > end:
            if end >= 0:
                yield start, end
            start = max(position - reach, 0)
        end = position + reach + 1  # no match ends there, so nothing takes it for the end of a file
    if end >= 0:
        yield start, end


def find_patterns(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[Hit]:
    """Yield the matches of patterns: the function of most rules."""
    groups = document.terms.groups
    for each in patterns:
        if groups & each.groups == each.groups:
            for match in each.matches(document):
                yield Hit(match.start(), match.end(), each.severity)
