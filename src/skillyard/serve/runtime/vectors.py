"""Computes the vectors that the default scorer needs, in a thread of its own.

Until all of them are there, a snapshot is ranked by ``hybrid``, and its answers say so. Each batch
is stored in the cache, so that a restart goes on where the process ended. After a failure the
thread tries again at the time that :mod:`.embedder_health` sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import Condition, Thread

from skillyard.base.shapes.service import VectorState
from skillyard.engine.embedding.protocol import Embedder, embed_checked, embed_in_one_thread
from skillyard.engine.ranking.registry import resolve
from skillyard.serve.runtime.default_scorer import scorer_at_start
from skillyard.serve.runtime.embedder_health import EmbedderHealth
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.snapshot import Snapshot, Vectors

PROBE_TEXT = "Is the embedder ready?"
"""Sent after a failure. It contains nothing of a request or a skill."""


def _embedder_of(scorer: str) -> Embedder | None:
    embedder: Embedder | None = getattr(resolve(scorer), "embedder", None)
    return embedder


class _Stop(Exception):
    """Newer snapshots are waiting, or the service ends."""


class VectorThread:
    """Binds the default scorer to the newest snapshots, when it has an embedder."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises SkillIoError when the default scorer cannot be used."""
        self.scorer = scorer_at_start()
        if "+" in self.scorer:
            embed_in_one_thread(_embedder_of(self.scorer))
        self.health = EmbedderHealth(log, clock, self._wake)
        self._log = log
        self._clock = clock
        self._changed = Condition()
        self._snapshots: tuple[Snapshot, ...] = ()
        self._has_new = False
        """True when the snapshots changed after the last attempt began."""
        self._thread: Thread | None = None
        self._closed = False

    def follow(self, snapshots: Iterable[Snapshot]) -> None:
        """Compute the missing vectors of these snapshots, and none of earlier ones any more."""
        snapshots = tuple(snapshots)
        for snapshot in snapshots:
            snapshot.embedder = self.health
        with self._changed:
            self._snapshots = snapshots
            self._has_new = bool(self._incomplete())
        if self._has_new:
            self._wake()

    def state(self, snapshot: Snapshot | None) -> VectorState | None:
        """Return how far the vectors of a snapshot are; None for a scorer without an embedder."""
        if "+" not in self.scorer:
            return None
        done, total = Vectors() if snapshot is None else snapshot.vectors
        retry_in_s = self.health.retry_in_s
        return VectorState(
            scorer=self.scorer,
            done=done,
            total=total,
            failure=self.health.failure or None,
            retry_in_s=None if retry_in_s is None else round(retry_in_s, 1),
        )

    def close(self) -> None:
        """Stop after the running batch, without waiting for it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _wake(self) -> None:
        """Start the thread, or let it look at the time again."""
        with self._changed:
            self._changed.notify_all()
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="skillyard-vectors", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while self._wait():
            lacking = self._incomplete()
            began = self._clock()
            try:
                for snapshot in lacking:
                    snapshot.bind_embedder(self.scorer, self._check)
                if not lacking:
                    self._probe()
            except _Stop:
                continue
            except Exception as error:  # noqa: BLE001 - the service goes on answering
                if not self._closed:
                    self.health.record_attempt(error)
                continue
            self.health.record_attempt(None, 0.0 if lacking else self._clock() - began)
            if lacking:
                self._log.write("vectors", scorer=self.scorer, done=lacking[0].vectors.done)

    def _probe(self) -> None:
        embedder = _embedder_of(self.scorer)
        assert embedder is not None
        embed_checked(embedder, [PROBE_TEXT], query=True)

    def _wait(self) -> bool:
        """Wait until an attempt is due. Return False, and end the thread, when there is none."""
        with self._changed:
            while not self._closed:
                pause_s = self.health.retry_in_s
                if self._has_new or pause_s == 0.0:
                    self._has_new = False
                    return True
                if pause_s is None:
                    break
                self._changed.wait(pause_s)
            self._thread = None
            return False

    def _incomplete(self) -> tuple[Snapshot, ...]:
        return tuple(each for each in self._snapshots if each.lacks_vectors(self.scorer))

    def _check(self, done: int, total: int) -> None:
        if done < total and (self._closed or self._has_new):
            raise _Stop
