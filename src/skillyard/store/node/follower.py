"""A thread that follows a store, and the catalog of the generation it has reached."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Self

from skillyard.base.errors import IndexDamaged, SkillIoError, StoreFailed
from skillyard.base.io.locks import Closeable
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.token_table import bundled_table
from skillyard.store.identifiers import checked_words
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.generation_builder import MAX_CHANGES, MAX_REWRITTEN, apply, is_little
from skillyard.store.node.library import NodeLibrary
from skillyard.store.node.rebuild_process import RebuildProcess
from skillyard.store.node.records import path_of
from skillyard.store.node.state import NodeState, position_in
from skillyard.store.opening import check_kind, login_of, open_store, safe_address
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import START, Changes

LISTEN_S = 0.5
"""Seconds of one call of ``listen``; the connection stays open."""
VERIFY_S = 2.0
"""After this time without a change the stamp of the generation is checked: a failover or a restored
backup may have given its number to another generation."""
ASK_S = 10.0
"""Time limit for requests to the store in this thread, which are small. Large ones run in another
process."""
END_S = 5.0
"""Seconds that ``close`` waits for the store's response. After that the thread ends by itself."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
"""Seconds between two attempts while the store is down: doubled from the first to the last
value."""


@dataclass(frozen=True, slots=True)
class Following:
    """The state of a node in relation to its store."""

    store: str
    """The address of the store, without credentials."""
    generation: int
    """The generation that the node answers from; 0 before the first."""
    skills: int
    head: int
    """The last known generation of the store."""
    age_s: float | None
    """Seconds since the store last confirmed that there is nothing newer; None: never."""
    failure: str
    """The error of the last request to the store; empty without one."""
    taken: int
    """Skills copied so far by the running rebuild; 0 when none runs."""


