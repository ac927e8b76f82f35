"""Cut trees, spent quotas and lost upstreams: each is named, and costs no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard import SearchResult
from skillyard_testkit import FakeServers, faults
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
