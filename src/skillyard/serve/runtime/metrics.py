"""The metrics of the service, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from skillyard.engine.catalog.counts import NO_SKILLS
from skillyard.serve.runtime.follower import LibraryFollower
from skillyard.serve.runtime.guards import Guard
from skillyard.serve.runtime.search_runner import SearchRunner

MEDIA = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram buckets, in seconds."""

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics(Collector):
    """The metrics of one service. Thread-safe."""

    def __init__(self, follower: LibraryFollower, searches: SearchRunner, guard: Guard) -> None:
        self._follower, self._searches, self._guard = follower, searches, guard
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "skillyard_http_requests",
            "Requests answered, by route, method and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "skillyard_http_request_duration_seconds",
            "Time from the first byte of a request to the last of its answer, by route.",
            ("route",),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self.in_flight = 0
        in_flight = "Requests that have come and are not answered yet."
        gauge = Gauge("skillyard_http_in_flight", in_flight, registry=self._registry)
        gauge.set_function(lambda: self.in_flight)
        self._registry.register(self)

    def note(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one response. ``route`` is a path template, never a path from a client."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics. Reads a file."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield what is read when somebody asks for it."""
        follower, searches, guard = self._follower, self._searches, self._guard
        snapshot, stats = follower.snapshot, searches.cache_stats()
        counts = NO_SKILLS if snapshot is None else snapshot.whole.counts
        generation = 0 if snapshot is None else snapshot.generation
        failing = bool(follower.failure)
        for name, about, value in (
            ("http_working", "Requests that are worked on.", guard.running),
            ("http_waiting", "Requests that wait for a place.", guard.waiting),
            ("catalog_skills", "Skills of the catalog.", counts.skills),
            ("catalog_selectable", "Skills that a request can choose.", counts.selectable),
            ("catalog_generation", "Number of the catalog's generation here.", generation),
            ("catalog_failing", "1 while the files of the catalog cannot be read.", failing),
            ("cache_entries", "Remote answers that are kept.", stats.entries),
            ("cache_bytes", "Bytes of the remote answers that are kept.", stats.bytes),
        ):
            yield GaugeMetricFamily(f"skillyard_{name}", about, value)
        for name, about, value in (
            ("catalog_reloads", "Times that the files had changed.", follower.reloads),
            ("upstream_requests", "Requests to remotes.", searches.remote_requests),
        ):
            yield CounterMetricFamily(f"skillyard_{name}", about, value)
        failures = CounterMetricFamily(
            "skillyard_upstream_failures",
            "Failed requests to sources, by source and kind.",
            labels=("source", "code"),
        )
        for source, code, count in searches.health.failures():
            failures.add_metric((source, code), count)
        yield failures
