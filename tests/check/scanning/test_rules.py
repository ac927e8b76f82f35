"""The table of rules: its examples hold, and no pattern takes more than linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from skillyard.check.scanning import RULES, Rule, SkillFile, scan_files
from skillyard.check.scanning.rule import Example, Pattern
from tests.tables import for_each

_MOST = 400
"""Repetitions that one part of a pattern may have."""
_PATTERNS = [(rule.id, number, each) for rule in RULES for number, each in enumerate(rule.patterns)]


def _found(example: Example) -> dict[str, str]:
    if example.link:
        files = [SkillFile(example.path, None, link=example.link)]
    else:
        files = [SkillFile(example.path, example.text.encode())]
    return {finding.rule: finding.severity for finding in scan_files(files)}


@for_each("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_finds_its_example_and_not_the_other_one(rule: Rule) -> None:
    if rule.id in ("link_outside", "not_scanned"):  # of files without data: see test_files.py
        return
    assert _found(rule.hit).get(rule.id) == rule.severity
    assert rule.id not in _found(rule.miss)


def _repeats(parsed: Any, inside: int = 1) -> Iterator[tuple[int, int]]:
    """Yield the largest count of each repetition, and the product with those around it."""
    for operator, argument in parsed:
        if operator in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, content = argument
            most = int(most) if most is not codes.MAXREPEAT else 10**9
            yield most, most * inside
            yield from _repeats(content, most * inside)
        elif operator is codes.SUBPATTERN:
            yield from _repeats(argument[-1], inside)
        elif operator is codes.BRANCH:
            for branch in argument[1]:
                yield from _repeats(branch, inside)
        elif operator in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(argument[1], inside)


@for_each("name, number, pattern", _PATTERNS, ids=lambda each: str(each)[:40])
def test_every_repetition_of_a_pattern_is_bounded(name: str, number: int, pattern: Pattern) -> None:
    for most, product in _repeats(parser.parse(pattern.regex.pattern, pattern.regex.flags)):
        assert most <= _MOST, f"{name}, pattern {number}: {pattern.regex.pattern[:80]}"
        assert product <= 10_000, f"{name}, pattern {number}: repetitions inside of repetitions"


def _looks_around(parsed: Any) -> Iterator[int]:
    """Yield the width of each part that looks at the text around a match."""
    for operator, argument in parsed:
        if operator in (codes.ASSERT, codes.ASSERT_NOT):
            yield argument[1].getwidth()[1]
            yield from _looks_around(argument[1])
        elif operator is codes.SUBPATTERN:
            yield from _looks_around(argument[-1])
        elif operator is codes.BRANCH:
            for branch in argument[1]:
                yield from _looks_around(branch)
        elif operator in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield from _looks_around(argument[2])


@for_each("name, number, pattern", _PATTERNS, ids=lambda each: str(each)[:40])
def test_no_match_of_a_pattern_is_longer_than_what_is_searched(
    name: str, number: int, pattern: Pattern
) -> None:
    parsed = parser.parse(pattern.regex.pattern, pattern.regex.flags)
    width = parsed.getwidth()[1] + max(_looks_around(parsed), default=0)
    assert width <= pattern.reach, f"{name}, pattern {number}: reach = {width} or more"
    assert pattern.reach <= max(width + 50, 100), f"{name}, pattern {number}: reach = {width}"


def _without(parsed: Any, before: set[str], words: frozenset[str]) -> set[str]:
    """Return the last characters of the texts that match without any of the words.

    ``before`` are those of what stands before them.
    """
    for operator, argument in parsed:
        if operator is codes.LITERAL:
            before = {text for each in before if not _ends(text := each + chr(argument), words)}
        elif operator is codes.IN and len(argument) < 5 and argument[0][0] is codes.LITERAL:
            listed = [(codes.BRANCH, (None, [[each] for each in argument]))]
            before = _without(listed, before, words)
        elif operator in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, content = argument
            for _ in range(min(least, 6)):
                before = _without(content, before, words)
            if most > least:
                before = before | _without(content, before, words)
        elif operator is codes.SUBPATTERN:
            before = _without(argument[-1], before, words)
        elif operator is codes.BRANCH:
            before = set().union(*(_without(branch, before, words) for branch in argument[1]))
        elif operator is codes.ASSERT:
            before = before if _without(argument[1], {""}, words) else set()
        elif operator not in (codes.ASSERT_NOT, codes.AT):
            before = {""} if before else before
    return before


def _ends(text: str, words: frozenset[str]) -> bool:
    return any(text.endswith(word) for word in words)


@for_each("name, number, pattern", _PATTERNS, ids=lambda each: str(each)[:40])
def test_every_match_has_a_word_of_each_group_that_is_sought_near_it(
    name: str, number: int, pattern: Pattern
) -> None:
    parsed = parser.parse(pattern.regex.pattern, pattern.regex.flags)
    apart = [bool(_without(parsed, {""}, frozenset(each.split()))) for each in pattern.words]
    for group, is_apart in zip(pattern.words[1:], apart[1:], strict=True):
        assert group.startswith("~") or not (is_apart or apart[0]), (
            f"{name}, pattern {number}: begin this group with ~: {group}"
        )


@for_each("name, number, pattern", _PATTERNS, ids=lambda each: str(each)[:40])
def test_every_pattern_names_words_that_keep_it_from_ordinary_files(
    name: str, number: int, pattern: Pattern
) -> None:
    assert pattern.words or pattern.kinds == {"script"}, f"{name}, pattern {number}"
    assert not re.search(r"\n[^\n]*<<", pattern.regex.pattern), "a part was not put in"
