"""The figures of a service, as a reader of the Prometheus format finds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.serve.http.local_server import running


def test_requests_are_counted_and_timed_by_route_and_documented_names_stay(tmp_path: Path) -> None:
    with running(tmp_path / "skills") as server:
        for seconds in (0.0005, 0.004, 0.004, 99.0):
            server.context.metrics.note('a"b\\c\nd', "GET", 200, seconds)
        server.context.metrics.note('a"b\\c\nd', "GET", 422, 0.001)
        families = list(text_string_to_metric_families(server.get("/metrics").text))
    assert {f"{family.name}:{family.type}" for family in families} == {
        "skillyard_http_requests:counter", "skillyard_http_request_duration_seconds:histogram",
        "skillyard_http_in_flight:gauge", "skillyard_http_working:gauge",
        "skillyard_http_waiting:gauge", "skillyard_catalog_skills:gauge",
        "skillyard_catalog_selectable:gauge", "skillyard_catalog_generation:gauge",
        "skillyard_catalog_failing:gauge", "skillyard_catalog_reloads:counter",
        "skillyard_cache_entries:gauge", "skillyard_cache_bytes:gauge",
        "skillyard_upstream_requests:counter", "skillyard_upstream_failures:counter",
    }  # fmt: skip
    samples = [
        sample
        for family in families
        for sample in family.samples
        if sample.labels.get("route") == 'a"b\\c\nd'
    ]
    counted = {each.labels["status"]: each.value for each in samples if "status" in each.labels}
    assert counted == {"200": 4, "422": 1}
    buckets = [each.value for each in samples if each.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert (buckets[0], buckets[-2], buckets[-1]) == (2, 4, 5)
    (total,) = [each.value for each in samples if each.name.endswith("_sum")]
    assert total == pytest.approx(99.0095)
