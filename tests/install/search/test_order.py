"""The order is total, and the same search gives the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import (
    keys,
    searched,
    settings_of,
    skill_text,
    transport_of,
)
from tests.install.search.memory import Memory, hit
from tests.shared_data import PACKAGES

BARE = Settings(shipped_registry=False, ranker="relevance")


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """A skill with a reference, a pointer, and a skill of a site."""
    files = {"tools/deep/pdf/SKILL.md": skill_text("pdf"), "tools/deep/pdf/references/a.md": "A."}
    up.add_repository("acme/skills", files)
    up.list_skill("acme/skills", "pdf", installs=500)
    up.list_skill("gone/skills", "pdf-gone", installs=3)
    up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
    return up


class TestOrder:
    def test_equal_scores_are_ordered_by_source_and_id(self) -> None:
        hits = [hit(f"kit-{n}", f"{owner}/skills") for owner in "cab" for n in (2, 0, 1)]
        expected = sorted(one.key for one in hits)
        for order in (hits, hits[::-1], sorted(hits), hits[4:] + hits[:4]):
            result = searched("nothing", settings=BARE, sources=[Memory(order)])
            assert keys(result) == expected


CHILD = """
import asyncio, json, sys
from skillyard.install.search import SearchService
from skillyard.install.sources.settings import Settings

async def main():
    settings = Settings(**json.loads(sys.argv[1]))
    async with SearchService(settings=settings, cache=False) as search:
        result = await search.search("pdf kit", include_references=True)
    print(json.dumps(result.to_dict(include_raw=True, explain=True)))

asyncio.run(main())
"""


class TestDeterminism:
    @pytest.fixture
    def library(self, up: FakeServers) -> FakeServers:
        for n in range(4):
            names = [f"pdf-kit-{n}-{m}" for m in range(3)]
            files = {f"skills/{name}/SKILL.md": skill_text(name) for name in names}
            up.add_repository(f"owner-{n}/skills", files | {"skills/a/references/x.md": "x"})
            for name in names:
                up.list_skill(f"owner-{n}/skills", name)
        return up

    def document(self, up: FakeServers, folder: Path | None = None) -> str:
        settings = self.settings(up)
        transport = transport_of(settings, folder, clock=lambda: 2_000_000_000.0)
        result = searched(
            "pdf kit", settings=settings, transport=transport, include_references=True
        )
        assert result.count == 10
        return json.dumps(result.to_dict(include_raw=True, explain=True))

    def settings(self, up: FakeServers) -> Settings:
        return settings_of(
            up,
            sites=(up.well_known,),
            repositories=("owner-3/skills", "owner-0/skills", "acme/skills"),
        )

    def test_two_processes_with_other_hash_seeds_give_the_same_bytes(
        self, library: FakeServers
    ) -> None:
        settings = json.dumps(self.settings(library)._asdict())
        answers = []
        for seed in ("1", "2"):
            environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGES)}
            root = Path(__file__).resolve().parents[3]
            done = subprocess.run(
                [sys.executable, "-c", CHILD, settings],
                env=environment,
                cwd=root,
                capture_output=True,
                check=True,
                timeout=60,
            )
            answers.append(done.stdout)
        assert answers[0] == answers[1]
        assert json.loads(answers[0])["count"] == 10
