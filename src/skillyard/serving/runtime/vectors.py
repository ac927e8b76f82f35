"""Computes the vectors that the default scorer needs, in a thread of its own.

Until all of them are there, a snapshot is ranked by ``hybrid``, and its answers say so. Each batch
is stored in the cache, so that a restart goes on where the process ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock, Thread

from skillyard.errors import EmbedderFailed
from skillyard.ranking.registry import default_scorer
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.snapshot import Snapshot, Vectors
from skillyard.shapes.service import VectorState

__all__ = ["VectorThread"]


class _Stopped(Exception):
    """Newer snapshots are waiting, or the service ends."""


class VectorThread:
    """Binds the default scorer to the newest snapshots, when it has an embedder."""

    def __init__(self, log: Log) -> None:
        """Raises InvalidInput when the default scorer cannot be used."""
        self.scorer = default_scorer()
        self.failure = ""
        """``embedder_failed`` after a failure, until the vectors are there; the log has it all."""
        self._log = log
        self._lock = Lock()
        self._waiting: tuple[Snapshot, ...] = ()
        self._thread: Thread | None = None
        self._closed = False

    def follow(self, snapshots: Iterable[Snapshot]) -> None:
        """Compute the missing vectors of these snapshots, and none of earlier ones any more."""
        snapshots = tuple(snapshots)
        for snapshot in snapshots:
            snapshot.on_embedder = self._record_request
        with self._lock:
            self._waiting = tuple(each for each in snapshots if each.lacks_vectors(self.scorer))
            if not self._waiting:
                self.failure = ""
            elif self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="skillyard-vectors", daemon=True)
                self._thread.start()

    def state(self, snapshot: Snapshot | None) -> VectorState | None:
        """Return how far the vectors of a snapshot are; None for a scorer without an embedder."""
        if "+" not in self.scorer:
            return None
        done, total = Vectors() if snapshot is None else snapshot.vectors
        return VectorState(scorer=self.scorer, done=done, total=total, failure=self.failure or None)

    def close(self) -> None:
        """Stop after the running batch, without waiting for it."""
        with self._lock:
            self._closed = True

    def _run(self) -> None:
        while snapshots := self._take():
            try:
                for snapshot in snapshots:
                    snapshot.bind_embedder(self.scorer, self._check)
            except _Stopped:
                continue
            except Exception as error:  # noqa: BLE001 - the service goes on answering
                self._record_failure(error)
                for snapshot in snapshots:
                    snapshot.embedder_failed = True
            else:
                self.failure = ""
                self._log.write("vectors", scorer=self.scorer, done=snapshots[0].vectors.done)

    def _take(self) -> tuple[Snapshot, ...]:
        with self._lock:
            snapshots = () if self._closed else self._waiting
            self._waiting = ()
            if not snapshots:
                self._thread = None
            return snapshots

    def _check(self, done: int, total: int) -> None:
        if done < total and (self._closed or self._waiting):
            raise _Stopped

    def _record_request(self, failure: EmbedderFailed | None) -> None:
        """Record how an embedder did at a request, once for each change."""
        if failure is not None:
            # What another package says may repeat the request, which is not logged.
            self._record_failure(failure, f"{type(failure).__name__} of {failure.embedder}")
        elif self.failure:
            self.failure = ""

    def _record_failure(self, error: Exception, text: str = "") -> None:
        if self._closed:
            return
        known = isinstance(error, EmbedderFailed)
        failure = "embedder_failed" if known else type(error).__name__
        if failure != self.failure:
            self._log.write("vectors", "error", error=text or f"{type(error).__name__}: {error}")
        self.failure = failure
