"""The input and output of a tool, and the state that all requests of one server share."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import Skill
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.snapshot import Snapshot

T = TypeVar("T")
CURSOR_CHARS = 4_000


class SharedState:
    """What all requests of one server share. Belongs to one event loop."""

    def __init__(self, context: AppContext, *, show_folders: bool = False) -> None:
        """``show_folders`` is True when clients run on this machine and may see folders."""
        self.context = context
        self.show_folders = show_folders
        self._follower = context.follower
        self._scorer = context.scorer

    def scorer_of(self, name: str | None) -> str:
        """Return the name of a scorer, or of the default one. Raises InvalidInput for an embedder.

        Embedders may cost money, so clients cannot choose them; the default one may have one.
        """
        if name is not None and "+" in name:
            raise InvalidInput("scorer must be a plain name, without an embedder")
        return name or self._scorer

    async def answer(self, work: Callable[[Snapshot], T]) -> T:
        """Return the result of ``work``, computed in a thread for a fresh snapshot.

        Raises the errors of ``work``, and Refused (503).
        """
        return await self.context.in_thread(work, await self._follower.fresh())


class ToolCall(NamedTuple):
    """One call of a tool."""

    shared: SharedState
    request: Any
    """The validated arguments: a value of the tool's class in :mod:`.requests`."""


class Answer(NamedTuple):
    """The result of a tool."""

    text: str
    """For a model."""
    structured: dict[str, Any]
    """The same as JSON, for a program."""


def origin_of(snapshot: Snapshot, skill: Skill) -> str:
    """Return the origin of a skill of the library as text, without the path of its root."""
    library = "catalog store" if skill.stored else "local library"
    where = f"{library}: {snapshot.path_below_root(skill.path)}" if skill.path else library
    return f"{where} (from {skill.source})" if skill.source not in (None, "", LOCAL) else where


def problem_of(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in one line, without a path."""
    where = f"line {diagnostic.line}: " if diagnostic.line is not None else ""
    return shorten(clean_line(where + diagnostic.message), 300)


def cursor_of(last: str) -> str:
    """Return the cursor of the page after an item. Opaque to clients."""
    return base64.urlsafe_b64encode(f"after {last}".encode()).decode("ascii")


def place_in(cursor: str | None) -> str | None:
    """Return the item before a page; None for the first page. Raises Refused."""
    if cursor is None:
        return None
    try:
        word, _, last = base64.b64decode(cursor, b"-_", validate=True).decode().partition(" ")
    except ValueError:
        word, last = "", ""
    if word != "after" or len(cursor) > CURSOR_CHARS:
        raise Refused(400, "bad_cursor", "cursor: not a cursor of this server")
    return last
