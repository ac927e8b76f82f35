"""The well-known index promises digests of exactly what is served, to those who may read it."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin

from skillyard.http.well_known import INDEX_PATH
from skillyard.sources.registry import build_transport
from skillyard.sources.settings import Settings
from skillyard.sources.well_known import WellKnown
from tests.http.running import LIBRARY, Running, running
from tests.http.shapes import conforms
from tests.worked_examples.making import document

FILES = {
    **LIBRARY,
    "AGENTS.md": "Always on.\n",
    ".skills/single.md": document("single", "A single document."),
    "secret/SKILL.md": document("secret", "Hidden.", extra="metadata:\n  internal: true\n"),
    "umlaut/SKILL.md": document("prüfung", "A name beyond ASCII."),
}


def test_every_digest_is_of_the_bytes_that_are_served(tmp_path: Path) -> None:
    with running(tmp_path / "skills", FILES) as server:
        index = server.get(INDEX_PATH)
        conforms(index.json(), "WellKnownIndex")
        assert index.headers["content-type"] == "application/json"
        names = [entry["name"] for entry in index.json()["skills"]]
        assert names == ["deploy", "pdf-tables", "prüfung", "unit-tests"]
        for entry in index.json()["skills"]:
            found = server.get(urljoin(server.base + INDEX_PATH, entry["url"]))
            assert found.headers["content-type"] == "text/markdown; charset=utf-8"
            assert f"sha256:{sha256(found.content).hexdigest()}" == entry["digest"]
        assert server.get("/.well-known/agent-skills/secret/SKILL.md").status_code == 404


def test_our_own_client_of_such_indexes_takes_it(tmp_path: Path) -> None:
    with running(tmp_path / "skills", FILES) as server:
        settings = Settings(enabled=(), sites=(server.base,))

        async def fetched() -> dict[str, bytes]:
            async with build_transport(settings) as transport:
                site = WellKnown(transport, settings.sites)
                hits = await site.listed(server.base)
                return {hit.name: (await site.fetch(hit)).files["SKILL.md"] for hit in hits}

        found = asyncio.run(fetched())
        assert found["deploy"] == LIBRARY["deploy/SKILL.md"].encode()
        assert len(found) == 4


def test_head_etag_and_caching(served: Running) -> None:
    for path in (INDEX_PATH, "/.well-known/agent-skills/deploy/SKILL.md"):
        got, head = served.get(path), served.client.head(path)
        assert head.content == b""
        for name in ("etag", "content-length", "content-type", "cache-control"):
            assert head.headers[name] == got.headers[name]
        assert "max-age" in got.headers["cache-control"]
        again = served.get(path, headers={"If-None-Match": got.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_pages_of_a_named_origin_may_read_it_and_nothing_else(tmp_path: Path) -> None:
    origin = "https://catalogue.example"
    with running(tmp_path / "skills", allowed_origins=(origin,)) as server:
        asked = {"Origin": origin}
        for path in (INDEX_PATH, "/.well-known/agent-skills/deploy/SKILL.md"):
            answer = server.get(path, headers=asked)
            assert answer.headers["access-control-allow-origin"] == origin
            assert "Origin" in answer.headers["vary"]
            flight = server.client.options(path, headers=asked)
            assert flight.status_code == 204
            assert flight.headers["access-control-allow-origin"] == origin
        for path in ("/search?q=pdf", "/health", "/rank?q=x"):
            answer = server.get(path, headers=asked)
            assert answer.status_code == 200
            assert "access-control-allow-origin" not in answer.headers
            flight = server.client.options(path.partition("?")[0], headers=asked)
            assert "access-control-allow-origin" not in flight.headers
        assert "access-control-allow-origin" not in server.get(INDEX_PATH).headers
        assert server.get(INDEX_PATH, headers={"Origin": "https://evil.example"}).status_code == 403


def test_a_service_with_a_token_lets_no_shared_cache_keep_it(tmp_path: Path) -> None:
    with running(tmp_path / "skills", token="secret") as server:
        answer = server.get(INDEX_PATH, headers={"Authorization": "Bearer secret"})
        assert answer.headers["cache-control"].startswith("private")
        assert server.get(INDEX_PATH).status_code == 401
