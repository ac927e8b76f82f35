"""Selects by a scorer with an embedder as long as the time limit of the hook allows.

Loading a model, or a server on another machine, may take longer than a prompt may wait. The work
runs in a thread that is left alone when its time is over, because nothing can interrupt it. The
selection by ``hybrid`` is made meanwhile, so that it is ready then.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from skillyard.base.errors import EmbedderFailed, InvalidInput, SkillIoError
from skillyard.engine.embedding.cache import refuse_missing
from skillyard.engine.ranking.registry import bind, default_scorer, resolve
from skillyard.engine.selection import Selection, SelectionPolicy, select

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.ranking.query import Query
    from skillyard.hosts.hook.prompt import PromptBudget

RESERVE_S = 0.1
"""Seconds left for the rest of an answer: whether the skill may be used, and its text."""
THREAD = "skillyard-hook-embedder"


def select_in_time(
    catalog: Catalog, query: Query, policy: SelectionPolicy, budget: PromptBudget
) -> tuple[Selection, str]:
    """Return the selection by the default scorer, or that by ``hybrid`` and the reason."""
    future: Future[Selection] = Future()

    def work() -> None:
        try:
            future.set_result(_select_by_default(catalog, query, policy))
        except Exception as error:  # noqa: BLE001 - raised again in the thread of the hook
            future.set_exception(error)

    threading.Thread(target=work, name=THREAD, daemon=True).start()
    selection = select(catalog, query, policy)
    try:
        return future.result(max(0.0, budget.remaining_s() - RESERVE_S)), ""
    except TimeoutError:
        milliseconds = budget.milliseconds
        return selection, f"its embedder needs more than the time limit of {milliseconds} ms leaves"
    except (InvalidInput, EmbedderFailed, SkillIoError) as error:
        return selection, str(error)


def _select_by_default(catalog: Catalog, query: Query, policy: SelectionPolicy) -> Selection:
    scorer = default_scorer()
    bind(catalog, resolve(scorer), refuse_missing(scorer))
    try:
        return select(catalog, query, policy, scorer)
    except EmbedderFailed as error:
        # What another package says may repeat the prompt, which is never logged.
        raise InvalidInput(f"{type(error).__name__} of {error.embedder}") from None


def end_process_beside_thread() -> None:
    """End the process with exit code 0 when a selection still runs; else do nothing.

    The interpreter would end while the thread is inside a model, which may crash.
    """
    if any(thread.name == THREAD for thread in threading.enumerate()):
        os._exit(0)
