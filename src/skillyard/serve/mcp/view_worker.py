"""Computes answers from the newest view, and repeats them when a file was removed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

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
QUICK_S = 0.005
"""Seconds: a ranking that was faster the last time runs on the loop, because switching to a thread
costs more than it would delay others."""
RETRIES = 3
"""How often an answer is recomputed because a file that it shows was removed."""


class ViewWorker:
    """Belongs to one event loop, that of the context's follower."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._follower = context.follower
        self._last_took: dict[str, float] = {}
        """Seconds that each kind of ranking took the last time."""

    async def prepare(self, report: Progress | None = None) -> None:
        """Wait for the first view, and report the progress of indexing a large library.

        Without ``report``, such an index is not waited for.
        """
        refresh = self._follower.refresh()
        while not refresh.done():
            await asyncio.wait({refresh}, timeout=freshness.PATIENCE_S)
            index = self._follower.building
            if index is not None and index.total:
                if report is None:
                    return
                words = f"making the index: {index.done:,} of {index.total:,} files"
                await report(min(index.done / index.total, MAX_REPORTED_SHARE), 1.0, words)

    async def answer(self, work: Work[T], *, ranking: str = "") -> T:
        """Return the result of ``work`` for a fresh view; in a thread, unless it is quick.

        ``ranking`` is the kind of ranking, empty for none; rankings of one kind take about as long.
        When the file of a skill in the result was removed, the files are checked and the work is
        repeated, at last on a view without the removed skills. Raises the errors of ``work``, and
        Refused (503).
        """
        view = await self._follower.fresh()
        for _ in range(RETRIES):
            outcome = await self._work_out(work, view, ranking)
            if not outcome.missing:
                return outcome.result
            view = await self._view_without(view, outcome.missing, ranking)
        return (await self._work_out(work, view, ranking)).result

    async def _view_without(self, view: View, missing: frozenset[str], ranking: str) -> View:
        """Return the newest view after checking the files, without the removed skills."""
        follower = self._follower
        if len(view.files) > freshness.LARGE_LIBRARY and not ranking:
            follower.refresh()  # the running one may end later
            return await self._context.in_thread(without_skills, view, missing)
        await asyncio.wait({follower.refresh()})
        if ranking:  # according to the files now
            await follower.wait_until_idle()
        view = follower.view or view
        if missing & {skill.path for skill in view.catalog}:  # its whole root was removed
            view = await self._context.in_thread(without_skills, view, missing)
        return view

    async def _work_out(self, work: Work[T], view: View, ranking: str) -> _Outcome[T]:
        quick = ranking and self._last_took.get(ranking, QUICK_S) < QUICK_S
        # A thread that reads files would wait long for the GIL of a busy loop.
        if quick and not self._context.working:
            outcome = _work_out(work, view)
        else:
            outcome = await self._context.in_thread(_work_out, work, view)
        if ranking:
            self._last_took[ranking] = outcome.took_s
        return outcome


class _Outcome(NamedTuple, Generic[T]):
    result: T
    missing: frozenset[str]
    """The paths of the skills in the result whose files were removed."""
    took_s: float


def _work_out(work: Work[T], view: View) -> _Outcome[T]:
    began = time.perf_counter()
    result, skills = work(view)
    paths = (skill.path for skill in skills if skill.path and not skill.stored)
    missing = frozenset(path for path in paths if not os.path.lexists(path))
    return _Outcome(result, missing, time.perf_counter() - began)
