"""``/`` for programs, ``/health``, ``/metrics`` and ``/openapi.json``."""

from __future__ import annotations

from typing import Any

from skillyard.base.errors import SkillyardError
from skillyard.base.shapes import service as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.version import __version__
from skillyard.engine.catalog.counts import NO_SKILLS
from skillyard.engine.ranking.registry import scorer_names
from skillyard.serve.http.openapi import document
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.metrics import MEDIA


async def root(context: AppContext, request: RouteRequest) -> Reply:
    """Return names and links."""
    document = shapes.RootDocument(
        name="skillyard",
        version=__version__,
        description="Finds the right agent skill, says when none fits, and says why.",
        links={
            "docs": f"{request.base}/docs",
            "openapi": f"{request.base}/openapi.json",
            "health": f"{request.base}/health",
            "search": f"{request.base}/search",
            "well_known": f"{request.base}/.well-known/agent-skills/index.json",
        },
        routes=tuple(
            shapes.Route(method=route.method, path=route.path, description=route.about)
            for route in context.routes
        ),
    )
    return json_reply(encode(document))


async def health(context: AppContext, request: RouteRequest) -> Reply:
    """Return the state of the service; 503 when requests for skills cannot be answered."""
    snapshot, follower = context.follower.snapshot, context.follower
    if not context.closing:
        follower.refresh_if_due()
    stats = await context.in_thread(context.searches.cache_stats)
    sources, fault = await context.in_thread(_sources, context)
    vectors = follower.vectors.state(snapshot)
    broken = follower.failure or fault or follower.vectors.failure
    degraded = bool(broken) or any(each.state == "failed" for each in sources)
    status = "degraded" if degraded else "healthy"
    if snapshot is None:
        status = "unavailable" if follower.failure else "starting"
    if context.closing:
        status = "stopping"
    able = snapshot is not None and not context.closing
    counts = NO_SKILLS if snapshot is None else snapshot.whole.counts
    building = follower.building
    document = shapes.Health(
        status=status,
        version=__version__,
        cache_stats=stats,
        catalog=shapes.CatalogState(
            skills=counts.skills,
            diagnostics=0 if snapshot is None else len(snapshot.whole.diagnostics),
            generation=0 if snapshot is None else snapshot.generation,
            digest=None if snapshot is None else snapshot.digest,
            reloads=follower.reloads,
            failure=follower.failure or None,
            counts=counts.document(),
        ),
        store=follower.store_state,
        building=None if building is None else from_attributes(shapes.Building, building),
        vectors=vectors,
        sources=sources,
        sources_failure=fault or None,
        requests=shapes.Requests(working=context.guard.running, waiting=context.guard.waiting),
    )
    reply = json_reply(encode(document), 200 if able else 503)
    return reply if able else reply.with_headers(Retry_After="1")


def _sources(context: AppContext) -> tuple[tuple[shapes.SourceState, ...], str]:
    """Return the state of each default source, or the reason why there are none."""
    try:
        return context.searches.states(), ""
    except SkillyardError as error:
        return (), getattr(error, "code", "") or type(error).__name__


async def metrics(context: AppContext, request: RouteRequest) -> Reply:
    """Return the metrics."""
    return Reply(await context.in_thread(context.metrics.text), MEDIA)


async def openapi(context: AppContext, request: RouteRequest) -> Reply:
    """Return the OpenAPI document."""
    if "openapi" not in context.fixed_bodies:
        context.fixed_bodies["openapi"] = json_bytes(description(context))
    return Reply(context.fixed_bodies["openapi"], tagged=True)


def description(context: AppContext) -> dict[str, Any]:
    """Return the OpenAPI document with the scorers and sources of this service."""
    choices = {"scorer": scorer_names(), "source": context.searches.default_names}
    return document(context.routes, secured=bool(context.options.token), choices=choices)
