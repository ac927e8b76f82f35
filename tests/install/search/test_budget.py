"""What a search costs its upstreams: each thing is asked for once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.sources.responses import ResponseCache
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, RecordedRequest
from tests.install.search.fake_search import (
    searched,
    settings_of,
    skill_text,
)

REPOSITORIES = tuple(f"owner-{n}/skills" for n in range(5))
SKILLS_EACH = 4


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """Five repositories of four skills, all of them on the marketplace."""
    for repository in REPOSITORIES:
        names = [f"pdf-{repository[6]}-{n}" for n in range(SKILLS_EACH)]
        files = {f"skills/{name}/SKILL.md": skill_text(name) for name in names}
        files |= {f"skills/{name}/references/a.md": "A." for name in names}
        up.add_repository(repository, files)
        for place, name in enumerate(names):
            up.list_skill(repository, name, installs=place)
    return up


def set_up(up: FakeServers, setup: str, folder: Path) -> Settings:
    """Return the settings of a set-up: which sources know the skills."""
    up.switches.downloads = setup == "snapshots"
    changes: dict[str, Any] = {}
    if setup in {"listed by us", "everything"}:
        changes["repositories"] = REPOSITORIES
    if setup in {"registered", "everything"}:
        file = folder / "registry.md"
        file.write_text(
            "".join(
                f"- pdf-{n}-0 | {repository} | skills/pdf-{n}-0 | Work with pdf\n"
                for n, repository in enumerate(REPOSITORIES)
            ),
            encoding="utf-8",
        )
        changes["registry_files"] = (str(file),)
    if setup == "everything":
        up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
        changes["sites"] = (up.well_known,)
    return settings_of(up, **changes)


def asked(up: FakeServers) -> Counter[tuple[str, str]]:
    return Counter((one.server, one.path) for one in up.requests)


def trees(requests: list[RecordedRequest]) -> Counter[str]:
    """Return how often each repository's tree was asked for."""
    return Counter(
        "/".join(one.path.split("/")[2:4]) for one in requests if "/git/trees/" in one.path
    )


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return ResponseCache(str(tmp_path / "responses"))


class TestColdSearch:
    @pytest.mark.parametrize(
        ("setup", "references"),
        [("snapshots", True), ("no snapshots", False), ("listed by us", True),
         ("registered", False), ("everything", True)],
    )  # fmt: skip
    def test_each_tree_is_asked_for_once_and_nothing_twice(
        self, up: FakeServers, tmp_path: Path, cache: ResponseCache, setup: str, references: bool
    ) -> None:
        settings = set_up(up, setup, tmp_path)
        result = searched("pdf", 10, settings=settings, include_references=references, cache=cache)
        assert result.count == 10
        assert all(one.skill.body for one in result.skills)
        with_some = [one.hit.id for one in result.skills if one.skill.references]
        assert bool(with_some) == references
        assert set(asked(up).values()) == {1}
        assert set(trees(up.requests)) <= set(REPOSITORIES)
        assert up.count("github_api") <= len(REPOSITORIES)  # trees, and nothing but trees
