"""Finds what a request excludes: "review the diff, but do not refactor", "pnpm instead of npm".

The cues are data (``data/exclusions.tsv``): regular expressions by language. A cue excludes what
follows it, or stands before it, up to the end of its clause. Phrases that only look like a cue
("don't forget to", "no problem") are listed as such and win.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from skillyard.engine.analysis.language import FUNCTION_WORDS, cue_patterns

_CLAUSE_END = re.compile(r"[.;:!?](?=\s|$)|[。；！？،؛\n()]|,(?!\d)|[，、]|\s[-–—]+\s")
"""What ends a clause. A point within a word (``parser.py``) does not."""
_ENGLISH = "en"
LATIN = frozenset(FUNCTION_WORDS) - {"ru", "ar"}
"""Languages in whose requests cues of English mean something else ("no Hono": in Hono)."""


class Reading(NamedTuple):
    """A request, split into what it asks for and what it excludes."""

    wanted: str
    """The request without what it forbids or replaces. What it only does without ("no server",
    "without code") stays: such words mostly say what the task is about (``training/README.md``)."""
    strict: str
    """The request without what a clause of its own excludes, too ("…, no blog posts")."""
    rest: str
    """The request without anything that it excludes."""
    excluded: str
    """The excluded parts, one a line; empty for most requests."""


_ITEM = (
    r"\s*(?:[\w'’./-]+\s+){{0,2}}[\w'’./-]+(?=\s*,[^.;:!?\n]{{0,80}}?\s(?:{0})\s|\s+(?:{0})\s)"
    r"|\s*(?:{0})\s"
)
"""After a comma: another item of a list that goes on ("no tests, docs or examples")."""
_NEVER = "(?!)"
ASIDE = 0.35
"""Mean probability of its pieces from which a clause is set aside (``training/README.md``)."""
PERHAPS_ASIDE = 0.2
"""The same for the strict reading."""


class _Cues(NamedTuple):
    """The patterns of one language, with those of English."""

    keep: re.Pattern[str]
    after: re.Pattern[str]
    start: re.Pattern[str]
    before: re.Pattern[str]
    weak_after: re.Pattern[str]
    weak_start: re.Pattern[str]
    weak_before: re.Pattern[str]
    turn: re.Pattern[str]
    item: re.Pattern[str]
    opener: re.Pattern[str]


@cache
def _cues(*languages: str) -> _Cues:
    words = {
        kind.replace(" ", "_"): "|".join(f"(?:{pattern})" for pattern in patterns)
        for kind, patterns in cue_patterns("exclusions", *languages).items()
    }
    forms = (
        *(words.get(kind, _NEVER) for kind in _Cues._fields[:7]),
        rf"\s(?:{words.get('turn', _NEVER)})\s",
        _ITEM.format(words.get("or", _NEVER)),
        rf"\s*(?:{words.get('open', _NEVER)})\s*",
    )
    return _Cues(*(re.compile(form, re.IGNORECASE) for form in forms))


def read_exclusions(
    text: str, language: str, asides: Sequence[tuple[int, int, float]] = ()
) -> Reading:
    """Return what a request wants and what it excludes.

    ``language`` is its ISO 639-1 code; cues of English count in every language. ``asides`` are what
    a model says of its pieces: (start, end, probability that it is set aside).
    """
    lower = text.lower()
    languages = (language,) if language in LATIN else (language, _ENGLISH)
    signs = "|".join(cue_patterns("exclusions", *languages).get("sign", ())).split("|")
    clauses = aside_clauses(text, language, asides) if asides else []
    spans = [(start, end, share < ASIDE, True) for start, end, share in clauses]
    if any(sign in lower for sign in signs):
        spans += _cue_spans(text, _cues(*languages))
    if not spans:
        return Reading(text, text, text, "")
    strong = [span for span in spans if not span[2]]
    strict = [span for span in spans if not span[2] or span[3]]
    excluded = "\n".join(text[start:end] for start, end, *_ in spans)
    return Reading(_without(text, strong), _without(text, strict), _without(text, spans), excluded)


def aside_clauses(
    text: str, language: str, asides: Sequence[tuple[int, int, float]], least: float = PERHAPS_ASIDE
) -> list[tuple[int, int, float]]:
    """Return (start, end, mean probability) of each clause that is set aside by ``least`` or more.

    ``asides`` are (start, end, probability) of the pieces of the text.
    """
    if not any(probability >= least for *_, probability in asides):
        return []
    turns = _cues(language).turn.finditer(text)
    ends = {*(end.end() for end in _CLAUSE_END.finditer(text)), *(turn.start() for turn in turns)}
    clauses = []
    for start, end in pairwise([0, *sorted(ends), len(text)]):
        own = [each for first, last, each in asides if first < last and start <= first < end]
        if own and sum(own) >= least * len(own):
            clauses.append((start, end, sum(own) / len(own)))
    return clauses


def _cue_spans(text: str, cues: _Cues) -> Iterator[tuple[int, int, bool, bool]]:
    """Yield (start, end, is weak, has a clause of its own) of what each cue excludes."""
    no_cues = [match.span() for match in cues.keep.finditer(text)]
    for kind in _Cues._fields[1:7]:
        weak, _, place = kind.rpartition("_")
        for match in getattr(cues, kind).finditer(text):
            start, end = match.span()
            if any(first < end and start < last for first, last in no_cues):
                continue
            if place == "before":
                start = _clause_start(text, start, cues)
            above = text[_clause_start(text, start, cues) : start]
            own = not above.strip() or cues.opener.fullmatch(above) is not None
            if place == "start" and not own:
                continue
            if place != "before":
                end = _clause_end(text, end, cues)
            yield start, end, bool(weak), own


def _without(text: str, spans: Iterable[tuple[int, int, bool, bool]]) -> str:
    parts, last = [], 0
    for start, end, *_ in sorted(spans):
        if end > last:
            parts.append(text[last:start])
            last = end
    return " ; ".join([*parts, text[last:]]) if parts else text


def _clause_start(text: str, at: int, cues: _Cues) -> int:
    start = max((end.end() for end in _CLAUSE_END.finditer(text, 0, at)), default=0)
    return max((turn.end() for turn in cues.turn.finditer(text, start, at)), default=start)


def _clause_end(text: str, at: int, cues: _Cues) -> int:
    """Return the end of the clause; a list goes on after its commas."""
    turn = cues.turn.search(text, at)
    limit = turn.start() if turn else len(text)
    while True:
        end = _CLAUSE_END.search(text, at)
        if end is None or end.start() >= limit:
            return limit
        if end.group() != "," or not cues.item.match(text, end.end()):
            return end.start()
        at = end.end()
