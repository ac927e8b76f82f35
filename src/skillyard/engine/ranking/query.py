"""The query: all input that a scorer may use."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from skillyard.base.arguments import Texts, conversion, set_field, text_items
from skillyard.base.shapes import matches as shapes
from skillyard.engine.skill import Skill


@dataclass(frozen=True, slots=True)
class Query:
    """One request. Each scorer uses some of the fields. Raises InvalidInput for wrong types."""

    text: str = ""
    files: Texts = conversion(())
    """Paths of the current files, as the caller writes them; compared with ``triggers.files``,
    never opened."""
    recent_activity: Texts = conversion(())
    include_tags: Texts = conversion(())
    """Only skills with at least one of these tags are ranked (whole tag, ASCII case ignored)."""
    exclude_tags: Texts = conversion(())
    include_references: bool = False
    feedback: tuple[SkillFeedback, ...] = ()
    """What the user said about skills for earlier requests; ``hybrid`` counts it for similar
    ones."""
    tools: Texts = conversion(())
    """Names of the tools that the caller has. When there are none, the tools that skills require
    are not checked."""

    def __post_init__(self) -> None:
        for name in ("files", "recent_activity", "include_tags", "exclude_tags", "tools"):
            if (value := getattr(self, name)) != ():
                set_field(self, name, text_items(name, value))

    def document(self) -> shapes.QueryDocument:
        """Return the query as a document shows it."""
        return shapes.QueryDocument(
            text=self.text,
            files=self.files,
            recent_activity=self.recent_activity,
            include_tags=self.include_tags,
            exclude_tags=self.exclude_tags,
            include_references=self.include_references,
            tools=self.tools,
        )

    def replace(self, **changes: Any) -> Query:
        """Return a copy with the named fields changed. Raises TypeError for an unknown one."""
        return replace(self, **changes)

    @property
    def empty(self) -> bool:
        """True when there is neither text nor a file."""
        return not self.text.strip() and not self.files


_AFTER_NAME = " \t\r\n,.;:!?)]}\"'"
_CALL = r"""(?:^|(?<=[\s(\[{"']))[@/](\S{1,300})"""
_SIGN = re.compile(r"""(?:^|[\s(\[{"'])[@/]([\w.-]{1,100}:)?$""")
_MAX_SIGN_CHARS = 103


def called_words(text: str) -> frozenset[str]:
    """Return the first words of all names that the text may call by ``@`` or ``/``, case folded.

    Each word is included whole and cut before each punctuation mark, because names may contain
    some; and also without a plugin before it (``/plugin:name``).
    """
    if "@" not in text and "/" not in text:
        return frozenset()
    words = set()
    calls = {call.casefold() for call in re.findall(_CALL, text)}
    for word in calls | {call.partition(":")[2] for call in calls} - {""}:
        words.add(word)
        words.update(word[:end] for end, char in enumerate(word) if char in _AFTER_NAME)
    return frozenset(words)


def invokes(text: str, skill: Skill, called: frozenset[str] | None = None) -> bool:
    """True when the text calls the skill by ``@name`` or ``/name`` (name or slug, case ignored).

    The sign must start the text or follow a blank or an opening bracket, and the name must end at a
    blank, at punctuation or at the end, so that a path or a mail address calls nothing.
    ``/plugin:name`` calls a skill that is not hidden. ``called`` is ``called_words(text)``,
    computed once for many skills.
    """
    words = called_words(text) if called is None else called
    names = {skill.name.casefold(), skill.slug.casefold()}
    names = {name for name in names if name.split(None, 1)[:1] and name.split(None, 1)[0] in words}
    if not names:
        return False
    folded = text.casefold()
    return any(_has_call(folded, name, is_hidden=skill.hidden) for name in names)


def _has_call(text: str, name: str, *, is_hidden: bool) -> bool:
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if end == len(text) or text[end] in _AFTER_NAME:
            sign = _SIGN.search(text, max(0, start - _MAX_SIGN_CHARS), start)
            if sign is not None and not (is_hidden and sign[1]):
                return True
        start = text.find(name, start + 1)
    return False


class Mentions(NamedTuple):
    """What a text says of skills, and the text without that."""

    text: str = ""
    """The text without its questions about skills and without the names that it works on."""
    called: frozenset[str] = frozenset()
    """Facet terms of the names of skills that it calls."""
    subjects: frozenset[str] = frozenset()
    """Facet terms of the names of skills that it asks about or works on."""
    is_question: bool = False
    """True when it asks about skills, and nothing else."""
    is_work: bool = False
    """True when it works on skills."""


class SkillFeedback(NamedTuple):
    """A judgement on one skill for one request. Raises InvalidInput for wrong types."""

    slug: str
    """The slug of the skill: feedback stays when its content changes."""
    request: str
    """The request; the judgement counts for similar ones."""
    right: bool
    """False when the skill was wrong for the request."""
    from_client: bool = False
    """True when a client of a server said so, whose judgements count less."""
