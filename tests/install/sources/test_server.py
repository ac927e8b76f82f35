"""Another skillyard server as a source: a real one is read whole, a hostile one costs itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from skillyard import SourceFailed
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.server import NO_OTHERS, ServerSource
from skillyard.install.sources.transport import RemoteHost, Transport
from skillyard_testkit import Response
from skillyard_testkit.messages import json_response
from tests.install.sources.clients import GITHUB_TOKEN, SKILLS_SH_TOKEN, Network, sent
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.tables import for_each

WITH_SCRIPT = {**LIBRARY, "pdf-tables/scripts/cut.py": "print()\n"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real server of three skills, over HTTP on loopback."""
    with running(tmp_path_factory.mktemp("served") / "skills", WITH_SCRIPT) as server:
        yield server


def hosts(url: str) -> dict[str, RemoteHost]:
    return {f"server:{url}": RemoteHost(url.rstrip("/"))}


def search(net: Network, url: str, query: str, limit: int = 10, **how: Any) -> list[Hit]:
    async def asked(transport: Transport) -> list[Hit]:
        return await ServerSource(transport, url).search(query, limit)

    return net.ask(asked, more=hosts(url), **how)


def fetch(
    net: Network,
    url: str,
    hit: Hit,
    *,
    how: Mapping[str, Any] | None = None,
    **amount: bool,
) -> Package:
    async def asked(transport: Transport) -> Package:
        return await ServerSource(transport, url).fetch(hit, **amount)

    return net.ask(asked, more=hosts(url), **(how or {}))


def failure(net: Network, *, how: Mapping[str, Any] | None = None) -> SourceFailed:
    with pytest.raises(SourceFailed) as caught:
        search(net, net.up.other, "pdf", **(how or {}))
    return caught.value


# --- a real server ---


def test_what_a_server_finds_is_found_in_its_order(net: Network, served: Running) -> None:
    hits = search(net, served.base, "extract tables from pdf files")
    assert hits[0]._replace(found_by="") == Hit(
        "local", "pdf-tables", "", "pdf-tables", "Extract tables from PDF files."
    )
    assert {hit.found_by for hit in hits} == {f"server:{served.base}"}
    listed = served.get("/search?q=extract%20tables%20from%20pdf%20files").json()["skills"]
    assert [hit.id for hit in hits] == [item["id"] for item in listed]


def test_a_whole_skill_says_what_a_server_does_not_give(net: Network, served: Running) -> None:
    """Its script does not come, and nobody is told that the skill is complete."""
    package = fetch(net, served.base, search(net, served.base, "pdf tables")[0], whole=True)
    assert set(package.files) == {"SKILL.md", "references/layout.md"}
    assert tuple(package.skipped) == (NO_OTHERS,)


@for_each("name", ["none", "..", "../deploy", "a/b", "a?b", "#", "%2e%2e", "\x00"])
def test_what_a_server_does_not_have_is_a_failure_with_a_code(
    net: Network, served: Running, name: str
) -> None:
    hit = Hit("local", name, f"server:{served.base}")
    with pytest.raises(SourceFailed) as caught:
        fetch(net, served.base, hit)
    assert caught.value.code in ("not_found", "status")
    assert served.get("/health").status_code == 200


def test_offline_what_was_asked_answers_with_its_age(net: Network, served: Running) -> None:
    hit = search(net, served.base, "pdf tables")[0]
    fresh = fetch(net, served.base, hit)
    net.clock.turn(7_200)
    how = {"offline": True}
    assert search(net, served.base, "pdf tables", **how)[0] == hit
    stale = fetch(net, served.base, hit, how=how)
    assert stale.files == fresh.files
    assert stale.age_s == 7_200
    with pytest.raises(SourceFailed) as caught:
        search(net, served.base, "never asked", **how)
    assert caught.value.code == "offline"


# --- a hostile one ---


def item(**fields: Any) -> dict[str, Any]:
    return {"source": "acme/skills", "id": "pdf", "title": "pdf", "description": "PDF.", **fields}


def listing(*items: Any) -> Response:
    return json_response({"skills": list(items)})


BAD: Mapping[str, tuple[Response, str]] = {
    "a page": (Response(200, b"<html>", {"content-type": "text/html"}), "bad_answer"),
    "null": (json_response(None), "bad_answer"),
    "a list": (json_response([item()]), "bad_answer"),
    "skills that are none": (json_response({"skills": {"a": item()}}), "bad_answer"),
    "no text": (Response(200, b'{"skills": ["\xff\xfe"]}'), "bad_answer"),
    "a deep answer": (Response(200, b'{"skills":' + b"[" * 100_000), "bad_answer"),
    "cut off": (Response(200, b'{"skills": [{"id": "x", "sou'), "bad_answer"),
    "too large": (Response(200, b" " * (17 << 20)), "too_large"),
    "404": (json_response({}, 404), "not_found"),
    "429": (json_response({}, 429, retry_after="9"), "rate_limited"),
    "500": (json_response({}, 500), "status"),
    "somewhere else": (Response(302, headers={"location": "http://169.254.169.254/"}), "refused"),
}


@for_each("name", BAD)
def test_a_bad_answer_is_a_failure_with_its_name(net: Network, name: str) -> None:
    net.up.faults.clear()
    answer, code = BAD[name]
    net.answers("other", *[answer] * 8)
    error = failure(net, how={"kept": False})
    assert error.code == code
    assert net.up.other in str(error)


HIT = Hit("acme/skills", "pdf", "server")
HOSTILE_PATHS = [
    "../evil.md", "/etc/passwd", "a/../../b.md", "..\\b.md", "C:evil.md", ".git/hooks/x", "",
    "SKILL.md", "skill.md", "a\x00b", "a/" * 300 + "b",
]  # fmt: skip


def test_hostile_paths_of_references_are_left_out_and_named(net: Network) -> None:
    references = [{"path": path, "content": "evil"} for path in HOSTILE_PATHS]
    references.append({"path": "ok.md", "content": "fine"})
    net.answers("other", json_response({"raw_content": "# PDF\n", "references": references}))
    package = fetch(net, net.up.other, HIT, references=True)
    assert dict(package.files) == {"SKILL.md": b"# PDF\n", "ok.md": b"fine"}
    assert len(package.skipped) == len(HOSTILE_PATHS)


@for_each("source", ["..", "../..", "a/../../b", "//evil.test", "?q=", "#", "a b"])
def test_a_source_that_a_server_made_up_stays_a_path_on_that_server(
    net: Network, source: str
) -> None:
    net.answers("other", json_response({"raw_content": "# PDF\n"}))
    try:
        fetch(net, net.up.other, HIT._replace(source=source))
    except SourceFailed:
        pass
    assert {request.server for request in net.up.requests} <= {"other"}


# --- tokens and other hosts ---


def test_a_server_is_told_no_token_of_anybody(net: Network) -> None:
    net.answers("other", listing(item()))
    search(net, net.up.other, "pdf", tokens=True)
    (headers,) = sent(net, "other")
    assert "authorization" not in headers
    assert not any(
        token in value for token in (GITHUB_TOKEN, SKILLS_SH_TOKEN) for value in headers.values()
    )
