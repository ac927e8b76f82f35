"""A server that several tests ask, and stand-ins for what it asks itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.serve.http.local_server import Running, running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of three skills that asks nobody else."""
    with running(tmp_path_factory.mktemp("library") / "skills") as server:
        yield server


@pytest.fixture
def up(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServers]:
    """The stand-ins; what they answer is kept nowhere but in this test's folder."""
    monkeypatch.setenv("SKILLYARD_CACHE", f"{tmp_path}/cache")
    with FakeServers() as upstreams:
        yield upstreams


@pytest.fixture
def settings(up: FakeServers) -> Settings:
    return Settings(
        enabled=("skills.sh", "github", "well-known"),
        skills_sh_url=up.skills_sh,
        github_api_url=up.github_api,
        github_raw_url=up.github_raw,
        sites=(up.well_known,),
        repositories=("acme/skills",),
        shipped_registry=False,
    )
