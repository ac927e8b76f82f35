"""What was asked: everything that any scorer may look at."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillyard.arguments import check_arguments
from skillyard.errors import InvalidInput
from skillyard.skill import Skill
from skillyard.value import Value, put

__all__ = ["Query", "invokes"]


@check_arguments
class Query(Value):
    """One request. A scorer ignores what it does not use. Raises InvalidInput for wrong types."""

    __slots__ = (
        *("text", "files", "recent_activity"),
        *("include_tags", "exclude_tags", "include_references"),
    )

    text: str
    files: tuple[str, ...]
    """Paths in play, as the caller writes them; compared with ``triggers.files``, never opened."""
    recent_activity: tuple[str, ...]
    include_tags: tuple[str, ...]
    """Keep only skills with at least one of these tags (whole tag, ASCII case ignored)."""
    exclude_tags: tuple[str, ...]
    include_references: bool

    def __init__(
        self,
        text: str = "",
        files: Iterable[str] | None = (),
        recent_activity: Iterable[str] | None = (),
        include_tags: Iterable[str] | None = (),
        exclude_tags: Iterable[str] | None = (),
        include_references: bool = False,
    ) -> None:
        put(self, "text", text)
        put(self, "files", text_items("files", files))
        put(self, "recent_activity", text_items("recent_activity", recent_activity))
        put(self, "include_tags", text_items("include_tags", include_tags))
        put(self, "exclude_tags", text_items("exclude_tags", exclude_tags))
        put(self, "include_references", include_references)

    @property
    def empty(self) -> bool:
        """True when there is neither text nor a file to look at."""
        return not self.text.strip() and not self.files


def text_items(field: str, value: Iterable[str] | None) -> tuple[str, ...]:
    """Return ``value`` as a tuple of strings; None is empty. Raises InvalidInput otherwise."""
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{field} must be a list of strings, not {type(value).__name__}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise InvalidInput(f"{field} must hold strings, not {type(item).__name__}")
    return tuple(sorted(items)) if isinstance(value, set | frozenset) else items


_AFTER_NAME = " \t\r\n,.;:!?)]}\"'"
_CALL = r"""(?:^|(?<=[\s(\[{"']))[@/](\S{1,300})"""


def called_words(text: str) -> frozenset[str]:
    """Return the first words of all that the text may call by ``@`` or ``/``, case folded.

    Each word stands whole and cut before each punctuation mark, since a name may hold some.
    """
    if "@" not in text and "/" not in text:
        return frozenset()
    words = set()
    for word in {call.casefold() for call in re.findall(_CALL, text)}:
        words.add(word)
        words.update(word[:end] for end, char in enumerate(word) if char in _AFTER_NAME)
    return frozenset(words)


def invokes(text: str, skill: Skill, called: frozenset[str] | None = None) -> bool:
    """True when the text calls the skill by ``@name`` or ``/name`` (name or slug, case ignored).

    The sign must start the text or follow a blank or an opening bracket, and the name must end at
    a blank, at punctuation or at the end, so that a path or a mail address calls nothing.
    ``called`` is ``called_words(text)`` where many skills are asked about.
    """
    words = called_words(text) if called is None else called
    names = {skill.name.casefold(), skill.slug.casefold()}
    names = {name for name in names if name.split(None, 1)[:1] and name.split(None, 1)[0] in words}
    if not names:
        return False
    folded = text.casefold()
    return any(_called(folded, sign + name) for name in names for sign in "@/")


def _called(text: str, call: str) -> bool:
    start = text.find(call)
    while start >= 0:
        end = start + len(call)
        opens = start == 0 or text[start - 1] in " \t\r\n([{\"'"
        if opens and (end == len(text) or text[end] in _AFTER_NAME):
            return True
        start = text.find(call, start + 1)
    return False
