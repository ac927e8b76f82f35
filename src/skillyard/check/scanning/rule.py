"""A rule of the scan: its texts, two examples, and the function that finds its hits in a document.

Most rules are lists of patterns. A pattern names words, at least one of each group of which must be
in the document before the regular expression runs. That keeps the scan of ordinary files fast.
Every repetition in a pattern is bounded, so a search takes time linear in the text. A test checks
this for all patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.check.scanning.document import Document

HIGH, MEDIUM, LOW = "high", "medium", "low"
SEVERITIES = (HIGH, MEDIUM, LOW)
"""The severest first. ``add`` refuses a skill with a finding of the first."""


class RuleHit(NamedTuple):
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


@dataclass(frozen=True)
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
    phrase: bool
    """True for a rule whose hits are sentences to the agent. They mean nothing in a quotation."""


Find = Callable[[Document, "tuple[Pattern, ...]"], "Iterable[RuleHit]"]
"""Returns the hits in a document, in any order."""


class Pattern(NamedTuple):
    """A regular expression, and where it is searched."""

    regex: re.Pattern[str]
    first: re.Pattern[str] | None
    """What matches at the start of a text, of an expression that begins with a line end. A search
    for a line end or a start takes several times as long."""
    words: tuple[str, ...]
    """Groups of words. A match lies around a word of the first one, and has a word of each other
    one, unless that begins with ``~``: such a word stands anywhere in the document."""
    severity: str
    kinds: frozenset[str]
    reach: int
    """Characters before and after a word that are searched. No match is longer."""
    files: tuple[str, ...]
    """How the paths of the files that are searched end, in lower case. Empty: all."""
    groups: frozenset[int]
    """The numbers of all groups of words."""
    near: tuple[int, ...]
    """Those of the groups of which a match has a word. Empty: all of the text is searched."""

    def matches(self, document: Document) -> Iterator[re.Match[str]]:
        """Yield the matches where the words are."""
        is_read = document.kind in self.kinds and self.groups <= document.words.groups
        if not is_read or not document.path.lower().endswith(self.files or ""):
            return
        text = document.lowered  # with capitals, a search takes several times as long
        whole = ((0, len(text)),)
        parts = document.words.around(self.near, self.reach) if self.near else whole
        for start, end in parts:
            if self.first is not None and start == 0:
                first = self.first.match(text, 0, end)
                if first is not None:
                    yield first
                    start = first.end()
            yield from self.regex.finditer(text, start, end)


def find_patterns(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield the matches of patterns: the function of most rules."""
    for each in patterns:
        for match in each.matches(document):
            is_before = match[0].startswith("\n")  # of an expression for the start of a line
            yield RuleHit(match.start() + is_before, match.end(), each.severity)