class Follower(Closeable):
    """Follows a store as one caller sees it, with its index in a local folder.

    ``listener`` is called in the follower's thread with each new catalog. ``troubled`` is called
    with the current problem when it changes, and with an empty text when it is solved. Use as a
    context manager, or :meth:`close` it.
    """

    def __init__(
        self,
        url: str,
        folder: str,
        *,
        caller: str | None = None,
        listener: Callable[[NodeCatalog], None] = lambda catalog: None,
        troubled: Callable[[str], None] = lambda failure: None,
        clock: Callable[[], float] = time.monotonic,
        policy_now: Callable[[], Admission | None] = lambda: None,
    ) -> None:
        """Open the catalog in the folder, if any.

        ``policy_now`` returns the policy whose refused skills are left out. It is asked every few
        seconds; while it raises, the node stays at its generation.

        Raises UnknownName, InvalidInput for an invalid address or caller, and SkillIoError when the
        folder cannot be used or another process updates it.
        """
        check_kind(url)
        if caller is not None:
            checked_words("caller", caller)
        self.address = safe_address(url)
        self._url = url
        self._caller = caller
        self._policy_now = policy_now
        self._state = NodeState(folder, caller, login_of(url), policy_now())
        self._lock = self._state.lock()
        self._listener = listener
        self._troubled = troubled
        self._clock = clock
        self._rebuild_process = RebuildProcess(
            url, caller, self._state, min(4, os.cpu_count() or 1)
        )
        self._store: CatalogStore | None = None
        self._catalog: NodeCatalog | None = None
        self._position = START
        self._overdue = False
        self._anew = False
        """True when the index is damaged, or of another policy; the next one must not be built from
        it."""
        self._policy_at = clock()
        """When the policy was last asked for."""
        self._head = 0
        self._checked_at: float | None = None
        """When the store last confirmed that there was nothing newer."""
        self._verified = 0.0
        """When the store last confirmed the stamp of this generation, not only its number."""
        self._failure = ""
        self._ending = Event()
        self._ready = Event()
        self._releasing = Lock()
        try:
            self._open()
        except IndexDamaged as error:  # everything is fetched again
            self._anew = True
            self._set_failure(str(error))
        except BaseException:
            self._lock.close()
            raise
        self._thread = Thread(target=self._run, name="skillyard-follower", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def catalog(self) -> NodeCatalog | None:
        """The newest generation; None before the first."""
        return self._catalog

    def wait(self, timeout_s: float | None = None) -> NodeCatalog | None:
        """Return the catalog as soon as there is one; None after the timeout."""
        self._ready.wait(timeout_s)
        return self._catalog

    @property
    def following(self) -> Following:
        """Return the current state."""
        catalog = self._catalog
        return Following(
            self.address,
            self._position.generation,
            0 if catalog is None else catalog.counts.skills,
            max(self._head, self._position.generation),
            self._since(self._checked_at),
            self._failure,
            self._rebuild_process.copied,
        )

    def age_s(self, catalog: NodeCatalog) -> float | None:
        """Return the seconds since the store last confirmed that a catalog is of its newest.

        An answer that started before the newest generation arrived comes from the one before. None
        when it was never confirmed.
        """
        return self._since(catalog.confirmed_at)

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else max(0.0, self._clock() - moment)

    def close(self) -> None:
        """Stop following; the catalog stays usable. Idempotent.

        When the store does not respond at the moment, the folder is released once it does, or when
        this process ends.
        """
        self._ending.set()
        self._rebuild_process.end()
        if self._thread.is_alive():
            self._thread.join(END_S)
        if not self._thread.is_alive():
            self._release()

    def _release(self) -> None:
        with self._releasing:
            store, self._store = self._store, None
            if store is not None:
                store.close()
            self._lock.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def _open(self, touched: frozenset[str] | None = None) -> bool:
        """Open the index in the folder, pass its catalog to the listener, then make it the newest.

        Returns False when the folder contains no usable index. Raises IndexDamaged, SkillIoError,
        and the errors of the listener; the previous catalog then stays.
        """
        # File names contain the content hash, also those of damaged files.
        before = None if self._catalog is None or self._anew else self._catalog.library
        searcher = self._state.open(None if before is None else before.searcher)
        if searcher is None:
            return False
        library = NodeLibrary(searcher, bundled_table(), before)
        position = position_in(searcher)
        catalog = NodeCatalog(library, position, self._position, touched)
        # Until it is confirmed itself, it has the age of the previous one.
        catalog.confirmed_at = self._checked_at
        self._listener(catalog)
        self._catalog, self._position = catalog, position
        self._ready.set()
        return True

    def _run(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._ending.is_set():
            try:
                self._step()
                pause = FIRST_PAUSE_S
            except Exception as error:  # noqa: BLE001 - keep serving the current generation
                self._set_failure(str(error) or type(error).__name__)
                self._forget_store(error)
                self._ending.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
        self._release()

    def _set_failure(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            self._troubled(failure)

    def _forget_store(self, error: Exception) -> None:
        if isinstance(error, StoreFailed) and self._store is not None:
            store, self._store = self._store, None
            store.close()

    def _step(self) -> None:
        """Ask the store once, wait for news for a short time, and apply it."""
        first = self._store is None
        if self._store is None:
            self._store = open_store(
                self._url, caller=self._caller, connections=2, statement_timeout_s=ASK_S
            )
        store = self._store
        if not self._anew and self._catalog is not None and self._catalog.library.is_damaged:
            self._anew = True
            self._set_failure("the index of this node is damaged; it is being rebuilt")
        now = self._clock()
        if not 0 <= now - self._policy_at <= VERIFY_S:
            policy = self._policy_now()
            policy = policy and policy.of_store()  # another lock file changes nothing here
            self._policy_at = now
            if policy != self._state.policy:
                self._state.policy = policy
                self._anew = True  # the index has skills that are refused now, or lacks others
        due = self._checked_at is None or not 0 <= now - self._verified <= VERIFY_S
        if not (due or first or self._failure or self._anew or self._overdue):
            head = store.listen(self._position.generation, LISTEN_S)
            if self._ending.is_set():
                return
            self._head = head
            if head == self._position.generation:
                self._confirm(now)
                return
        self._advance(store)

    def _advance(self, store: CatalogStore) -> None:
        """Bring the index up to date.

        Raises the errors of the store, SkillIoError, IndexDamaged.
        """
        now = self._clock()  # publishes after this moment may be missing
        page = store.changes(START if self._anew else self._position, limit=MAX_CHANGES)
        self._head = page.generation
        is_current = page.position == self._position and self._catalog is not None
        try:
            if self._anew or self._overdue or not is_current:
                self._apply(store, page)
        except IndexDamaged:
            self._anew = True
            raise
        if not self._ending.is_set():
            self._head = self._position.generation
            self._set_failure("")
            self._verified = now
            self._confirm(now)

    def _confirm(self, now: float) -> None:
        """Record that nothing newer existed at a moment."""
        self._checked_at = now
        if self._catalog is not None:
            self._catalog.confirmed_at = now

    def _apply(self, store: CatalogStore, page: Changes) -> None:
        """Apply a page and what follows it, in another process where that is much."""
        if is_little(page) and not self._overdue:
            overdue = apply(store, self._state, page, max_rewritten=MAX_REWRITTEN)
            touched = None if page.whole else _changed_paths(page)
        else:
            self._rebuild_process.rebuild(anew=self._anew)
            overdue, touched = False, None
        if not self._ending.is_set():
            self._overdue = bool(overdue)
            self._show(touched)
            self._anew = False

    def _show(self, touched: frozenset[str] | None = None) -> None:
        if not self._open(touched):
            raise SkillIoError(
                "the index that was made is none that this program can use",
                path=self._state.folder,
                hint="if skillyard was updated under this node, start the node again",
            )


def _changed_paths(page: Changes) -> frozenset[str]:
    keys = [*page.withdrawals, *(version.key for version in page.upserts)]
    return frozenset(map(path_of, keys))
