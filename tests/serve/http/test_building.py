"""A service over a large library that was never indexed: it answers at once, and says how far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime import follower as freshness
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, Running, running, until
from tests.serve.web.page_parser import read
from tests.tables import for_each


@pytest.fixture
def go_on() -> Event:
    return Event()


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go_on: Event) -> Iterator[Running]:
    """A service that indexes its library until ``go_on`` is set."""
    monkeypatch.setattr(freshness, "PATIENCE_S", 0.01)

    def slowly(*roots: Any, progress: Any, **options: Any) -> Any:
        while not go_on.wait(0.02):
            progress(2_500, 10_000)
        return open_catalog(*roots, **options)

    monkeypatch.setattr(freshness, "open_catalog", slowly)
    root = write_tree(tmp_path / "skills", LIBRARY)
    with running(root, ready=False, local_only=True) as server:
        try:
            until(lambda: server.context.follower.building is not None)
            yield server
        finally:
            go_on.set()


@for_each("path", ["/rank?q=csv", "/search?q=csv", "/skill/csv-cleaning", "/why?name=x&q=csv"])
def test_programs_are_told_how_far_it_is_and_when_to_ask_again(cold: Running, path: str) -> None:
    answer = cold.get(path)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (503, "index_building")
    assert (error["progress"]["done"], error["progress"]["total"]) == (2_500, 10_000)
    assert 1 <= int(answer.headers["Retry-After"]) <= 30


def test_people_see_a_page_that_goes_on_by_itself(cold: Running, go_on: Event) -> None:
    browser = {"Accept": "text/html"}
    answer = cold.get("/", headers=browser)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (503, "no-store")
    assert int(answer.headers["Refresh"]) >= 1
    page = read(answer.content)
    assert "2,500 of 10,000 files" in page.text()
    for link in page.all("link", rel="stylesheet"):
        assert cold.get(link.attributes["href"]).status_code == 200
    go_on.set()
    until(lambda: cold.get("/", headers=browser).status_code == 200)
    assert "Refresh" not in cold.get("/", headers=browser).headers


def test_who_watches_it_sees_it_work(cold: Running, go_on: Event) -> None:
    health = cold.get("/health")
    assert health.status_code == 503
    assert health.json()["building"]["done"] == 2_500
    assert cold.get("/livez").status_code == 200
    assert cold.get("/readyz").status_code == 503
    until(lambda: any(line["event"] == "index" for line in cold.lines()))
    go_on.set()
    until(lambda: cold.get("/health").status_code == 200)
    assert cold.get("/health").json()["building"] is None
    assert cold.get("/rank?q=csv").status_code == 200
