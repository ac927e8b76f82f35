"""The metrics of the service, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import NamedTuple

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram buckets, in seconds."""

Labels = tuple[tuple[str, str], ...]


class Figure(NamedTuple):
    """One metric family."""

    name: str
    kind: str
    """``counter``, ``gauge`` or ``histogram``."""
    about: str
    samples: tuple[tuple[str, Labels, float], ...]
    """(suffix of the name, labels, value)."""


class Metrics:
    """Counts responses. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.in_flight = 0

    def note(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one response. ``route`` is a path template, never a path from a client."""
        place = next((n for n, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        with self._lock:
            self._answers[route, method, status] += 1
            self._times.setdefault(route, [0] * (len(BUCKETS) + 1))[place] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def figures(self) -> Iterator[Figure]:
        """Yield the metric families of requests."""
        with self._lock:
            answers = sorted(self._answers.items())
            times = sorted((route, list(counts)) for route, counts in self._times.items())
            seconds: Mapping[str, float] = dict(self._seconds)
        yield Figure(
            "skillyard_http_requests_total",
            "counter",
            "Requests answered, by route, method and status.",
            tuple(
                ("", (("route", route), ("method", method), ("status", str(status))), float(count))
                for (route, method, status), count in answers
            ),
        )
        yield Figure(
            "skillyard_http_request_duration_seconds",
            "histogram",
            "Time from the first byte of a request to the last of its answer, by route.",
            tuple(
                sample
                for route, counts in times
                for sample in _histogram(route, counts, seconds[route])
            ),
        )
        yield Figure(
            "skillyard_http_in_flight",
            "gauge",
            "Requests that have come and are not answered yet.",
            (("", (), float(self.in_flight)),),
        )


def _histogram(
    route: str, counts: Iterable[int], seconds: float
) -> Iterator[tuple[str, Labels, float]]:
    total = 0
    bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
    for bound, count in zip(bounds, counts, strict=True):
        total += count
        yield "_bucket", (("route", route), ("le", bound)), float(total)
    yield "_sum", (("route", route),), seconds
    yield "_count", (("route", route),), float(total)


def render_metrics(figures: Iterable[Figure]) -> str:
    """Return the text of the metric families."""
    lines: list[str] = []
    for figure in figures:
        lines.append(f"# HELP {figure.name} {figure.about}")
        lines.append(f"# TYPE {figure.name} {figure.kind}")
        for ending, labels, value in figure.samples:
            label_text = ",".join(f'{name}="{_escape_label(text)}"' for name, text in labels)
            number = f"{value:.0f}" if value == int(value) else repr(value)
            lines.append(f"{figure.name}{ending}{{{label_text}}} {number}" if label_text
                         else f"{figure.name}{ending} {number}")  # fmt: skip
    return "\n".join(lines) + "\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
