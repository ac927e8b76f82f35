"""The state of a service: its health and its published skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from skillyard.base.shapes import service
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.service import CacheStats as CacheState
from skillyard.base.shapes.service import ListedSkill
from skillyard.install.sources.well_known import SCHEMA
from skillyard.serve.client.document import Mismatch, member, read_as
from skillyard.serve.client.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogState(service.CatalogState, Value):
    """The skills of the service."""

    counts: tuple[tuple[str, int], ...] | None = None  # type: ignore[assignment]
    """Numbers of skills by kind, in the words of the service; None from an older service."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        members: dict[str, Any] = encode(self)
        return members if self.counts is None else {**members, "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(service.Health, Value):
    """The health of a service."""

    catalog: CatalogState

    @property
    def able(self) -> bool:
        """True when the service can serve requests for skills."""
        return self.status in ("healthy", "degraded")

    @property
    def cache(self) -> CacheState:
        """The state of the service's cache of remote responses."""
        return self.cache_stats

    @property
    def working(self) -> int:
        """Requests in progress."""
        return self.requests.working

    @property
    def waiting(self) -> int:
        """Queued requests."""
        return self.requests.waiting

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        members: dict[str, Any] = encode(self)
        return {**members, "catalog": self.catalog.to_dict()}


def health_of(document: Any) -> Health:
    """Return the state of a service. Raises Mismatch."""
    catalog = read_as(dict[str, Any], member(document, "catalog"), "$.catalog")
    if catalog.get("counts") is not None:
        counts = read_as(dict[str, int], catalog["counts"], "$.catalog.counts")
        catalog = {**catalog, "counts": list(counts.items())}
    return read_as(Health, {**document, "catalog": catalog})


class WellKnownIndex(NamedTuple):
    """The skills that a service publishes (discovery draft 0.2.0)."""

    skills: tuple[ListedSkill, ...]
    """By name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document that the service sent."""
        return {"$schema": SCHEMA, "skills": encode(self.skills)}


def index_of(document: Any) -> WellKnownIndex:
    """Return a well-known index. Raises Mismatch, also for an unknown version of the draft."""
    if member(document, "$schema") != SCHEMA:
        raise Mismatch(f"$.$schema is not {SCHEMA!r}")
    listed = member(document, "skills")
    return WellKnownIndex(read_as(tuple[ListedSkill, ...], listed, "$.skills"))
