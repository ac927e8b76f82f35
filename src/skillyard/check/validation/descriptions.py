"""Judges descriptions: what a skill does, when to use it, in words of requests, in third person.

Source: the advice of agentskills.io and of hosts to authors. A description is all that a model sees
of a skill before it is chosen. Whether it is good cannot be computed; these rules find descriptions
that say next to nothing, and are silent otherwise.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from itertools import islice

from skillyard.base.text import clean_line, shorten
from skillyard.check.markdown import prose_lines

_MIN_WORDS = 3
"""Of 300 public skills drawn at random, 1 % have fewer words; of 391 of 13 well-kept ones, none."""
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
_WORDS = tomllib.loads(files(__package__).joinpath("data", "words.toml").read_text("utf-8"))
_FUNCTION_WORDS, _GENERIC, _USUAL = (
    frozenset(_WORDS[where].split()) for where in ("function", "generic", "headings")
)
_WHEN = re.compile(
    r"\b(?:when\w*|if|before|after|while|during|trigger\w*|invoke\w*|activat\w+|ask\w*|mention\w*"
    r"|says?|request\w*|wants?|need\w*|use[ds]?|using|useful|ideal|suitable)\b"
    r"|\bfor\s(?:any|every|all|questions|tasks|users|\w+ing)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:the|and|of|with|from|to|in|for)\b", re.IGNORECASE)
_QUOTED = re.compile("\"[^\"]{0,300}\"|“[^”]{0,300}”|(?<!\\w)'[^']{2,300}'(?!\\w)|「[^」]{0,300}」")
_PERSON = re.compile(
    r"(?:\A|[.!>:]\s{1,2})(?:(?:I|We|You)\s(?:can|will|am|are|help|do|create|use|make|have|provide)\b"
    r"|(?:I['’](?:m|ll|ve)|We['’](?:re|ll)|You['’]re)\b)|\byou\scan\suse\sthis\b"
)
"""At the start of a sentence: phrases of users are in the first person as well."""
_HEADING = re.compile(
    r"(#{1,3})[ \t]+(?:(?:Step\s|Phase\s|Part\s)?\d{1,2}\w?[.:)]\s{0,3})?([^\n#]{3,200})"
)
_MAX_HEADINGS = 50
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z]+\b)")


def words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without function words.

    Chinese, Japanese and Korean text is split into character bigrams.
    """
    terms: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _CJK.search(word):
            terms.add(word)
        else:
            terms.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(terms - _FUNCTION_WORDS)


def is_vague(description: str, name: str = "") -> bool:
    """True for a description with next to no word that a request may have, beside its name."""
    telling = words(description) - _GENERIC
    return len(telling) < _MIN_WORDS or telling <= words(name)


def says_when(description: str) -> bool:
    """True for a description with a word that says when to use the skill, or not in English."""
    is_english = _ENGLISH.search(description) is not None
    return not is_english or _WHEN.search(description) is not None


def person_of(description: str) -> str:
    """Return the words in which a description speaks of ``I`` or to ``you``, empty without any."""
    match = _PERSON.search(_QUOTED.sub(" ", description))
    return match[0].strip(" .!>") if match is not None else ""


def description_from(body: str, *, from_prose: bool) -> str:
    """Return a description from the first headings of a body, else ``from_prose``."""
    title = ""
    parts: list[str] = []
    lines = prose_lines(body, keeps_spans=True)
    headings = filter(None, map(_HEADING.match, lines))
    for match in islice(headings, _MAX_HEADINGS):
        text = shorten(clean_line(match[2]).strip(" *_:"), 60)
        if len(match[1]) == 1 and not title:
            title = text
        elif len(parts) < 3 and len(words(text) - _GENERIC - _USUAL) > 1:
            parts.append(_CAPITAL.sub(lambda letter: letter[0].lower(), text))
    telling = (each for each in lines if each[:1].isalpha() and not is_vague(each))
    if from_prose and not parts and (sentence := next(telling, "")):
        title, parts = "", [shorten(clean_line(re.split(r"[.!?:](?:\s|$)", sentence)[0]), 120)]
    about = f"{title}: " if title else ""
    return f"{about}{', '.join(parts)}. Use when somebody asks for this." if parts else ""
