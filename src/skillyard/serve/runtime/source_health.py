"""The health of each source, for ``/health``, metrics and the reasons of a 502."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from threading import Lock
from typing import Any

from skillyard.base.errors import SourceFailed
from skillyard.base.shapes.service import SourceState
from skillyard.install.sources.protocol import Hit, Hits, Package, RankingSource, Source
from skillyard.serve.runtime.errors import error_dict


class SourceHealth:
    """The last outcome of each source, and its failures. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest: dict[str, tuple[float, dict[str, Any] | None]] = {}
        self._failures: Counter[tuple[str, str]] = Counter()

    def note(self, name: str, failure: dict[str, Any] | None) -> None:
        """Record a success of a source, or its failure."""
        with self._lock:
            self._latest[name] = (time.monotonic(), failure)
            if failure is not None:
                self._failures[name, failure["code"]] += 1

    def failures(self) -> list[tuple[str, str, int]]:
        """Return (source, kind of failure, count), sorted."""
        with self._lock:
            return [(name, code, count) for (name, code), count in sorted(self._failures.items())]

    def states(self, names: Sequence[str]) -> tuple[SourceState, ...]:
        """Return the states of the named sources: ``ok``, ``failed``, or ``unasked`` so far."""
        now = time.monotonic()
        with self._lock:
            last = dict(self._latest)
        states = []
        for name in names:
            when, failure = last.get(name, (None, None))
            state = "unasked" if when is None else "ok" if failure is None else "failed"
            states.append(
                SourceState(
                    name=name,
                    state=state,
                    age_s=None if when is None else round(now - when, 1),
                    code=None if failure is None else failure["code"],
                    message="" if failure is None else failure["message"],
                )
            )
        return tuple(states)


class ObservedSource:
    """A source that records its outcomes: for all requests, and for one in ``failure``."""

    def __init__(self, source: Source, health: SourceHealth) -> None:
        self._source = source
        self._health = health
        self.name = source.name
        self.at_hand: bool = getattr(source, "at_hand", False)
        """True for a source that never blocks and may be used in any thread."""
        self.failure: dict[str, Any] | None = None
        if isinstance(source, RankingSource):
            self.matches = source.matches

    @property
    def note(self) -> str:
        """The note of the catalog as a source; empty for others."""
        return str(getattr(self._source, "note", ""))

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Search the source. Raises SourceFailed."""
        try:
            hits = await self._source.search(query, limit)
        except SourceFailed as error:
            self._note_failure(error)
            raise
        except BaseException:  # a timeout of the search arrives here as a cancellation
            self._note_failure(SourceFailed("timeout", "no answer in time"))
            raise
        if isinstance(hits, Hits) and hits.failures:
            self._note_failure(hits.failures[0])
        else:
            self._health.note(self.name, None)
        return hits

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Fetch from the source. Raises SourceFailed; a missing skill is not a failure."""
        try:
            package = await self._source.fetch(hit, references=references, whole=whole)
        except SourceFailed as error:
            if error.code == "not_found":
                self._health.note(self.name, None)
            else:
                self._note_failure(error)
            raise
        self._health.note(self.name, None)
        return package

    def _note_failure(self, error: SourceFailed) -> None:
        self.failure = error_dict(self.name, error)
        self._health.note(self.name, self.failure)
