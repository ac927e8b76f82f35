"""Probes of orchestrators and proxies: liveness and readiness.

The responses are one word without details of the service, so they need neither a token nor the
right Host.
"""

from __future__ import annotations

from typing import NamedTuple

from skillyard.serve.runtime.app_context import AppContext

LIVE = "/livez"
READY = "/readyz"
PATHS = (LIVE, READY)


class ProbeResult(NamedTuple):
    """The response of a probe."""

    status: int
    """200 or 503."""
    body: bytes


def probe_result(context: AppContext, path: str) -> ProbeResult | None:
    """Return the response of a probe; None for any other path.

    Alive: the event loop responds. Ready: there is a catalog, not older than the options allow, and
    the service is not shutting down.
    """
    if path == LIVE:
        return ProbeResult(200, b"alive\n")
    if path != READY:
        return None
    context.follower.refresh_if_due()
    if context.closing:
        return ProbeResult(503, b"stopping\n")
    if context.follower.snapshot is None:
        return ProbeResult(503, b"starting\n")
    return ProbeResult(200, b"ready\n") if context.follower.ready else ProbeResult(503, b"stale\n")
