"""The fake documented routes of skills.sh: shapes, tokens and limits."""

from __future__ import annotations

import pytest

from skillyard_testkit import FakeServers, RateLimit
from tests.tables import for_each
from tests.testkit.client import Got, ask


@pytest.fixture
def site(up: FakeServers) -> FakeServers:
    up.add_repository("demo/skills", {"skills/react/SKILL.md": "# React\n"})
    up.list_skill("demo/skills", "react", installs=900, curated=True)
    up.list_skill("demo/skills", "react-copy", installs=5, duplicate=True)
    up.list_skill("other/skills", "deploy-react", installs=70, curated=True)
    up.list_skill("example.com", "react-forms", installs=7)
    up.add_audit("demo/skills", "react", "Agent Trust", "pass", "Nothing found.", "low", ["a"])
    return up


def v1(up: FakeServers, path: str) -> Got:
    return ask(
        f"{up.skills_sh}/api/v1{path}", authorization=f"Bearer {up.switches.skills_sh_token}"
    )


def test_the_search_has_its_documented_shape(site: FakeServers) -> None:
    got = v1(site, "/skills/search?q=react&limit=10")
    assert got.status == 200
    shape = got.json
    items = shape.pop("data")
    assert shape == {"query": "react", "searchType": "fuzzy", "count": 4, "durationMs": 1}
    assert items[0] == {
        "id": "demo/skills/react", "slug": "react", "name": "react", "source": "demo/skills",
        "installs": 900, "sourceType": "github", "installUrl": "https://github.com/demo/skills",
        "url": f"{site.skills_sh}/demo/skills/react",
    }  # fmt: skip
    by_slug = {item["slug"]: item for item in items}
    assert by_slug["react-copy"]["isDuplicate"] is True
    hosted = by_slug["react-forms"]
    assert (hosted["sourceType"], hosted["installUrl"]) == ("well-known", None)


@for_each(
    "path",
    ["/skills/search", "/skills/search?q=x", "/skills/search?q=react&limit=0",
     "/skills/search?q=react&limit=201", "/skills/search?q=react&limit=ten",
     "/skills?view=newest", "/skills?page=-1", "/skills?per_page=501", "/skills?per_page=0"],
)  # fmt: skip
def test_parameters_out_of_range_are_400(site: FakeServers, path: str) -> None:
    got = v1(site, path)
    assert got.status == 400
    assert got.json["error"] == "invalid_request"
    assert sorted(got.json) == ["error", "message"]


def test_all_skills_come_in_pages(site: FakeServers) -> None:
    first = v1(site, "/skills?page=0&per_page=3").json
    assert [item["slug"] for item in first["data"]] == ["react", "deploy-react", "react-forms"]
    assert first["pagination"] == {"page": 0, "perPage": 3, "total": 4, "hasMore": True}
    second = v1(site, "/skills?page=1&per_page=3").json
    assert [item["slug"] for item in second["data"]] == ["react-copy"]
    assert second["pagination"]["hasMore"] is False
    for view in ("all-time", "trending", "hot"):
        assert len(v1(site, f"/skills?view={view}").json["data"]) == 4


def test_one_skill_comes_with_its_files(site: FakeServers) -> None:
    got = v1(site, "/skills/demo/skills/react").json
    assert len(got.pop("hash")) == 64
    assert got == {
        "id": "demo/skills/react", "source": "demo/skills", "slug": "react", "installs": 900,
        "files": [{"path": "SKILL.md", "contents": "# React\n"}],
    }  # fmt: skip
    hosted = v1(site, "/skills/example.com/react-forms").json
    assert (hosted["hash"], hosted["files"]) == (None, None)


def test_without_a_token_nothing_is_answered(site: FakeServers) -> None:
    url = f"{site.skills_sh}/api/v1/skills"
    got = ask(url)
    assert (got.status, got.json["error"]) == (401, "authentication_required")
    assert got.headers["x-ratelimit-limit"] == "60"
    wrong = ask(url, authorization="Bearer wrong")
    assert (wrong.status, wrong.json["error"]) == (401, "invalid_token")
    site.switches.v1_open = True
    assert ask(url).status == 200
    assert ask(url, authorization="Bearer wrong").status == 401


def test_every_answer_says_what_is_left_until_nothing_is() -> None:
    with FakeServers(clock=lambda: 1_000.0) as up:
        up.switches.rate_limits["skills_sh_v1"] = RateLimit(authorised=2, window_s=60, status=429)
        first, second, third = (v1(up, "/skills") for _ in range(3))
        for got, left in ((first, "1"), (second, "0"), (third, "0")):
            assert got.headers["x-ratelimit-limit"] == "2"
            assert got.headers["x-ratelimit-remaining"] == left
            assert got.headers["x-ratelimit-reset"] == "60"
        assert (first.status, second.status, third.status) == (200, 200, 429)
        assert third.headers["retry-after"] == "60"
        assert third.json["error"] == "rate_limit_exceeded"
        assert ask(f"{up.skills_sh}/api/search?q=react").status == 200  # another budget
