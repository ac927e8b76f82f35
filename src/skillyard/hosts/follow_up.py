"""Follow-ups: which skill a conversation goes on with when a message alone fits none.

"semicolon" after "clean this csv" belongs to the same task. The words of such a message say nothing
of a skill, so its form decides: it is short, an answer, or refers to what was said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillyard.engine.selection import Selection
    from skillyard.engine.skill import Skill

MAX_TURNS = 8
"""Messages in a row that keep a skill without naming it. A change of subject that the words do not
show costs at most so many reminders; a longer task is sure to speak of its subject in between."""
_MAX_WORDS = 12
"""Words of a follow-up. A longer message says by itself what it is about."""
_MAX_FRAGMENT = 6
"""Words of a message with a single word of content, such as "with the second one"."""
_MAX_TEXTS = 32
_BYTES_A_WORD = 12
"""A message has a word for so many bytes at least: not every script puts blanks between words."""


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENINGS = _words_of("""
    yes yeah yep no nope ok okay sure and but or so also then now only instead without except
    ja nein doch und aber oder oui non si et mais ou sí y pero o não sim e mas ma tak nie da
    はい いいえ да нет и но""")
"""Answers, and words that join a message to the one before."""
_REFERRING = _words_of("""
    other another same second third last previous next rest again instead also too else both
    this that these those them they one ones above remaining now still
    andere anderen anderes gleiche nochmal jetzt zweite dritte letzte diese dieser dieses
    autre autres même encore maintenant aussi otro otra mismo ahora también outro outra agora altro
    altra ancora adesso""")
_QUESTIONS = _words_of("""
    what who whom when where which how is are was were do does did will would could should can am
    has have""")
_CHATTER = _words_of("""
    hello hi hey thanks thank thx bye goodbye morning evening night good great awesome cool nice
    perfect excellent wow lol haha love welcome sorry joke done danke hallo tschüss merci bonjour
    salut gracias hola adiós obrigado olá grazie ciao 谢谢 ありがとう спасибо""")
_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*")


class Memory(NamedTuple):
    """What a conversation has of skills: that of its task, and the texts that stand in it."""

    name: str = ""
    """Of the task's skill; empty without one."""
    path: str = ""
    """The same. Its content may change, and with that its id."""
    turns: int = 0
    """Messages since it was chosen."""
    texts: tuple[str, ...] = ()
    """The hash of each skill whose text the model has."""

    def is_of(self, skill: Skill) -> bool:
        """True for the skill of the task."""
        return (self.name, self.path) == (skill.name, skill.path)

    def begin(self, skill: Skill) -> Memory:
        """Return the memory with the task of a skill."""
        return Memory(skill.name, skill.path, texts=self.texts)

    def end(self) -> Memory:
        """Return the memory without a task."""
        return Memory(texts=self.texts)

    def with_text(self, skill: Skill) -> Memory:
        """Return the memory after the model was given the text of a skill."""
        others = (each for each in self.texts if each != skill.hash)
        return self._replace(texts=(*others, skill.hash)[-_MAX_TEXTS:])


def follow_up(memory: Memory, request: str, selection: Selection) -> tuple[Memory, bool]:
    """Return the memory after a message, and whether the skill of the task serves the message.

    ``memory`` is that of the message before, ``selection`` what fits the new message alone.
    """
    best = selection.best
    if best is not None and not selection.fallback:
        return memory.begin(best.skill), True
    if memory.name and memory.turns < MAX_TURNS:
        going_on = memory._replace(turns=memory.turns + 1)
        if any(memory.is_of(match.skill) for match in selection.maybe):
            return going_on, True
        words = _words(request)
        if _is_chatter(words):
            return going_on, False
        if _goes_on(request, words):
            return going_on, True
    return (memory.end(), False) if best is None else (memory.begin(best.skill), True)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[: _BYTES_A_WORD * _MAX_WORDS].casefold())


def _is_chatter(words: list[str]) -> bool:
    content = _content(words)
    return any(word in _CHATTER for word in words) and _CHATTER.issuperset(content)


def _goes_on(request: str, words: list[str]) -> bool:
    """True for an answer, a fragment, or a message that refers to something said before."""
    count = max(len(words), len(request.strip().encode("utf-8", "replace")) // _BYTES_A_WORD)
    if not words or count > _MAX_WORDS:
        return False
    if count <= 2 or words[0] in _OPENINGS or not _REFERRING.isdisjoint(words):
        return True
    if words[0] in _QUESTIONS:
        return words[1:2] == ["about"]
    return count <= _MAX_FRAGMENT and len(_content(words)) <= 1


def _content(words: list[str]) -> list[str]:
    """Return the words that are no function words of any language."""
    from skillyard.engine.analysis.analyzer import ENGLISH
    from skillyard.engine.analysis.language import FUNCTION_WORDS  # deferred: for follow-ups only

    known = (ENGLISH, *FUNCTION_WORDS.values())
    return [word for word in words if not any(word in language for language in known)]
