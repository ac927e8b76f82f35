"""Computes the vectors that the default scorer needs, in a thread of its own.

Until all of them are there, a snapshot is ranked by ``hybrid``, and its answers say so. Each batch
is stored in the cache, so that a restart goes on where the process ended.
"""

from __future__ import annotations

from functools import partial
from threading import Condition, Thread

from skillyard.base.shapes.service import VectorState
from skillyard.engine.embedding.protocol import embed_in_one_thread
from skillyard.engine.ranking.registry import default_scorer, resolve
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.snapshot import Snapshot, Vectors

RETRY_S = 60.0
"""Seconds between a failed attempt and the next one."""


class _Stop(Exception):
    """A newer snapshot is waiting, or the service ends."""


class VectorThread:
    """Binds the default scorer to the newest snapshot, when it has an embedder."""

    def __init__(self, log: Log) -> None:
        """Raises SkillIoError when the default scorer cannot be used."""
        self.scorer = default_scorer()
        """The scorer that the operator's file named at the start."""
        if "+" in self.scorer:
            embed_in_one_thread(getattr(resolve(self.scorer), "embedder", None))
        self.failure = ""
        """The kind of error of the last attempt; empty when it succeeded."""
        self._log = log
        self._changed = Condition()
        self._snapshot: Snapshot | None = None
        """The snapshot whose vectors are missing."""
        self._thread: Thread | None = None
        self._closed = False

    def follow(self, snapshot: Snapshot) -> None:
        """Compute the missing vectors of a snapshot, and none of earlier ones any more."""
        with self._changed:
            self._snapshot = snapshot if snapshot.lacks_vectors(self.scorer) else None
            self._changed.notify_all()
            if self._thread is None and self._snapshot is not None and not self._closed:
                self._thread = Thread(target=self._run, name="skillyard-vectors", daemon=True)
                self._thread.start()

    def state(self, snapshot: Snapshot | None) -> VectorState | None:
        """Return how far the vectors of a snapshot are; None for a scorer without an embedder."""
        if "+" not in self.scorer:
            return None
        done, total = Vectors() if snapshot is None else snapshot.vectors
        failure = self.failure or None
        return VectorState(scorer=self.scorer, done=done, total=total, failure=failure)

    def close(self) -> None:
        """Stop after the running batch, without waiting for it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        """Compute until no vector is missing, with a pause after each failure."""
        while True:
            with self._changed:
                snapshot = self._snapshot
                if snapshot is None or self._closed:
                    self._thread = None
                    return
            try:
                snapshot.bind_embedder(self.scorer, partial(self._check, snapshot))
            except _Stop:
                continue
            except Exception as error:  # noqa: BLE001 - the service goes on answering
                self.failure = type(error).__name__
                self._log.write("vectors", "error", error=f"{self.failure}: {error}")
                with self._changed:
                    if self._snapshot is snapshot and not self._closed:
                        self._changed.wait(RETRY_S)
                continue
            self.failure = ""
            self._log.write("vectors", scorer=self.scorer, done=snapshot.vectors.done)
            with self._changed:
                if self._snapshot is snapshot:
                    self._snapshot = None

    def _check(self, snapshot: Snapshot, done: int, total: int) -> None:
        if done < total and (self._closed or self._snapshot is not snapshot):
            raise _Stop
