"""What a service says about itself: its health, and the skills that it lets others fetch."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.client.document import Node
from skillyard.index.progress import Progress
from skillyard.remote.sources.well_known import SCHEMA

__all__ = [
    "CacheState",
    "CatalogState",
    "Health",
    "ListedSkill",
    "SourceState",
    "StoreState",
    "WellKnownIndex",
    "health_of",
    "index_of",
]


class CacheState(NamedTuple):
    """What the service keeps of remote answers."""

    entries: int
    bytes: int
    oldest: float | None
    """Seconds since 1970 of the one confirmed longest ago."""


class CatalogState(NamedTuple):
    """The skills of the service."""

    skills: int
    diagnostics: int
    """Remarks on their files."""
    generation: int
    """Grows by one with each change since the start."""
    digest: str | None
    """Names the content; equal on every node with the same files."""
    reloads: int
    failure: str | None
    """The kind of what kept the files from being read last."""
    counts: tuple[tuple[str, int], ...] | None = None
    """How many skills can be chosen, are used by name only, and so on, by the words of the
    service; None from a service that does not say."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        fields = self._asdict()
        del fields["counts"]
        return fields if self.counts is None else {**fields, "counts": dict(self.counts)}


class StoreState(NamedTuple):
    """How a node stands to the catalog store that it follows."""

    generation: int
    """That answers."""
    head: int
    """The last one that the store is known to have."""
    behind: int
    age_s: float | None
    """Seconds since the node last had all that the store had; None: never yet."""
    failure: str | None
    """The kind of what went wrong when the store was last asked."""
    taken: int
    """Skills taken over so far by a large change; 0 when none is made."""
    ready: bool
    """What ``/readyz`` says."""


class SourceState(NamedTuple):
    """What one source of the service last did."""

    name: str
    state: str
    """``ok``, ``failed``, or ``unasked`` so far."""
    age_s: float | None
    """Seconds since it last answered or failed."""
    code: str | None
    message: str


class Health(NamedTuple):
    """The true state of a service."""

    status: str
    """``healthy``; ``degraded`` (it answers, and something failed); or, where it cannot answer
    requests for skills, ``starting``, ``unavailable``, ``stopping``."""
    version: str
    cache: CacheState
    catalog: CatalogState
    store: StoreState | None
    """None for a service that reads folders."""
    sources: tuple[SourceState, ...]
    sources_failure: str | None
    """What keeps the sources from being there at all."""
    working: int
    """Requests that are worked on."""
    waiting: int
    """Requests that wait."""
    building: Progress | None = None
    """How far the index of a large library is that is made for the first time."""

    @property
    def able(self) -> bool:
        """True when requests for skills are answered."""
        return self.status in ("healthy", "degraded")

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        return {
            "status": self.status,
            "version": self.version,
            "cache_stats": self.cache._asdict(),
            "catalog": self.catalog.to_dict(),
            "store": None if self.store is None else self.store._asdict(),
            "building": None if self.building is None else self.building._asdict(),
            "sources": [source._asdict() for source in self.sources],
            "sources_failure": self.sources_failure,
            "requests": {"working": self.working, "waiting": self.waiting},
        }


def health_of(node: Node) -> Health:
    """Return the state of a service. Raises Mismatch."""
    requests = node.member("requests")
    return Health(
        node.member("status").text(),
        node.member("version").text(),
        _cache_of(node.member("cache_stats")),
        _catalog_of(node.member("catalog")),
        None if node.member("store").value is None else _store_of(node.member("store")),
        tuple(_source_of(item) for item in node.member("sources").items()),
        node.member("sources_failure").text_or_none(),
        requests.member("working").integer(),
        requests.member("waiting").integer(),
        None if node.member("building").value is None else _progress_of(node.member("building")),
    )


def _progress_of(node: Node) -> Progress:
    return Progress(
        node.member("done").integer(),
        node.member("total").integer_or_none(),
        node.member("seconds_left").number_or_none(),
    )


def _cache_of(node: Node) -> CacheState:
    return CacheState(
        node.member("entries").integer(),
        node.member("bytes").integer(),
        node.member("oldest").number_or_none(),
    )


def _catalog_of(node: Node) -> CatalogState:
    counts = node.optional("counts")
    return CatalogState(
        node.member("skills").integer(),
        node.member("diagnostics").integer(),
        node.member("generation").integer(),
        node.member("digest").text_or_none(),
        node.member("reloads").integer(),
        node.member("failure").text_or_none(),
        None if counts is None else tuple((k, v.integer()) for k, v in counts.members()),
    )


def _store_of(node: Node) -> StoreState:
    return StoreState(
        node.member("generation").integer(),
        node.member("head").integer(),
        node.member("behind").integer(),
        node.member("age_s").number_or_none(),
        node.member("failure").text_or_none(),
        node.member("taken").integer(),
        node.member("ready").flag(),
    )


def _source_of(node: Node) -> SourceState:
    return SourceState(
        node.member("name").text(),
        node.member("state").text(),
        node.member("age_s").number_or_none(),
        node.member("code").text_or_none(),
        node.member("message").text(),
    )


class ListedSkill(NamedTuple):
    """One skill of a well-known index."""

    name: str
    type: str
    description: str
    url: str
    """Where it lies, relative to the index."""
    digest: str
    """``sha256:`` and 64 digits, of the bytes as they are served."""


class WellKnownIndex(NamedTuple):
    """The skills that a service lets others fetch (discovery draft 0.2.0)."""

    skills: tuple[ListedSkill, ...]
    """By name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        return {"$schema": SCHEMA, "skills": [skill._asdict() for skill in self.skills]}


def index_of(node: Node) -> WellKnownIndex:
    """Return a well-known index. Raises Mismatch, also for a draft that we do not know."""
    node.member("$schema").check(SCHEMA)
    return WellKnownIndex(
        tuple(
            ListedSkill(*(item.member(name).text() for name in ListedSkill._fields))
            for item in node.member("skills").items()
        )
    )
