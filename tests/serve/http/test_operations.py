"""Health is true, figures count, the log names requests and no secret, errors have one shape."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from skillyard import __version__
from skillyard.serve.http.routes import ranking
from tests.serve.http.local_server import Running, raw, request, running, until
from tests.serve.http.shapes import conforms
from tests.tables import for_each


def test_health_says_what_there_is(served: Running) -> None:
    answer = served.get("/health")
    conforms(answer.json(), "Health")
    assert (answer.status_code, answer.json()["status"]) == (200, "healthy")
    assert answer.json()["version"] == __version__
    assert answer.json()["catalog"]["skills"] == 3
    assert set(answer.json()["cache_stats"]) == {"entries", "bytes", "oldest"}


def test_the_log_has_one_line_for_each_request_and_holds_no_secret(tmp_path: Path) -> None:
    with running(tmp_path / "skills", token="hunter2") as server:
        server.client.headers["Authorization"] = "Bearer hunter2"
        server.get("/rank?q=something+private", headers={"X-Request-Id": "mine-1"})
        server.post("/select", {"text": "something private"}, headers={"X-Request-Id": "a b"})
        server.get("/rank?q=x", headers={"Authorization": "Bearer wrong-secret"})
        # A line is written when its answer has been sent.
        until(lambda: sum(line["event"] == "request" for line in server.lines()) >= 3)
        lines = server.lines()
    requests = [line for line in lines if line["event"] == "request"]
    assert [(r["method"], r["route"], r["status"]) for r in requests] == [
        ("GET", "/rank", 200), ("POST", "/select", 200), ("GET", "other", 401),
    ]  # fmt: skip
    assert requests[0]["id"] == "mine-1"
    assert requests[1]["id"] != "a b"
    facts = {"time", "level", "event", "id", "method", "route", "status", "ms", "bytes"}
    assert all(set(r) == facts for r in requests)
    assert requests[0]["bytes"] > 0
    for secret in ("hunter2", "private", "wrong-secret"):
        assert secret not in str(lines)


def test_a_bug_is_a_500_without_a_trace_and_the_next_request_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError("zebra at https://u:hunter2@host/?token=abcdef")

    monkeypatch.setattr(ranking, "rank_skills", broken)
    with running(tmp_path / "skills") as server:
        answer = server.get("/rank?q=x", headers={"X-Request-Id": "bug"})
        assert answer.status_code == 500
        conforms(answer.json(), "Error")
        assert "zebra" not in answer.text
        assert "Traceback" not in answer.text
        assert server.get("/skill/deploy").status_code == 200
        (failure,) = [line for line in server.lines() if line["event"] == "failure"]
    assert (failure["id"], failure["error"]) == ("bug", "RuntimeError")
    assert "test_operations.py" in failure["traceback"]
    assert failure["cause"] == "RuntimeError: zebra at https://u:***@host/?token=***"
    assert "in broken" in failure["traceback"]
    assert "hunter2" not in str(failure)


@for_each("path", ["/openapi.json", "/docs", "/rank?q=deploy&explain=true"])
def test_long_answers_are_compressed_where_that_is_accepted(served: Running, path: str) -> None:
    def asked(*headers: str) -> Any:
        sent = request("GET", path, "Connection: close", *headers, host="localhost")
        return raw(served.port, sent)

    plain, packed = asked(), asked("Accept-Encoding: gzip")
    assert "content-encoding" not in plain.head
    assert "content-encoding: gzip" in packed.head
    assert "vary: accept-encoding" in plain.head
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)


def test_head_and_options_are_answered_on_every_route(served: Running) -> None:
    for route in served.context.routes:
        path = route.path.replace("{source}", "local").replace("{id}", "deploy")
        path = path.replace("{name}", "deploy")
        options = served.client.options(path)
        assert (options.status_code, options.content) == (204, b"")
        assert route.method in options.headers["allow"]
        if route.method == "GET":
            assert "HEAD" in options.headers["allow"]
            head, got = served.client.head(path), served.get(path)
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert head.headers["content-type"] == got.headers["content-type"]


def test_a_method_that_a_path_does_not_know_is_a_405_with_those_that_it_knows(
    served: Running,
) -> None:
    for method, path, allow in (
        ("DELETE", "/search", "GET, HEAD, OPTIONS, POST"),
        ("GET", "/select", "OPTIONS, POST"),
        ("PUT", "/skill/deploy", "GET, HEAD, OPTIONS"),
    ):
        answer = served.client.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allow)
        conforms(answer.json(), "Error")
