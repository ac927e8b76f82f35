"""A body's parts: its headings, its prose, its code, and what it says it is *not* for."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Body", "split_body", "split_description"]


class Body(NamedTuple):
    """The text of one body by kind, lines joined again by line feeds."""

    headings: str
    prose: str
    code: str
    avoid: str
    """Sections that say when not to use the skill."""


_AVOID = re.compile(
    r"(?:when|where|what)?\s*(?:it|this|this skill)?\s*(?:is|should|does)?\s*"
    r"(?:not\b|n't\b|do not\b|don.t\b|never\b|anti-?patterns?\b|out of scope|avoid\b)",
    re.IGNORECASE,
)
_NOT_FOR = re.compile(
    r"\b(?:do not use|don.t use|not (?:to be )?(?:used |intended |suitable |meant )?for|"
    r"not when|never use (?:it|this)|skip (?:it |this )?(?:for|when|if)|avoid (?:for|when))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)")


def split_body(text: str) -> Body:
    """Return the parts of a Markdown body. Fences may be left open; nothing is refused."""
    headings: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    avoid: list[str] = []
    fence = ""
    shunned = 0  # the level of the heading under which everything is out of scope
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if mark == fence else fence or mark
        elif fence:
            code.append(line)
        elif line.startswith("#") and (level := _level(line)):
            title = line[level:].strip(" #")
            if shunned and level <= shunned:
                shunned = 0
            if not shunned and _shuns(title):
                shunned = level
            (avoid if shunned else headings).append(title)
        else:
            (avoid if shunned else prose).append(line)
    return Body("\n".join(headings), "\n".join(prose), "\n".join(code), "\n".join(avoid))


def _level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1] in (" ", "\t") else 0


def _shuns(title: str) -> bool:
    """True for headings such as "When not to use" and "Out of scope"; "Do not panic" is prose."""
    if not _AVOID.match(title.strip(" *_:>-")):
        return False
    words = title.lower()
    return any(word in words for word in ("use", "scope", "for", "when", "fit", "trigger"))


def split_description(text: str) -> tuple[str, str]:
    """Return (what it is for, what it is not for): a description may say both.

    The second part runs from a phrase such as "Do not use for" to the end of its sentence.
    """
    wanted: list[str] = []
    avoid: list[str] = []
    place = 0
    while (found := _NOT_FOR.search(text, place)) is not None:
        end = _SENTENCE_END.search(text, found.end())
        stop = end.start() if end is not None else len(text)
        wanted.append(text[place : found.start()])
        avoid.append(text[found.end() : stop])
        place = stop
    wanted.append(text[place:])
    return " ".join(wanted).strip() if avoid else text, "\n".join(avoid)
