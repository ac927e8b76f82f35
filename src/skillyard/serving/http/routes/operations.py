"""``/`` for programs, ``/health``, ``/metrics`` and ``/openapi.json``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillyard import __version__
from skillyard.catalog.counts import NO_SKILLS
from skillyard.errors import SkillyardError
from skillyard.ranking.registry import scorer_names
from skillyard.remote.sources.responses import CacheStats
from skillyard.serving.http.openapi import document
from skillyard.serving.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serving.runtime.metrics import MEDIA, Figure, rendered
from skillyard.serving.runtime.service import Asked, Service
from skillyard.shapes import service as shapes
from skillyard.shapes.encoder import encode, from_attributes

__all__ = ["description", "health", "metrics", "openapi", "root"]


async def root(service: Service, asked: Asked) -> Reply:
    """Answer with names and links."""
    document = shapes.Root(
        name="skillyard",
        version=__version__,
        description="Finds the right agent skill, says when none fits, and says why.",
        links={
            "docs": f"{asked.base}/docs",
            "openapi": f"{asked.base}/openapi.json",
            "health": f"{asked.base}/health",
            "search": f"{asked.base}/search",
            "well_known": f"{asked.base}/.well-known/agent-skills/index.json",
        },
        routes=tuple(
            shapes.Route(method=route.method, path=route.path, description=route.about)
            for route in service.routes
        ),
    )
    return json_reply(encode(document))


async def health(service: Service, asked: Asked) -> Reply:
    """Answer with the true state; 503 when requests for skills cannot be answered."""
    held, live = service.live.held, service.live
    if not service.closing:
        live.poke()
    stats = await service.in_thread(service.searching.cache_stats)
    sources, fault = await service.in_thread(_sources, service)
    degraded = bool(live.failure or fault) or any(s["state"] == "failed" for s in sources)
    status = "degraded" if degraded else "healthy"
    if held is None:
        status = "unavailable" if live.failure else "starting"
    if service.closing:
        status = "stopping"
    able = held is not None and not service.closing
    counts = NO_SKILLS if held is None else held.whole.counts
    facts, building = dict(live.facts()), live.building
    document = shapes.Health(
        status=status,
        version=__version__,
        cache_stats=from_attributes(shapes.CacheStats, stats),
        catalog=shapes.CatalogState(
            skills=counts.skills,
            diagnostics=0 if held is None else len(held.whole.diagnostics),
            generation=0 if held is None else held.generation,
            digest=None if held is None else held.digest,
            reloads=live.reloads,
            failure=live.failure or None,
            counts=counts.document(),
        ),
        store=shapes.StoreState(**facts) if facts else None,
        building=None if building is None else from_attributes(shapes.Building, building),
        sources=tuple(shapes.SourceState(**source) for source in sources),
        sources_failure=fault or None,
        requests=shapes.Requests(working=service.places.taken, waiting=service.places.waiting),
    )
    reply = json_reply(encode(document), 200 if able else 503)
    return reply if able else reply.with_headers(Retry_After="1")


def _sources(service: Service) -> tuple[list[dict[str, Any]], str]:
    """Return the state of each default source, or what keeps them from being there at all."""
    try:
        return service.board.states(service.searching.source_names()), ""
    except SkillyardError as error:
        return [], getattr(error, "code", "") or type(error).__name__


async def metrics(service: Service, asked: Asked) -> Reply:
    """Answer with the figures."""
    stats = await service.in_thread(service.searching.cache_stats)
    figures = [*service.metrics.figures(), *_figures(service, stats)]
    return Reply(rendered(figures).encode("utf-8"), MEDIA)


def _figures(service: Service, stats: CacheStats) -> Iterator[Figure]:
    held, live = service.live.held, service.live
    counts = NO_SKILLS if held is None else held.whole.counts
    generation = 0 if held is None else held.generation
    gauges = (
        ("http_working", "Requests that are worked on.", service.places.taken),
        ("http_waiting", "Requests that wait for a place.", service.places.waiting),
        ("catalog_skills", "Skills of the catalog.", counts.skills),
        (
            "catalog_selectable",
            "Skills that a request can choose.",
            counts.selectable,
        ),
        ("catalog_generation", "Number of the catalog's generation in this process.", generation),
        ("catalog_failing", "1 while the files of the catalog cannot be read.", bool(live.failure)),
        ("cache_entries", "Remote answers that are kept.", stats.entries),
        ("cache_bytes", "Bytes of the remote answers that are kept.", stats.bytes),
    )
    for name, about, value in gauges:
        yield Figure(f"skillyard_{name}", "gauge", about, (("", (), float(value)),))
    counters = (
        ("catalog_reloads_total", "Times that the files had changed.", live.reloads),
        ("upstream_requests_total", "Requests to remotes.", service.searching.remote_requests),
    )
    for name, about, value in counters:
        yield Figure(f"skillyard_{name}", "counter", about, (("", (), float(value)),))
    yield Figure(
        "skillyard_upstream_failures_total",
        "counter",
        "Failed requests to sources, by source and kind.",
        tuple(
            ("", (("source", name), ("code", code)), float(count))
            for name, code, count in service.board.failures()
        ),
    )


async def openapi(service: Service, asked: Asked) -> Reply:
    """Answer with the description of this service."""
    if "openapi" not in service.written:
        service.written["openapi"] = json_bytes(description(service))
    return Reply(service.written["openapi"], tagged=True)


def description(service: Service) -> dict[str, Any]:
    """Return the OpenAPI document of this service, with the scorers and sources that it has."""
    choices = {"scorer": scorer_names(), "source": service.searching.known_names}
    return document(service.routes, secured=bool(service.options.token), choices=choices)
