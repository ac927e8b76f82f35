"""The figures keep the text format: what stands in a label cannot leave it."""

from __future__ import annotations

import re

import pytest

from skillyard.serve.runtime.metrics import Figure, Metrics, render_metrics

SAMPLE = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\\n])*",?)+\})? -?[0-9.e+-]+')


def test_a_histogram_counts_up_to_its_total() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.004, 0.004, 99.0):
        metrics.note("/rank", "GET", 200, seconds)
    metrics.note("/rank", "GET", 422, 0.001)
    lines = render_metrics(metrics.figures()).splitlines()
    assert 'skillyard_http_requests_total{route="/rank",method="GET",status="200"} 4' in lines
    assert 'skillyard_http_requests_total{route="/rank",method="GET",status="422"} 1' in lines
    name = "skillyard_http_request_duration_seconds"
    buckets = [int(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name}_bucket")]
    assert buckets == sorted(buckets)
    assert (buckets[0], buckets[-2], buckets[-1]) == (2, 4, 5)
    assert f'{name}_count{{route="/rank"}} 5' in lines
    (total,) = [line for line in lines if line.startswith(f"{name}_sum")]
    assert float(total.rpartition(" ")[2]) == pytest.approx(99.0095)


def test_a_label_is_escaped_and_every_line_is_a_sample_or_a_comment() -> None:
    metrics = Metrics()
    metrics.note('a"b\\c\nd', "GET", 200, 0.1)
    figures = [*metrics.figures(), Figure("x", "gauge", "About.", (("", (), 0.5),))]
    text = render_metrics(figures)
    assert 'route="a\\"b\\\\c\\nd"' in text
    assert text.endswith("x 0.5\n")
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or SAMPLE.fullmatch(line), line
