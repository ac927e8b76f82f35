"""Cut trees, spent quotas and lost upstreams: each is named, and costs no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillyard import SearchResult, SearchService
from skillyard_testkit import FakeServers, RateLimit, faults
from tests.install.search.fake_search import (
    DEADLINE_S,
    QUICK,
    ids,
    searched,
    settings_of,
    skill_text,
    status_of,
    transport_of,
)


@pytest.fixture
def up(three: FakeServers) -> FakeServers:
    return three


def test_a_truncated_tree_does_not_pass_for_a_whole_one(up: FakeServers) -> None:
    files = {f"skills/pdf-{n}/SKILL.md": skill_text(f"pdf-{n}") for n in range(6)}
    up.add_repository("acme/skills", files)
    up.faults.add("github_api", "/repos/acme/*", faults.truncated_tree(), times=None)
    settings = settings_of(up, repositories=("acme/skills",))
    result = searched("pdf", settings=settings, sources=["github"])
    assert result.skills
    assert all(one.skill.body for one in result.skills)
    assert "acme/skills" in status_of(result, "github").message


class TestQuota:
    @pytest.fixture
    def spent(self, up: FakeServers) -> FakeServers:
        """Five repositories, and a quota for two calls."""
        for n in range(5):
            up.add_repository(f"o{n}/skills", {f"skills/pdf-{n}/SKILL.md": skill_text(f"pdf-{n}")})
            up.list_skill(f"o{n}/skills", f"pdf-{n}")
        up.switches.downloads = False
        up.switches.rate_limits["github_api"] = RateLimit(anonymous=2)
        return up

    def test_nobody_is_asked_again_before_the_reset(
        self, spent: FakeServers, tmp_path: Path
    ) -> None:
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
    def test_what_was_found_before_is_found_while_everything_is_away(
        self, up: FakeServers, tmp_path: Path
    ) -> None:
        now = 2_000_000_000.0
        settings = settings_of(up, sites=(up.well_known,), repositories=("acme/skills",), **QUICK)

        def ask() -> SearchResult:
            transport = transport_of(settings, tmp_path, deadline_s=DEADLINE_S, clock=lambda: now)
            return searched("pdf", settings=settings, transport=transport)

        fresh = ask()
        now += 86_400
        up.faults.add("*", "*", faults.status(429, retry_after=9), times=None)
        stale = ask()
        assert ids(stale) == ids(fresh)
        assert all(one.skill.body == "Do it so." for one in stale.skills)
        # every one of them says how old it is
        assert all(one.package and one.package.age_s >= 86_400 for one in stale.skills)
