"""Update a node's folder from its store, once or continuously."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

from skillyard.policy.places import find_policy
from skillyard.shapes.store import StoreSynced
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower
from skillyard.store.node.state import state_folder
from skillyard.store.node.syncing import sync
from skillyard.store.opening import open_store, safe_address

__all__ = ["store_follow", "store_sync"]

LOOK_S = 0.5
"""How often an interruption is looked for while nothing happens."""


def _folder(url: str, caller: str | None, folder: str) -> str:
    return os.path.abspath(folder or state_folder(safe_address(url), caller))


def _synced(
    url: str, folder: str, caller: str | None, catalog: NodeCatalog, began: float
) -> StoreSynced:
    return StoreSynced(
        store=safe_address(url),
        folder=folder,
        caller=caller,
        generation=catalog.position.generation,
        skills=catalog.counts.skills,
        segments=len(catalog.library.searcher.segments),
        bytes=_bytes(folder),
        seconds=round(time.monotonic() - began, 3),
    )


def _bytes(folder: str) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except OSError:  # a segment that was merged away meanwhile
                continue
    return total


def store_sync(
    url: str,
    *,
    caller: str | None = None,
    folder: str = "",
    jobs: int = 0,
    progress: Callable[[int, int], None] | None = None,
    profile: str | None = None,
) -> StoreSynced:
    """Update a node's folder to the store's last generation.

    ``folder`` is in the user's cache by default; ``jobs`` processes analyse, 0: one for each
    processor. ``progress`` is called with the number of skills copied and about how many there are.
    Skills that the policy of the working folder refuses, with ``profile``, are left out.
    Raises StoreFailed, SkillIoError, InvalidInput, UnknownName.
    """
    began = time.monotonic()
    policy = find_policy(None, profile)
    where = _folder(url, caller, folder)
    total = 0
    if progress is not None:
        with open_store(url, caller=caller, connections=1) as store:
            total = store.status().skills

    def tell(taken: int) -> None:
        if progress is not None:
            progress(taken, max(total, taken))

    jobs = jobs or os.cpu_count() or 1
    catalog = sync(url, where, caller=caller, jobs=jobs, progress=tell, policy=policy)
    return _synced(url, where, caller, catalog, began)


def store_follow(
    url: str,
    *,
    caller: str | None = None,
    folder: str = "",
    jobs: int = 0,
    profile: str | None = None,
) -> Iterator[StoreSynced | str]:
    """Follow a store until closed: yield each generation, and each failure as text.

    A repeated failure is yielded once; the follower continues by itself.
    """
    where = _folder(url, caller, folder)
    came: queue.SimpleQueue[NodeCatalog] = queue.SimpleQueue()
    began, failure = time.monotonic(), ""
    policy_now = partial(find_policy, None, profile)
    follower = Follower(
        url, where, caller=caller, listener=came.put, jobs=jobs, policy_now=policy_now
    )
    with closing(follower):
        follower.start()
        while True:
            try:
                catalog = came.get(timeout=LOOK_S)
            except queue.Empty:
                now = follower.following.failure
                if now != failure:
                    failure = now
                    if failure:
                        yield failure
                continue
            yield _synced(url, where, caller, catalog, began)
            began = time.monotonic()
