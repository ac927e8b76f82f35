"""Every case of ``search_pipeline.json``, each against the code that a user runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.search import FoundSkill
from skillyard.install.search.service import merge_hits
from skillyard.install.sources.protocol import Hit
from skillyard.install.sources.registry_file import parse_registry
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import (
    by_id,
    ids,
    searched,
    settings_of,
    skill_text,
    status_of,
)
from tests.install.search.memory import Memory, hit
from tests.parity.rows import Case, load, rows
from tests.tables import for_each

SUITE = "search_pipeline"
AREAS = {"ordering", "pipeline", "dedup", "resilience", "registry_file"}
Register = Callable[[str, str, bool], None]


def of_area(area: str, *keys: str) -> list[Any]:
    """Return the cases of one area whose ``given`` holds exactly these keys, if some are named."""
    return [
        row
        for row in rows(SUITE, None, "name")
        if row.values[0]["area"] == area and (not keys or set(row.values[0]["given"]) == {*keys})
    ]


def test_every_case_is_run_by_exactly_one_test_below() -> None:
    run = [
        row.values[0]["name"]
        for given in (
            of_area("ordering", "skills", "query", "include_references"),
            of_area("pipeline", "limit"),
            of_area("pipeline", "limit", "ranked"),
            of_area("dedup"),
            of_area("resilience"),
            of_area("registry_file", "text"),
            of_area("registry_file", "text", "tree"),
        )
        for row in given
    ]
    every = [case["name"] for case in load(SUITE, None)]
    assert sorted(run) == sorted(every)
    assert {case["area"] for case in load(SUITE, None)} == AREAS


def source_of(skills: list[dict[str, Any]]) -> Memory:
    """Return a source that lists the skills of a case and serves what they hold."""
    hits = [
        hit(
            one["id"],
            one["source"],
            name=one["title"],
            description=one["description"] or "",
            install_count=one["install_count"],
            curated=one["source_registry"] == "curated",
        )
        for one in skills
    ]
    texts = {
        one["id"]: None
        if one["content"] is None
        # without a description in the file, what the listing says is what there is
        else f"---\nname: {one['title']}\n---\n{one['content']}\n"
        for one in skills
    }
    references = {
        one["id"]: {reference["path"]: "text" for reference in one["references"]} for one in skills
    }
    return Memory(hits, texts, references=references)


@for_each("case", of_area("ordering", "skills", "query", "include_references"))
def test_skills_come_in_the_documented_order(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    given = case["given"]
    result = searched(
        given["query"],
        include_references=given["include_references"],
        settings=Settings(shipped_registry=False),
        sources=[source_of(given["skills"])],
    )
    orders = case["allowed"] if case["ambiguous"] else [case["expected"]["order"]]
    assert ids(result) in orders


@for_each("case", of_area("pipeline", "limit"))
def test_each_source_is_asked_for_twice_the_number(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    sources = [Memory(name="one"), Memory(name="two")]
    searched(
        "pdf",
        case["given"]["limit"],
        settings=Settings(shipped_registry=False),
        sources=sources,
    )
    wanted = case["expected"]["per_source_limit"]
    assert [limit for source in sources for _, limit in source.asked] == [wanted, wanted]


class Alphabetical:
    """The documented ``Ranker``, in whose order the case's letters stand."""

    def rank(self, skills: Any, query: str = "", include_references: bool = False) -> Any:
        for skill in skills:
            skill.relevance_score = 100.0 - ord(skill.id[0])
        return sorted(skills, key=lambda skill: skill.relevance_score, reverse=True)


@for_each("case", of_area("pipeline", "limit", "ranked"))
def test_trimming_comes_after_ranking(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    given = case["given"]
    listed = [hit(one) for one in reversed(given["ranked"])]
    result = searched(
        "letters",
        given["limit"],
        settings=Settings(shipped_registry=False),
        sources=[Memory(listed)],
        ranker=Alphabetical(),
    )
    assert ids(result) == case["expected"]["returned"]
    assert result.count == case["expected"]["count"]


@for_each("case", of_area("dedup"))
def test_a_duplicate_is_one_record(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    given, expected = case["given"], case["expected"]

    def records(kind: str) -> list[Hit]:
        return [
            hit(
                one["id"],
                one["source"],
                kind,
                install_count=one["installs"],
                description=one.get("description") or "",
                curated=kind == "curated",
            )
            for one in given[kind]
        ]

    for listed in (
        [records("marketplace"), records("curated")],
        [records("curated"), records("marketplace")],
    ):
        (one,) = merge_hits(listed)
        assert one.hit.install_count == 500  # the record that is preferred
        for field, value in expected.items():
            if field != "count":
                assert getattr(one.hit, field) in case["allowed"]
                assert getattr(one.hit, field) == value  # the reading of spec/skyll.md, row 19
        (shown,) = searched(
            "pdf",
            settings=Settings(shipped_registry=False),
            sources=[Memory(of, {}, name=f"s{place}") for place, of in enumerate(listed)],
        ).skills
        assert shown.skill.install_count == 500
        for field, value in expected.items():
            if field != "count":
                assert getattr(shown.skill, field) == value


@pytest.mark.parametrize("case", of_area("resilience"))
def test_one_malformed_skill_breaks_nothing(case: Case, up: FakeServers, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    given = case["given"]
    up.add_repository(
        "acme/skills",
        {
            "skills/good/SKILL.md": skill_text("good", "A good one", "Good body."),
            "skills/bad/SKILL.md": skill_text("bad", "A good try", "Bad body.", version="1.0"),
        },
    )
    for one in given["candidates"]:
        up.list_skill("acme/skills", one, name=f"{one} and {given['query']}")
    result = searched(given["query"], settings=settings_of(up))
    assert result.count == case["expected"]["count"]
    assert not result.partial
    assert by_id(result)["good"].skill.body == "Good body."
    assert by_id(result)["bad"].skill.body == "Bad body."


@for_each("case", of_area("registry_file", "text"))
def test_a_registry_file_is_read_as_documented(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    registry = parse_registry(case["given"]["text"], "registry.md")
    expected = case["expected"]["skills"]
    assert len(registry.hits) == len(expected)
    for one, wanted in zip(registry.hits, expected, strict=True):
        # "" is what a hit says of a repository's root; the file's word for it is null
        record = {field: getattr(one, field) for field in wanted} | {"path": one.path or None}
        assert record == wanted
    short = [line for line in case["given"]["text"].splitlines() if line.count("|") == 2]
    assert not short or registry.diagnostics  # "report it as a warning"


@pytest.mark.parametrize("case", of_area("registry_file", "text", "tree"))
def test_the_registered_path_is_what_is_fetched(
    case: Case, up: FakeServers, tmp_path: Path, parity: Register
) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    (entry,) = parse_registry(case["given"]["text"]).hits
    up.add_repository(
        entry.source, {path: skill_text("any", body=path) for path in case["given"]["tree"]}
    )
    file = tmp_path / "registry.md"
    file.write_text(case["given"]["text"], encoding="utf-8")
    result = searched(
        entry.id,
        settings=settings_of(up, registry_files=(str(file),)),
        sources=["registry"],
    )
    one: FoundSkill = by_id(result)[entry.id]
    assert one.skill.body == case["expected"]["fetched_path"]
    assert status_of(result, "registry").state == "ok"
    raw = [asked.path for asked in up.requests if asked.server == "github_raw"]
    assert len(raw) == 1
    assert raw[0].endswith(f"/{case['expected']['fetched_path']}")
