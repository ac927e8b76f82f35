"""Odd items, spent quotas and lost upstreams: each is read, or named, as far as it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from skillyard.search import SearchResult, SearchService
from skillyard.standin import Budget, Upstreams, faults
from skillyard.standin.answers import json_answer
from tests.search.asking import (
    DEADLINE_S,
    EVERY,
    QUICK,
    ask_three,
    by_id,
    ids,
    searched,
    settings_of,
    skill_text,
    status_of,
    transport_of,
)


@pytest.fixture
def up(three: Upstreams) -> Upstreams:
    return three


class TestListing:
    """Odd items of a good answer: each is read as far as it goes, and none costs another."""

    @pytest.mark.parametrize(
        ("installs", "expected"),
        [(None, 0), ("123", 123), (-5, 0), (7.9, 7), ("many", 0), ([], 0), ({}, 0), (True, None),
         (float("inf"), None), (float("nan"), 0), (10**30, None)],
    )  # fmt: skip
    def test_odd_installs(self, up: Upstreams, installs: Any, expected: int | None) -> None:
        up.list_skill("market/skills", "pdf-odd", installs=installs)
        result = ask_three(up)
        assert set(ids(result)) == EVERY | {"pdf-odd"}
        count = by_id(result)["pdf-odd"].skill.install_count
        assert type(count) is int
        assert count >= 0
        if expected is not None:
            assert count == expected

    @pytest.mark.parametrize(
        "fields",
        [{"name": None}, {"name": 7}, {"name": ["x"]}, {"id": 7}, {"skillId": None},
         {"source": None}, {"source": 7}, {"source": ""}, {"skillId": ""},
         {"source": "../../etc", "skillId": "passwd"}, {"skillId": "../../../etc/passwd"},
         {"source": "a/b/c/d"}, {"source": "http://169.254.169.254/x"}, {"skillId": "a\r\nb"}],
        ids=repr,
    )  # fmt: skip
    def test_odd_items(self, up: Upstreams, fields: dict[str, Any]) -> None:
        up.list_skill("market/skills", "pdf-odd", fields=fields)
        result = ask_three(up)
        assert set(ids(result)) >= EVERY
        assert all(one.skill.body for one in result.skills if one.hit.id in EVERY)
        for one in up.requests:
            assert ".." not in one.path.replace("%2e", ".").replace("%2E", ".").split("/")
        result.to_dict()

    def test_the_older_shape_is_read(self, up: Upstreams) -> None:
        up.search_shape = "old"
        result = ask_three(up)
        market = by_id(result)["pdf-market"]
        assert market.hit.source == "market/skills"
        assert market.skill.body == "Do it so."

    def test_a_bare_domain_is_kept_as_a_pointer(self, up: Upstreams) -> None:
        up.list_skill("skills.example.com", "pdf-domain", installs=7)
        result = ask_three(up)
        assert set(ids(result)) == EVERY | {"pdf-domain"}
        one = by_id(result)["pdf-domain"]
        assert one.hit.source == "skills.example.com"
        assert one.skill.body is None
        assert one.failure is not None

    @pytest.mark.parametrize("path", ["../evil.md", "/etc/passwd", "a/../../b.md", "..\\b.md"])
    def test_a_path_of_a_snapshot_never_leaves_the_skill(self, up: Upstreams, path: str) -> None:
        body = {"files": [{"path": "SKILL.md", "contents": skill_text("pdf-market")},
                          {"path": path, "contents": "evil"}], "hash": "0"}  # fmt: skip
        up.faults.add("skills_sh", "/api/download/*", faults.said(json_answer(body)), times=None)
        settings = settings_of(up)
        result = searched("pdf", settings=settings, include_references=True)
        for one in result.skills:
            assert one.skill.body == "Do it so."
            assert all(".." not in reference.path for reference in one.skill.references)
            assert all(reference.content != "evil" for reference in one.skill.references)

    def test_a_truncated_tree_does_not_pass_for_a_whole_one(self, up: Upstreams) -> None:
        files = {f"skills/pdf-{n}/SKILL.md": skill_text(f"pdf-{n}") for n in range(6)}
        up.add_repository("acme/skills", files)
        up.faults.add("github_api", "/repos/acme/*", faults.truncated_tree(), times=None)
        settings = settings_of(up, repositories=("acme/skills",))
        result = searched("pdf", settings=settings, sources=["github"])
        assert result.skills
        assert all(one.skill.body for one in result.skills)
        assert "acme/skills" in status_of(result, "github").message

    def test_a_tree_of_50_000_entries_is_searched(self, up: Upstreams) -> None:
        up.add_big_tree("big/tree", 50_000)
        settings = settings_of(up, repositories=("big/tree",))
        result = searched("skill-00042", 3, settings=settings, sources=["github"])
        assert ids(result)[0] == "skill-00042"
        assert result.skills[0].skill.body


class TestQuota:
    @pytest.fixture
    def spent(self, up: Upstreams) -> Upstreams:
        """Five repositories, and a quota for two calls."""
        for n in range(5):
            up.add_repository(f"o{n}/skills", {f"skills/pdf-{n}/SKILL.md": skill_text(f"pdf-{n}")})
            up.list_skill(f"o{n}/skills", f"pdf-{n}")
        up.switches.downloads = False
        up.switches.budgets["github_api"] = Budget(anonymous=2)
        return up

    def test_what_is_left_is_used_and_the_rest_is_named(self, spent: Upstreams) -> None:
        result = searched("pdf", settings=settings_of(spent))
        with_body = [one for one in result.skills if one.skill.body]
        assert len(with_body) == 2
        assert len(result.skills) == 6
        for one in result.skills[2:]:
            assert one.failure is not None
            assert one.failure.code == "rate_limited"
            assert one.failure.retry_after_s is not None
            assert 0 < one.failure.retry_after_s <= 3600
            assert "rate" in one.to_dict()["fetch_error"] or "quota" in one.to_dict()["fetch_error"]

    def test_nobody_is_asked_again_before_the_reset(self, spent: Upstreams, tmp_path: Path) -> None:
        settings = settings_of(spent)
        now = [1_000_000_000.0 * 2]
        transport = transport_of(settings, tmp_path, clock=lambda: now[0])

        async def twice() -> int:
            async with SearchService(settings=settings, transport=transport) as search:
                await search.search("pdf")
                before = spent.count("github_api")
                now[0] += 1
                await search.search("pdf")
                return spent.count("github_api") - before

        spent.faults.add("github_api", "*", faults.secondary_limited(403, 600), times=None)
        assert asyncio.run(twice()) == 0


class TestStale:
    @pytest.mark.parametrize(
        "fault",
        [faults.status(500), faults.html(), faults.status(429, retry_after=9), faults.hang()],
        ids=["500", "html", "429", "hang"],
    )
    def test_what_was_found_before_is_found_while_everything_is_away(
        self, up: Upstreams, tmp_path: Path, fault: faults.Fault
    ) -> None:
        now = 2_000_000_000.0
        settings = settings_of(up, sites=(up.well_known,), repositories=("acme/skills",), **QUICK)

        def ask() -> SearchResult:
            transport = transport_of(settings, tmp_path, deadline_s=DEADLINE_S, clock=lambda: now)
            return searched("pdf", settings=settings, transport=transport)

        fresh = ask()
        now += 86_400
        up.faults.add("*", "*", fault, times=None)
        stale = ask()
        assert ids(stale) == ids(fresh)
        assert all(one.skill.body == "Do it so." for one in stale.skills)
        # every one of them says how old it is
        assert all(one.package and one.package.age_s >= 86_400 for one in stale.skills)


def test_a_renamed_repository_is_followed_on_its_own_host(up: Upstreams) -> None:
    files = {"skills/pdf-new/SKILL.md": skill_text("pdf-new")}
    up.add_repository("new/skills", files)
    up.add_repository("old/skills", renamed_to="new/skills")
    up.list_skill("old/skills", "pdf-new")
    up.switches.downloads = False
    result = ask_three(up)
    assert by_id(result)["pdf-new"].skill.body == "Do it so."


def test_an_empty_repository_is_no_failure_of_the_others(up: Upstreams) -> None:
    up.add_repository("acme/empty")
    settings = settings_of(up, repositories=("acme/empty", "acme/skills"))
    result = searched("pdf", settings=settings, sources=["github"])
    assert ids(result) == ["pdf-ours"]


def test_one_repository_of_several_that_fails_is_named(up: Upstreams) -> None:
    up.faults.add("github_api", "/repos/broken/*", faults.status(500), times=None)
    settings = settings_of(up, repositories=("broken/skills", "acme/skills"))
    result = searched("pdf", settings=settings, sources=["github"])
    assert ids(result) == ["pdf-ours"]
    assert "broken/skills" in status_of(result, "github").message
    assert result.partial


def test_one_site_of_several_that_fails_is_named(up: Upstreams) -> None:
    settings = settings_of(up, sites=(f"{up.other}/nothing", up.well_known))
    result = searched("pdf", settings=settings, sources=["well-known"])
    assert ids(result) == ["pdf-site"]
    assert up.other in status_of(result, "well-known").message
    assert result.partial


def test_offline_without_a_cache_everything_is_named(up: Upstreams) -> None:
    settings = settings_of(up, offline=True, sites=(up.well_known,), repositories=("acme/skills",))
    result = searched("pdf", settings=settings, sources=["skills.sh", "github", "well-known"])
    assert [status.code for status in result.sources] == ["offline"] * 3
    assert result.failed
    assert up.requests == []
