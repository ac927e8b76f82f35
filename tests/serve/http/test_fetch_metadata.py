"""A page of another site makes the service do nothing, though browsers bring it here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.install.sources.settings import Settings
from skillyard.serve.http.routes.table import ROUTES
from skillyard_testkit import FakeServers
from tests.requirements import requirement
from tests.serve.http.local_server import Running, raw, request, running
from tests.serve.http.shapes import conforms
from tests.tables import for_each

pytestmark = requirement("service:fetch-metadata")

FOREIGN = {
    "an image": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors",
                 "Sec-Fetch-Dest": "image"},
    "an image of another port": {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors",
                                 "Sec-Fetch-Dest": "image"},
    "a script": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors",
                 "Sec-Fetch-Dest": "script"},
    "a frame": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe"},
    "an object": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                  "Sec-Fetch-Dest": "object"},
    "a word of tomorrow": {"Sec-Fetch-Site": "next-door"},
}  # fmt: skip
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
OWN = {
    "the page itself": {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors",
                        "Sec-Fetch-Dest": "empty"},
    "an address that was typed": {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate",
                                  "Sec-Fetch-Dest": "document"},
    "a program": {},
}  # fmt: skip
ACTING = (
    "/", "/?q=deploy", "/search?q=deploy", "/skill/deploy", "/skills/local/deploy",
    "/rank?q=deploy",
    "/why?q=deploy&name=deploy", "/page/skills/local/deploy",
    "/page/skills/acme/skills/pdf", "/health", "/metrics", "/openapi.json", "/docs", "/mcp",
    "/.well-known/agent-skills/index.json", "/static/style.css",
)  # fmt: skip
LINKED = ("/", "/docs", "/page/skills/local/deploy")
"""What a link on another site may open: read from here alone, and nobody asked."""
NOT_LINKED = (
    "/?q=deploy", "/search?q=deploy", "/skill/acme/skills/pdf", "/page/skills/acme/skills/pdf",
    "/page/skills/local/skills/pdf", "/page/skills/local%2fskills/pdf",
    "/skills/acme/skills/pdf", "/rank?q=deploy", "/mcp",
)  # fmt: skip


def status(server: Running, target: str, headers: dict[str, str], method: str = "GET") -> int:
    lines = [f"{name}: {value}" for name, value in headers.items()]
    sent = request(method, target, "Connection: close", *lines, host="localhost")
    return raw(server.port, sent).status


@for_each("who", FOREIGN)
def test_what_a_foreign_page_loads_is_refused_on_every_route(served: Running, who: str) -> None:
    for target in ACTING:
        assert status(served, target, FOREIGN[who]) == 403, target
    for route in ROUTES:
        assert status(served, route.path, FOREIGN[who], route.method) == 403, route.path


def test_the_refusal_says_why_and_what_to_do(served: Running) -> None:
    answer = served.get("/search?q=deploy", headers=FOREIGN["an image"])
    conforms(answer.json(), "Error")
    assert answer.json()["error"]["code"] == "cross_site"
    assert "--allow-origin" in answer.json()["error"]["hint"]


def test_a_link_opens_what_only_reads_here_and_nothing_that_acts(served: Running) -> None:
    for target in LINKED:
        assert status(served, target, LINK) == 200, target
        assert status(served, target, LINK, "POST") == 403, target
    for target in NOT_LINKED:
        assert status(served, target, LINK) == 403, target


@for_each("who", OWN)
def test_the_services_own_page_and_programs_ask_as_before(served: Running, who: str) -> None:
    for target in ("/search?q=deploy", "/?q=deploy", "/page/skills/local/deploy", "/health"):
        assert status(served, target, OWN[who]) == 200, target


def test_a_page_that_was_let_in_asks_across_sites(tmp_path: Path) -> None:
    with running(tmp_path / "skills", allowed_origins=("https://ok.example",)) as server:
        asked = {**FOREIGN["an image"], "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
        assert status(server, "/rank?q=a", {**asked, "Origin": "https://ok.example"}) == 200
        assert status(server, "/rank?q=a", {**asked, "Origin": "https://no.example"}) == 403
        assert status(server, "/rank?q=a", asked) == 403


@pytest.fixture
def fetching(tmp_path: Path, settings: Settings) -> Iterator[Running]:
    with running(tmp_path / "skills", settings=settings) as server:
        yield server


def test_an_image_of_a_foreign_page_fetches_nothing(fetching: Running, up: FakeServers) -> None:
    target = "/page/skills/acme/skills/pdf-forms"
    before = len(up.requests)
    assert status(fetching, target, FOREIGN["an image"]) == 403
    assert status(fetching, target, LINK) == 403
    assert len(up.requests) == before
    assert status(fetching, target, OWN["an address that was typed"]) in (200, 404)
    assert len(up.requests) > before
