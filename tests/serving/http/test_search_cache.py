"""What was gathered for one request answers others, as long as gathering would bring the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skillyard.remote.sources.protocol import Hit
from skillyard.remote.sources.settings import Settings
from skillyard.serving.runtime.options import ServiceLimits
from skillyard.serving.runtime.source_health import ObservedSource
from skillyard_testkit import FakeServers
from tests.parity.trees import write_tree
from tests.remote.search.counted_search import listed
from tests.remote.sources.test_responses_in_memory import aged
from tests.serving.http.local_server import LIBRARY, Running, running, until
from tests.worked_examples.making import document

PDF = "/search?q=pdf&limit=5"


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """A repository of four skills that the marketplace lists, and a site with one."""
    listed(up)
    up.add_well_known("pdf-site", {"SKILL.md": document("pdf-site", "PDF tables.")}, "skill-md")
    return up


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources that were asked, in order."""
    names: list[str] = []
    search = ObservedSource.search

    async def noted(source: ObservedSource, query: str, limit: int) -> Sequence[Hit]:
        names.append(source.name)
        return await search(source, query, limit)

    monkeypatch.setattr(ObservedSource, "search", noted)
    return names


def answers(server: Running, *paths: str) -> list[Any]:
    """Return what is answered, but for the ages, which grow."""
    found = [server.get(path) for path in paths]
    assert {each.status_code for each in found} == {200}
    given = [each.json() for each in found]
    for skill in (skill for answer in given for skill in answer["skills"]):
        skill.pop("age_s", None)
    return given


def settled(folder: Path) -> None:
    """Let the cache look as if nobody had written it lately."""
    aged(folder / "cache" / "remote")


def test_remotes_are_gathered_from_once(
    up: FakeServers, settings: Settings, tmp_path: Path, asked: list[str]
) -> None:
    with running(tmp_path / "skills", settings=settings) as server:
        answers(server, PDF)
        settled(tmp_path)
        first = answers(server, PDF)  # made of the cache alone
        remotes = set(asked)
        assert {"local", "github"} < remotes
        before, requests = len(asked), len(up.requests)
        again = answers(server, PDF, PDF, f"{PDF}&scorer=overlap")
        assert (len(asked), len(up.requests)) == (before, requests)
        assert again[:2] == first * 2
        assert again[2]["ranker"] == "overlap"  # gathered for one scorer, ranked by another
        assert len(server.context.searches.search_cache.entries) == 1


def test_requests_that_ask_for_other_things_share_nothing(
    up: FakeServers, settings: Settings, tmp_path: Path, asked: list[str]
) -> None:
    paths = (PDF, f"{PDF}&source=local", f"{PDF}&source=github", f"{PDF}&include_references=true")
    with running(tmp_path / "skills", settings=settings) as server:
        answers(server, *paths)
        settled(tmp_path)
        one_by_one = answers(server, *paths)
        asked.clear()
        assert answers(server, *paths) == one_by_one
        # References of the catalog's own skills are files that may change: they are read.
        assert set(asked) == {"local", *(each["name"] for each in one_by_one[3]["sources"])}
    kinds = [{skill["source"] for skill in answer["skills"]} for answer in one_by_one]
    assert kinds[1] == {"local"}
    assert "local" not in kinds[2]


def test_the_catalog_is_gathered_from_again_when_it_has_changed(
    tmp_path: Path, asked: list[str]
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    with running(root, limits=ServiceLimits(look_s=0), local_only=True) as server:
        before = answers(server, PDF, PDF, PDF)
        assert (before, asked) == ([before[0]] * 3, ["local"])
        write_tree(root, {"pdf-forms/SKILL.md": document("pdf-forms", "Fill PDF forms.")})
        until(lambda: "pdf-forms" in str(server.get(PDF).json()))
        asked.clear()
        after = answers(server, PDF, PDF)
        assert after[0] == after[1] != before[0]
        assert asked == []


def test_raw_text_is_read_from_the_file_each_time(tmp_path: Path, asked: list[str]) -> None:
    raw = f"{PDF}&include_raw=true"
    with running(tmp_path / "skills", LIBRARY, local_only=True) as server:
        found = answers(server, PDF, raw, PDF, raw)
    assert found[:2] == found[2:]
    assert [each["skills"][0]["raw_content"] for each in found[:2]] == [
        None,
        LIBRARY["pdf-tables/SKILL.md"],
    ]
    assert asked == ["local"] * 3


def test_what_is_kept_stays_within_its_bound(tmp_path: Path) -> None:
    with running(tmp_path / "skills", LIBRARY, local_only=True) as server:
        remembered = server.context.searches.search_cache.entries
        answers(server, "/search?q=pdf+0")
        remembered.max_bytes = 3 * remembered.bytes + 100
        answers(server, *(f"/search?q=pdf+{number}" for number in range(1, 9)))
        assert 1 <= len(remembered) <= 4
        assert remembered.bytes <= remembered.max_bytes
