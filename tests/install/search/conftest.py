"""Servers that run for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard_testkit import FakeServers
from tests.install.search.fake_search import skill_text


@pytest.fixture
def up() -> Iterator[FakeServers]:
    with FakeServers() as running:
        yield running


@pytest.fixture
def three(up: FakeServers) -> FakeServers:
    """One skill that the marketplace lists, one in a repository of ours, one on a site."""
    up.add_repository("market/skills", {"skills/pdf-market/SKILL.md": skill_text("pdf-market")})
    up.list_skill("market/skills", "pdf-market", installs=50)
    up.add_repository("acme/skills", {"skills/pdf-ours/SKILL.md": skill_text("pdf-ours")})
    up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
    return up
