"""Computes answers from the newest view, and repeats them when a file was removed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from skillyard.engine.skill import Skill
from skillyard.serve.runtime import freshness
from skillyard.serve.runtime.app_context import AppContext
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


class ViewWorker:
    """Belongs to one event loop, that of the context's follower."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._follower = context.follower

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
            outcome: tuple[T, frozenset[str]] = await self._context.in_thread(_work_out, work, view)
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
            view = await self._context.in_thread(without_skills, view, missing)
        return view


def _work_out(work: Work[T], view: View) -> tuple[T, frozenset[str]]:
    """Return the result, and the paths of the skills in it whose files were removed."""
    result, skills = work(view)
    paths = (skill.path for skill in skills if skill.path and not skill.stored)
    return result, frozenset(path for path in paths if not os.path.lexists(path))
