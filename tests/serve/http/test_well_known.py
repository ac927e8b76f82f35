"""The well-known index promises digests of exactly what is served, to those who may read it."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin

from skillyard.install.copies.archives import read_archive
from skillyard.install.sources.build import build_transport
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.settings import Settings
from skillyard.install.sources.well_known import WellKnown
from skillyard.serve.http.routes.discovery import INDEX_PATH
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.serve.http.shapes import conforms
from tests.worked_examples.making import document

MEDIA = {"skill-md": "text/markdown; charset=utf-8", "archive": "application/zip"}
FILES = {
    **LIBRARY,
    "AGENTS.md": "Always on.\n",
    ".skills/single.md": document("single", "A single document."),
    "secret/SKILL.md": document("secret", "Hidden.", extra="metadata:\n  internal: true\n"),
    "umlaut/SKILL.md": document("prüfung", "A name beyond ASCII."),
}


@requirement("client:npx-skills")
def test_every_digest_is_of_the_bytes_that_are_served(tmp_path: Path) -> None:
    with running(tmp_path / "skills", FILES) as server:
        index = server.get(INDEX_PATH)
        conforms(index.json(), "WellKnownIndex")
        assert index.headers["content-type"] == "application/json"
        listed = {entry["name"]: entry for entry in index.json()["skills"]}
        assert {name: (entry["type"], entry["url"]) for name, entry in listed.items()} == {
            "deploy": ("skill-md", "deploy/SKILL.md"),
            "pdf-tables": ("archive", "pdf-tables.zip"),
            "prüfung": ("skill-md", "pr%C3%BCfung/SKILL.md"),
            "unit-tests": ("skill-md", "unit-tests/SKILL.md"),
        }
        for entry in listed.values():
            found = server.get(urljoin(server.base + INDEX_PATH, entry["url"]))
            media = MEDIA[entry["type"]]
            assert found.headers["content-type"] == media
            assert f"sha256:{sha256(found.content).hexdigest()}" == entry["digest"]
        for path in ("secret/SKILL.md", "secret.zip", "deploy.zip", "nothing.zip"):
            assert server.get(f"/.well-known/agent-skills/{path}").status_code == 404


@requirement("client:npx-skills")
def test_our_own_client_of_such_indexes_takes_every_file_of_it(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    write_tree(root, FILES)
    (root / "pdf-tables/scripts").mkdir()
    (root / "pdf-tables/scripts/cut.py").write_bytes(b"#!/usr/bin/env python3\n\xff\0")
    (root / "pdf-tables/scripts/cut.py").chmod(0o755)
    with running(root) as server:
        settings = Settings(enabled=(), sites=(server.base,))

        async def fetched() -> dict[str, Package]:
            async with build_transport(settings) as transport:
                site = WellKnown(transport, settings.sites)
                hits = await site.list_skills(server.base)
                return {hit.name: await site.fetch(hit, whole=True) for hit in hits}

        found = asyncio.run(fetched())
        assert found["deploy"].files == {"SKILL.md": LIBRARY["deploy/SKILL.md"].encode()}
        package = found["pdf-tables"]
        assert package.files == {
            path: (root / "pdf-tables" / path).read_bytes()
            for path in ("SKILL.md", "references/layout.md", "scripts/cut.py")
        }
        assert package.executable == frozenset({"scripts/cut.py"})
        assert len(found) == 4


@requirement("client:npx-skills")
def test_an_archive_is_the_skills_folder_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    write_tree(root, {**LIBRARY, "../outside.txt": "secret", "pdf-tables/.git/config": "x"})
    (root / "pdf-tables/link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "pdf-tables/folder").symlink_to(tmp_path)
    write_tree(root, {f"many/{number}.txt": "x" for number in range(512)})
    write_tree(root, {"many/SKILL.md": document("many"), "colon/SKILL.md": document("colon")})
    write_tree(root, {"colon/a:b.txt": "x"})
    with running(root) as server:
        first = server.get("/.well-known/agent-skills/pdf-tables.zip")
        again = server.get("/.well-known/agent-skills/pdf-tables.zip")
        assert again.content == first.content
        names = [file.path for file in read_archive(first.content, "zip")]
        assert names == ["SKILL.md", "references/layout.md"]

        def digests() -> dict[str, str]:
            listed = server.get(INDEX_PATH).json()["skills"]
            return {entry["name"]: entry["digest"] for entry in listed}

        before = digests()
        assert set(before) == {"deploy", "pdf-tables", "unit-tests"}  # the others are not whole
        (root / "pdf-tables/references/layout.md").write_text("Rows first, and then columns.\n")
        after = digests()
        assert {name for name in before if before[name] != after[name]} == {"pdf-tables"}


def test_a_description_is_no_longer_than_javascript_counts(tmp_path: Path) -> None:
    files = {"long/SKILL.md": document("long", "\U0001f4c4" * 1_000)}
    with running(tmp_path / "skills", files) as server:
        (entry,) = server.get(INDEX_PATH).json()["skills"]
        assert entry["description"] == "\U0001f4c4" * 512


def test_head_etag_and_caching(served: Running) -> None:
    below = "/.well-known/agent-skills"
    for path in (INDEX_PATH, f"{below}/deploy/SKILL.md", f"{below}/pdf-tables.zip"):
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
