"""Splits a body into headings, prose, code, and the sections on when *not* to use the skill."""

from __future__ import annotations

import re
from typing import NamedTuple


class Body(NamedTuple):
    """The text of one body by kind; lines are joined by line feeds."""

    headings: str
    prose: str
    code: str
    avoid: str
    """Sections that say when not to use the skill."""


_AVOID_HEADING = re.compile(
    r"(?:when|where|what)?\s*(?:it|this|this skill)?\s*(?:is|should|does)?\s*"
    r"(?:not\b|n't\b|do not\b|don.t\b|never\b|anti-?patterns?\b|out of scope|avoid\b)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:do not use|don.t use|not (?:to be )?(?:used |intended |suitable |meant )?for|"
    r"not when|never use (?:it|this)|skip (?:it |this )?(?:for|when|if)|avoid (?:for|when))\b",
    re.IGNORECASE,
)
_FENCE_OR_HEADING = re.compile(r"\n(?:(#{1,6})(?=[ \t])|[^\S\n]*+(```|~~~))")
"""The start of a heading, or of a line that opens or closes a code fence."""
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)")


def split_body(text: str) -> Body:
    """Return the parts of a Markdown body. Any text is accepted; fences may stay open.

    Only lines that start a fence or a heading are parsed. The text between them is copied.
    """
    headings: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    avoid: list[str] = []
    fence = ""
    avoid_level = 0  # level of the enclosing "not for" heading, 0 outside
    text = f"\n{text}"
    unassigned = 1  # start of the first line that is not assigned yet
    for mark_or_heading in _FENCE_OR_HEADING.finditer(text):
        start = mark_or_heading.start() + 1
        mark = mark_or_heading[2]
        if not mark and fence:
            continue  # a line of code
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if start > unassigned:
            part = code if fence else avoid if avoid_level else prose
            part.append(text[unassigned : start - 1])
        unassigned = end + 1
        if mark:
            fence = "" if mark == fence else fence or mark
            continue
        title = text[mark_or_heading.end() : end].strip(" #")
        level = len(mark_or_heading[1])
        if avoid_level and level <= avoid_level:
            avoid_level = 0
        if not avoid_level and _is_avoid_heading(title):
            avoid_level = level
        (avoid if avoid_level else headings).append(title)
    if unassigned <= len(text):
        (code if fence else avoid if avoid_level else prose).append(text[unassigned:])
    return Body("\n".join(headings), "\n".join(prose), "\n".join(code), "\n".join(avoid))


def _is_avoid_heading(title: str) -> bool:
    """Return True for headings such as "When not to use" and "Out of scope"."""
    if not _AVOID_HEADING.match(title.strip(" *_:>-")):
        return False
    words = title.lower()
    return any(word in words for word in ("use", "scope", "for", "when", "fit", "trigger"))


def split_description(text: str) -> tuple[str, str]:
    """Return (what the skill is for, what it is not for).

    The second part extends from a phrase such as "Do not use for" to the end of its sentence.
    """
    positive: list[str] = []
    avoid: list[str] = []
    place = 0
    while (negation := _NEGATION.search(text, place)) is not None:
        end = _SENTENCE_END.search(text, negation.end())
        stop = end.start() if end is not None else len(text)
        positive.append(text[place : negation.start()])
        avoid.append(text[negation.end() : stop])
        place = stop
    positive.append(text[place:])
    return " ".join(positive).strip() if avoid else text, "\n".join(avoid)
