"""Finds how a request speaks of skills: it calls them, asks about them, or works on them.

"Use the polish skill" calls it. "What does the polish skill do?" wants an answer, and no skill.
"Refactor the polish skill" is work for a skill about skills. The cues are data
(``analysis/data/mentions.tsv``); what is a name, the library says.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from skillyard.engine import analysis
from skillyard.engine.analysis.language import cue_patterns
from skillyard.engine.index.facet_terms import EXACT_NAME, exact_name_term
from skillyard.engine.ranking.query import Mentions

MAX_NAME_WORDS = 4
"""A name beside the word "skill" has at most this many words."""
_ENGLISH = "en"
_NEVER = "(?!)"
_SENTENCE_END = re.compile(r"[.!?;:](?=\s|$)|[。？！；\n]")
_CLAUSE_END = re.compile(r"[.!?;:,](?=\s|$)|[。？！；，、\n]")
_NAME_WORD = r"[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ_.:'’-]*[A-Za-z0-9À-ɏ])?"
_QUOTE = "[\"'`*“”‘’«»]?"
_WORD = re.compile(_NAME_WORD)
_PAUSE = re.compile(r"[\w,;:.?!()\n]")
"""What separates a word from a name: another word, or the end of a clause."""
_OPTIONAL_ARTICLE = r"(?:\s+(?:the|my|our|your|this|that))?\s*"


class _Cues(NamedTuple):
    """The patterns of one language, with those of English."""

    skill: re.Pattern[str]
    call: re.Pattern[str]
    ask: re.Pattern[str]
    question: re.Pattern[str]
    list: re.Pattern[str]
    make: re.Pattern[str]
    host: re.Pattern[str]
    article: re.Pattern[str]


class _Name(NamedTuple):
    """A name of the library in a request."""

    start: int
    end: int
    term: str


@cache
def _cues(language: str) -> _Cues:
    rows = cue_patterns("mentions", language, _ENGLISH)
    forms = {kind: f"(?:{'|'.join(rows.get(kind, [_NEVER]))})" for kind in _Cues._fields}
    forms["skill"] = rf"(?<![A-Za-z-]){forms['skill']}(?![A-Za-z-])"
    forms["call"] = rf"(?<![A-Za-z]){forms['call']}{_OPTIONAL_ARTICLE}{_QUOTE}$"
    forms["ask"] = rf"\s*{forms['ask']}"
    forms["question"] = rf"{forms['question']}{_OPTIONAL_ARTICLE}{_QUOTE}"
    forms["article"] = rf"(?<!\w){forms['article']}\s+{_QUOTE}$"
    return _Cues(*(re.compile(forms[kind], re.IGNORECASE) for kind in _Cues._fields))


def read_mentions(text: str, language: str, known: Callable[[str], int]) -> Mentions:
    """Return how a request speaks of skills.

    ``known`` returns the number of skills with a facet term.
    """
    cues = _cues(language)
    called: set[str] = set()
    subjects: set[str] = set()
    out = [_sentence(text, match.start()) for match in cues.list.finditer(text)]
    for match in cues.question.finditer(text):
        if (name := _name_after(text, match.end(), known, cues)) is not None:
            subjects.add(name.term)
            out.append(_sentence(text, match.start()))
    is_question, is_work = bool(out), False
    for match in cues.make.finditer(text):
        is_work = True  # what the new skill is for is not what is to be done now
        end = _CLAUSE_END.search(text, match.end())
        out.append((match.end(), end.start() if end else len(text)))
    for match in cues.skill.finditer(text):
        start, _ = _sentence(text, match.start())
        name = _name_beside(text, match, start, known, cues)
        if name is None:
            continue
        before = text[start : min(name.start, match.start())]
        if cues.ask.match(before):
            subjects.add(name.term)
            out.append(_sentence(text, match.start()))
            is_question = True
        elif cues.call.search(before):
            called.add(name.term)
        elif not _is_about_skills(name.term):
            subjects.add(name.term)
            out.append((name.start, name.end))
            is_work = True
    rest = _without(text, out)
    is_question = is_question and not analysis.STANDARD.terms(rest)
    return Mentions(
        text if is_question else rest, frozenset(called), frozenset(subjects), is_question, is_work
    )


def _is_about_skills(term: str) -> bool:
    return "skill" in term.removeprefix(EXACT_NAME).split()


def _sentence(text: str, at: int) -> tuple[int, int]:
    """Return where the sentence around a place starts and ends."""
    start = max((end.end() for end in _SENTENCE_END.finditer(text, 0, at)), default=0)
    end = _SENTENCE_END.search(text, at)
    return start, end.end() if end else len(text)


def _name_beside(
    text: str, skill: re.Match[str], start: int, known: Callable[[str], int], cues: _Cues
) -> _Name | None:
    """Return the name before the word "skill" or after it.

    One plain word is a name only after an article, or in a call: "review skills" names none.
    """
    words = list(_WORD.finditer(text, start, skill.start()))[-MAX_NAME_WORDS:]
    if words and not _PAUSE.search(text, words[-1].end(), skill.start()):
        for word in words:
            name = _known_name(text, word.start(), words[-1].end(), known, cues)
            if name is not None and (
                not text[name.start : name.end].isalpha()
                or cues.article.search(text, start, name.start)
                or cues.call.search(text, start, name.start)
            ):
                return name
    name = _name_after(text, skill.end(), known, cues)
    if name is None or not text[name.start : name.end].isalpha():
        return name
    return name if cues.call.search(text, start, skill.start()) else None


def _name_after(text: str, at: int, known: Callable[[str], int], cues: _Cues) -> _Name | None:
    """Return the longest name that begins here."""
    ends: list[int] = []
    start = end = at
    while len(ends) < MAX_NAME_WORDS and (word := _WORD.search(text, end)) is not None:
        if _PAUSE.search(text, end, word.start()):
            break
        start = start if ends else word.start()
        end = word.end()
        ends.append(end)
    names = (_known_name(text, start, end, known, cues) for end in reversed(ends))
    return next((name for name in names if name is not None), None)


def _known_name(
    text: str, start: int, end: int, known: Callable[[str], int], cues: _Cues
) -> _Name | None:
    """Return the name of a skill that the words are; none begins or ends with a function word."""
    words = text[start:end].split()
    if not all(analysis.STANDARD.terms(word) for word in (words[0], words[-1])):
        return None
    term = exact_name_term(text[start:end])
    if cues.host.fullmatch(text, start, end) or not known(term):
        return None
    return _Name(start, end, term)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    parts, last = [], 0
    for start, end in sorted(spans):
        if end > last:
            parts.append(text[last : max(start, last)])
            last = end
    return " ".join([*parts, text[last:]]) if parts else text
