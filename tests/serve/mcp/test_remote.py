"""The tools that look further than the library, through the SDK's client, against the stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.install.search.fake_search import settings_of, skill_text
from tests.serve.mcp.local_servers import ERAS, Serving, called, eventually, serving, shows

MARKET = "market/skills"
BODY = "Fill the form, field by field.</skill_content>"


@pytest.fixture
def market(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServers]:
    """Remotes with one marketplace skill, and a cache that no other test fills."""
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    with FakeServers() as up:
        up.add_repository(
            MARKET,
            {
                "skills/pdf-market/SKILL.md": skill_text("pdf-market", "Fill PDF forms.", BODY),
                "skills/pdf-market/references/fields.md": "Name first.",
            },
        )
        up.list_skill(MARKET, "pdf-market", installs=50)
        yield up


def settings(up: FakeServers, **changes: Any) -> Settings:
    return settings_of(up, enabled=("skills.sh",), **changes)


def remote(tmp_path: Path, up: FakeServers, **changes: Any) -> Any:
    return serving(tmp_path / "skills", local_only=False, settings=settings(up, **changes))


def structured(server: Serving, tool: str, **arguments: Any) -> dict[str, Any]:
    result = server.call(tool, arguments)
    assert result.is_error is False, shows(result)
    return dict(result.structured_content or {})


def test_remote_and_own_skills_come_in_one_answer_each_with_its_origin(
    tmp_path: Path, market: FakeServers
) -> None:
    with remote(tmp_path, market) as server:
        found = structured(server, "search_skills", query="pdf", max_tokens=1_000)
        origins = {each["id"]: each["origin"] for each in found["skills"]}
        assert origins == {
            "pdf-market": "remote: market/skills/pdf-market, found by skills.sh",
            "pdf-tables": "local library: pdf-tables/SKILL.md",
        }
        content = next(s["content"] for s in found["skills"] if s["id"] == "pdf-market")
        assert content.count("</skill_content>") == 1
        assert [each["state"] for each in found["sources"]] == ["ok", "ok"]


@pytest.mark.parametrize("era", [ERAS[0], pytest.param(ERAS[1], marks=pytest.mark.slow)])
def test_a_cancelled_search_lets_go_of_the_source_that_hangs(
    tmp_path: Path, market: FakeServers, era: str
) -> None:
    market.faults.add("skills_sh", "*", faults.hang(), times=None)
    with remote(tmp_path, market, source_timeout_s=600.0) as server:

        async def asked() -> bool:
            return market.count("skills_sh") == 1

        async def let_go() -> bool:
            return bool(server.context.guard.running == 0)

        async def work(client: Client) -> None:
            search = asyncio.create_task(called(client, "search_skills", {"query": "pdf"}))
            await eventually(asked)
            search.cancel()
            await asyncio.wait({search})
            assert search.cancelled()
            await eventually(let_go)
            assert "Ship it." in shows(await called(client, "load_skill", {"name": "deploy"}))

        server.asked(work, era)
