"""Every way in which the fake servers can fail, as a client sees it."""

from __future__ import annotations

import gzip
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from skillyard_testkit import FakeServers, faults
from tests.tables import for_each
from tests.testkit.client import ask

FILE = "# X\n" * 50
TREE = "/repos/demo/skills/git/trees/HEAD"


@pytest.fixture
def site(up: FakeServers) -> FakeServers:
    up.add_repository("demo/skills", {"skills/x/SKILL.md": FILE, "a.md": "a", "b.md": "b"})
    up.list_skill("demo/skills", "x", installs=3)
    up.add_well_known("x", {"SKILL.md": FILE})
    return up


def paths(up: FakeServers) -> dict[str, str]:
    return {
        "github_api": f"{up.github_api}{TREE}?recursive=1",
        "github_raw": f"{up.github_raw}/demo/skills/HEAD/skills/x/SKILL.md",
        "skills_sh": f"{up.skills_sh}/api/download/demo/skills/x",
        "well_known": f"{up.well_known}/.well-known/agent-skills/x/SKILL.md",
        "other": f"{up.other}/x",
    }


SERVERS = ["github_api", "github_raw", "skills_sh", "well_known", "other"]


@for_each("server", SERVERS)
@for_each("code", [401, 403, 404, 429, 451, 500])
def test_a_status_comes_in_the_shape_of_its_server(
    site: FakeServers, server: str, code: int
) -> None:
    site.faults.add(server, "*", faults.status(code, retry_after=7))
    got = ask(paths(site)[server])
    assert (got.status, got.headers["retry-after"]) == (code, "7")
    if server == "github_api":
        assert got.json["message"]
        assert got.json.get("status", "401") == str(code)
        assert "x-ratelimit-remaining" in got.headers
    elif server == "skills_sh":
        assert got.body == b"Forbidden" if code == 403 else list(got.json) == ["error"]
    elif server == "github_raw":
        assert got.body.startswith(f"{code}: ".encode())
    assert ask(paths(site)[server]).status == 200  # it happened once


@for_each("code", [301, 307])
def test_a_redirect_may_lead_to_another_host(site: FakeServers, code: int) -> None:
    site.faults.add("github_raw", "*", faults.redirect(f"{site.other}/stolen", code))
    got = ask(paths(site)["github_raw"])
    assert (got.status, got.headers["location"]) == (code, f"{site.other}/stolen")
    assert ask(got.headers["location"], authorization="Bearer t").status == 200
    assert site.requests[-1].server == "other"
    assert site.requests[-1].headers["authorization"] == "Bearer t"


def opened(url: str) -> tuple[HTTPConnection, Any]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request("GET", parts.path, headers={"user-agent": "tests"})
    return connection, connection.getresponse()


def test_a_body_may_have_no_end(site: FakeServers) -> None:
    site.faults.add("other", "*", faults.endless())
    connection, response = opened(paths(site)["other"])
    assert response.getheader("content-length") is None
    assert len(response.read(2_000_000)) == 2_000_000
    connection.close()


def test_an_index_may_name_digests_that_are_wrong(site: FakeServers) -> None:
    url = f"{site.well_known}/.well-known/agent-skills/index.json"
    right = ask(url).json["skills"][0]["digest"]
    site.faults.add("well_known", "*/index.json", faults.wrong_digest())
    wrong = ask(url).json["skills"][0]["digest"]
    assert wrong != right
    assert (wrong[:7], len(wrong)) == ("sha256:", len(right))


def test_a_small_body_may_unpack_to_a_large_one(site: FakeServers) -> None:
    size = 8 * 1024 * 1024
    site.faults.add("github_raw", "*", faults.gzip_bomb(size))
    got = ask(paths(site)["github_raw"])
    assert got.headers["content-encoding"] == "gzip"
    assert len(got.body) < size / 500
    assert gzip.decompress(got.body) == b" " * size


def test_faults_meet_requests_in_the_order_of_adding(site: FakeServers) -> None:
    site.faults.add("github_raw", "/demo/*", faults.status(500), times=2)
    site.faults.add("*", "*", faults.status(503))
    codes = [ask(paths(site)["github_raw"]).status for _ in range(4)]
    assert codes == [500, 500, 503, 200]


def test_a_fault_keeps_to_its_server_and_its_paths(site: FakeServers) -> None:
    site.faults.add("github_raw", "/other/*", faults.status(500), times=None)
    site.faults.add("skills_sh", "*", faults.status(500), times=None)
    assert ask(paths(site)["github_raw"]).status == 200
    assert ask(paths(site)["well_known"]).status == 200


def test_a_standing_fault_stays_until_it_is_cleared(site: FakeServers) -> None:
    site.faults.add("github_api", "*/git/trees/*", faults.status(500), times=None)
    url = paths(site)["github_api"]
    assert [ask(url).status for _ in range(3)] == [500, 500, 500]
    site.faults.clear()
    assert ask(url).status == 200
