"""The input and output of a tool, and the state that all requests of one server share."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import Skill
from skillyard.serve.runtime import freshness
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.default_scorer import service_scorer
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.view import View, without_skills

T = TypeVar("T")
Work = Callable[[View], tuple[T, Iterable[Skill]]]
"""Computes a result from a view, and returns the skills that the result shows."""
Progress = Callable[[float, float, str], Awaitable[None]]
"""Reports progress to a client: done, total, message."""

MAX_REPORTED_SHARE = 0.99
"""The share of the work that is reported while it runs; the answer reports the rest."""
RETRIES = 3
"""How often an answer is recomputed because a file that it shows was removed."""


class SharedState:
    """What all requests of one server share. Belongs to one event loop."""

    def __init__(self, context: AppContext, *, show_folders: bool = False) -> None:
        """``show_folders`` is True when clients run on this machine and may see folders."""
        self.context = context
        self.show_folders = show_folders
        self._follower = context.follower
        self._scorer = service_scorer()

    def scorer_of(self, name: str | None) -> str:
        """Return the name of a scorer, or of the default one. Raises InvalidInput for an embedder.

        Embedders may cost money, so clients cannot choose them; the default one may have one.
        """
        if name is not None and "+" in name:
            raise InvalidInput("scorer must be a plain name, without an embedder")
        return name or self._scorer

    async def prepare(self, report: Progress) -> None:
        """Wait for the first view, and report the progress of indexing a large library."""
        refresh = self._follower.refresh()
        while not refresh.done():
            await asyncio.wait({refresh}, timeout=freshness.PATIENCE_S)
            index = self._follower.building
            if index is not None and index.total:
                words = f"making the index: {index.done:,} of {index.total:,} files"
                await report(min(index.done / index.total, MAX_REPORTED_SHARE), 1.0, words)

    async def answer(self, work: Work[T]) -> T:
        """Return the result of ``work``, computed in a thread for a fresh view.

        When the file of a skill in the result was removed, the files are checked and the work is
        repeated, at last on a view without the removed skills. Raises the errors of ``work``, and
        Refused (503).
        """
        view = await self._follower.fresh()
        for left in reversed(range(RETRIES + 1)):
            outcome: tuple[T, frozenset[str]] = await self.context.in_thread(_work_out, work, view)
            result, missing = outcome
            if not missing or not left:
                break
            view = await self._view_without(view, missing)
        return result

    async def _view_without(self, view: View, missing: frozenset[str]) -> View:
        """Return the newest view after checking the files, without the removed skills."""
        await asyncio.wait({self._follower.refresh()})
        view = self._follower.view or view
        if missing & {skill.path for skill in view.catalog}:  # its whole root was removed
            view = await self.context.in_thread(without_skills, view, missing)
        return view


def _work_out(work: Work[T], view: View) -> tuple[T, frozenset[str]]:
    """Return the result, and the paths of the skills in it whose files were removed."""
    result, skills = work(view)
    paths = (skill.path for skill in skills if skill.path and not skill.stored)
    return result, frozenset(path for path in paths if not os.path.lexists(path))


class Call(NamedTuple):
    """One call of a tool."""

    shared: SharedState
    request: Any
    """The validated arguments: a value of the tool's class in :mod:`.requests`."""
    progress: Progress
    """Reports progress to the client: done, total, message."""


class Answer(NamedTuple):
    """The result of a tool."""

    text: str
    """For a model."""
    structured: dict[str, Any]
    """The same as JSON, for a program."""
    skills: Iterable[Skill] = ()
    """The skills of the library that it shows."""


def origin_of(view: View, skill: Skill) -> str:
    """Return the origin of a skill of the library as text, without the path of its root."""
    library = "catalog store" if skill.stored else "local library"
    where = f"{library}: {view.path_below_root(skill.path)}" if skill.path else library
    return f"{where} (from {skill.source})" if skill.source not in (None, "", LOCAL) else where


def notice_of(view: View, skill: Skill) -> str:
    """Return the notice for a skill that is served although its file is broken; else empty."""
    error = view.last_good.get(skill.path)
    if error is None:
        return ""
    what = problem_of(error)
    return f"The file does not load since its last edit ({what}); this is the version before it."


def problem_of(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in one line, without a path."""
    where = f"line {diagnostic.line}: " if diagnostic.line is not None else ""
    return shorten(clean_line(where + diagnostic.message), 300)


def cursor_of(last: str) -> str:
    """Return the cursor of the page after an item. Opaque to clients."""
    return base64.urlsafe_b64encode(json.dumps({"after": last}).encode()).decode("ascii")


def place_in(cursor: str | None) -> str | None:
    """Return the item before a page; None for the first page. Raises ValueError."""
    if cursor is None:
        return None
    if not cursor.isascii() or len(cursor) > 4_000:
        raise ValueError("not a cursor of this server")
    try:
        decoded = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise ValueError("not a cursor of this server") from None
    if (
        not isinstance(decoded, dict)
        or not isinstance(decoded.get("after"), str)
        or len(decoded) != 1
    ):
        raise ValueError("not a cursor of this server")
    return str(decoded["after"])
