"""Splits a body into headings, prose, code, and the sections on when *not* to use the skill."""

from __future__ import annotations

import os
import re
from functools import cache
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
_FENCE_OR_HEADING = re.compile(r"\n(?:(#{1,6})(?=[ \t])|[^\S\n]*+(```|~~~))")
"""The start of a heading, or of a line that opens or closes a code fence."""
_MARKUP = re.compile(r"[#*`|>_-]+")
PASSAGE_CHARS = 400
"""About a hundred word pieces: as many as an encoder reads well at once."""
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)|[。！？；]")
_CLAUSE_END = re.compile(r"[.!?;\n](?:\s|$)|[,:()—–。！？；，：、]")


class _Cues(NamedTuple):
    """The cues of one language in ``data/descriptions.tsv``."""

    signs: tuple[str, ...]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    """(kind, pattern)"""


@cache
def _cues() -> list[_Cues]:
    rows: dict[str, dict[str, list[str]]] = {}
    path = os.path.join(os.path.dirname(__file__), "data", "descriptions.tsv")
    with open(path, encoding="utf-8") as file:
        for row in file:
            if not row.startswith("#"):
                code, kind, pattern = row.rstrip("\n").split("\t")
                rows.setdefault(code, {}).setdefault(kind, []).append(pattern)
    return [
        _Cues(
            tuple(kinds.pop("sign")[0].split("|")),
            tuple((k, re.compile("|".join(rows), re.IGNORECASE)) for k, rows in kinds.items()),
        )
        for kinds in rows.values()
    ]


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


def split_passages(text: str, limit: int) -> list[str]:
    """Return up to ``limit`` passages of the prose of a body, spread evenly over it.

    A passage is one paragraph or several, without markup, of :data:`PASSAGE_CHARS` characters at
    most; what a longer paragraph has beyond them is left out.
    """
    passages = [""]
    for paragraph in re.split(r"\n\s*\n", split_body(text).prose):
        plain = " ".join(_MARKUP.sub(" ", paragraph).split())[:PASSAGE_CHARS]
        if len(passages[-1]) + len(plain) < PASSAGE_CHARS:
            passages[-1] = f"{passages[-1]} {plain}".strip()
        else:
            passages.append(plain)
    passages = [*filter(None, passages)]
    if len(passages) <= limit:
        return passages
    step = (len(passages) - 1) / max(limit - 1, 1)
    return [passages[round(number * step)] for number in range(limit)]


def _is_avoid_heading(title: str) -> bool:
    """Return True for headings such as "When not to use" and "Out of scope"."""
    if not _AVOID_HEADING.match(title.strip(" *_:>-")):
        return False
    words = title.lower()
    return any(word in words for word in ("use", "scope", "for", "when", "fit", "trigger"))


def split_description(text: str) -> tuple[str, str]:
    """Return (what the skill is for, what it is not for).

    "Do not use for" excludes the rest of its sentence, "for other forms use form-conversion" is
    excluded itself. The cues are data (``data/descriptions.tsv``).
    """
    spans = [
        _span(kind, text, match)
        for cues in _cues()
        if any(map(text.__contains__, cues.signs))
        for kind, pattern in cues.patterns
        for match in pattern.finditer(text)
    ]
    if not spans:
        return text, ""
    positive, avoid, place = [], [], 0
    for start, end, excluded in sorted(spans):
        if end > place:
            positive.append(text[place : max(start, place)])
            avoid.append(excluded)
            place = end
    return " ".join([*positive, text[place:]]).strip(), "\n".join(avoid)


def _span(kind: str, text: str, cue: re.Match[str]) -> tuple[int, int, str]:
    """Return where the excluded part starts with its cue, where it ends, and the part."""
    start, end = cue.span()
    last = (_CLAUSE_END if kind == "clause" else _SENTENCE_END).search(text, end)
    stop = last.start() if last is not None else len(text)
    if kind == "from":
        return start, stop, text[start:stop]
    if kind == "sentence":
        first = max((last.end() for last in _SENTENCE_END.finditer(text, 0, start)), default=0)
        return first, stop, f"{text[first:start]} {text[end:stop]}"
    return start, stop, text[end:stop]
