"""Selects by a scorer with an embedder as long as the time limit of the hook allows.

Loading a model, or a server on another machine, may take longer than a prompt may wait. The work
runs in a thread that is left alone when its time is over, because nothing can interrupt it. The
selection by ``hybrid`` is made meanwhile, so that it is ready then.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

from skillyard.base.errors import EmbedderFailed, InvalidInput, SkillIoError
from skillyard.engine.ranking.registry import bind, default_scorer, resolve
from skillyard.engine.selection import Selection, SelectionPolicy, select

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.ranking.query import Query
    from skillyard.hosts.hook.budget import Budget

RESERVE_S = 0.1
"""Seconds left for the rest of an answer: whether the skill may be used, and its text."""
THREAD = "skillyard-hook-embedder"


class _TimedSelection(threading.Thread):
    """The selection by the default scorer, or the reason why there is none."""

    def __init__(self, catalog: Catalog, query: Query, policy: SelectionPolicy) -> None:
        super().__init__(name=THREAD, daemon=True)
        self._work = catalog, query, policy
        self.selection: Selection | None = None
        self.why = ""
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._select()
        except Exception as error:  # noqa: BLE001 - raised again in the thread of the hook
            self.error = error

    def _select(self) -> None:
        from skillyard.engine.embedding.cache import refuse_missing

        catalog, query, policy = self._work
        try:
            scorer = default_scorer()
            bind(catalog, resolve(scorer), refuse_missing(scorer))
        except (InvalidInput, EmbedderFailed, SkillIoError) as error:
            self.why = str(error)
            return
        try:
            self.selection = select(catalog, query, policy, scorer)
        except EmbedderFailed as error:
            # What another package says may repeat the prompt, which is never logged.
            self.why = f"{type(error).__name__} of {error.embedder}"


def select_in_time(
    catalog: Catalog, query: Query, policy: SelectionPolicy, budget: Budget
) -> tuple[Selection, str]:
    """Return the selection by the default scorer, or that by ``hybrid`` and the reason."""
    late = f"its embedder needs more than the time limit of {budget.milliseconds} ms leaves"
    if budget.remaining_s() <= RESERVE_S:
        return select(catalog, query, policy), late
    thread = _TimedSelection(catalog, query, policy)
    thread.start()
    selection = select(catalog, query, policy)
    thread.join(max(0.0, budget.remaining_s() - RESERVE_S))
    if thread.is_alive():
        return selection, late
    if thread.error is not None:
        raise thread.error
    return selection if thread.selection is None else thread.selection, thread.why


def end_process_beside_thread() -> None:
    """End the process with exit code 0 when a selection still runs; else do nothing.

    The interpreter would end while the thread is inside a model, which may crash.
    """
    if any(thread.name == THREAD for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                continue
        os._exit(0)
