"""The five classes of file patterns and their weights.

Source: "Skill Evaluation System", table "Pattern Weights". The document shows one example of each
class; the first rule below that fits decides, and what fits none is generic.
"""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.ranking.confidence.braces import expand_braces
from skillyard.engine.ranking.confidence.glob import normalise


class PatternClass(NamedTuple):
    """A class of patterns, and the weight of one match."""

    name: str
    weight: float


_EXACT = PatternClass("exact", 0.35)
_SIMPLE = PatternClass("simple_extension", 0.30)
_DIRECTORY = PatternClass("directory", 0.25)
_COMPOUND = PatternClass("compound_extension", 0.20)
_GENERIC = PatternClass("generic", 0.15)

PATTERN_CLASSES = (_EXACT, _SIMPLE, _DIRECTORY, _COMPOUND, _GENERIC)
"""Heaviest first."""


def classify(pattern: str, limits: Limits = DEFAULT_LIMITS) -> PatternClass:
    """Return the class of a pattern, without its ``!`` and leading ``./``.

    A pattern with braces has the lightest class of its alternatives. Brackets do not count as
    wildcards: ``app/[slug]/page.tsx`` is an exact path.
    """
    text = normalise(pattern)
    alternatives = expand_braces(text, limits.brace_expansions)
    classes = [_class_of(each) for each in alternatives or (text,)]
    return min(classes, key=lambda pattern_class: pattern_class.weight)


def _class_of(text: str) -> PatternClass:
    if "*" not in text and "?" not in text:
        return _EXACT
    folder, _, last = text.rpartition("/")
    suffixes = _suffixes(last)
    if suffixes > 1:
        return _COMPOUND
    if suffixes == 1 and "/" not in text:
        return _SIMPLE
    if "**" in text and folder and text.strip("*/"):
        return _DIRECTORY
    return _GENERIC


def _suffixes(name: str) -> int:
    """Return how many suffixes a name of the form ``*.x.y`` has; 0 for any other form."""
    star, *suffixes = name.split(".")
    plain = all(part and "*" not in part and "?" not in part for part in suffixes)
    return len(suffixes) if star == "*" and plain else 0
