"""Every route: what the client gives is what the service sent, and what this process would say."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import SearchService
from skillyard.base.errors import BadAnswer, ServiceRefused
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.encoder import encode
from skillyard.engine.operations.skill_explanation import why_skill
from skillyard.engine.skill import SKILL_FIELDS
from skillyard.hosts.decisions.feedback_file import list_feedback
from skillyard.hosts.operations.recommendations import evaluate_skills
from skillyard.hosts.operations.skill_selection import rank_skills, select_skills
from skillyard.install.sources.settings import Settings
from skillyard.serve.client import AsyncClient, Client, as_skill, calls
from skillyard.serve.http.routes.table import ROUTES
from skillyard_testkit import FakeServers
from tests.parity.trees import write_tree
from tests.serve.client.client_pair import Question, Way, waiting
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.serve.http.shapes import conforms
from tests.serve.http.test_search import fill
from tests.tables import for_each
from tests.worked_examples.making import document

WORDS = "extract the tables of a PDF"

METHODS = {
    "search": "search", "searchByBody": "search", "skillByName": "skill",
    "skillBySource": "skill_from", "rank": "rank", "evaluate": "evaluate", "select": "select",
    "why": "why", "feedback": "feedback", "health": "health",
    "metrics": "metrics", "wellKnownIndex": "index",
    "wellKnownSkill": "skill_file", "wellKnownArchive": "skill_archive", "openapi": "openapi",
}  # fmt: skip


def test_every_route_that_programs_ask_has_a_method() -> None:
    for_programs = {route.name for route in ROUTES if route.name in METHODS}
    assert for_programs == set(METHODS)
    for_people = {route.path for route in ROUTES} - {
        route.path for route in ROUTES if route.name in METHODS
    }
    assert {"/docs", "/"} <= for_people
    assert not any(path.startswith(("/search", "/skill", "/rank")) for path in for_people)


QUESTIONS = [
    name
    for name, question in vars(calls).items()
    if inspect.isfunction(question)
    and question.__module__ == calls.__name__
    and not name.startswith("_")
]


@for_each("name", QUESTIONS)
def test_both_clients_take_what_the_question_takes_and_say_so(name: str) -> None:
    question = getattr(calls, name)
    for client in (Client, AsyncClient):
        method = getattr(client, name)
        assert method.__doc__ == question.__doc__
        assert method.__qualname__ == f"{client.__name__}.{name}"
        parameters = list(inspect.signature(method).parameters.values())
        assert parameters[0].name == "self"
        assert parameters[1:] == list(inspect.signature(question).parameters.values())
    assert Client.get is Client.skill_from


def test_the_arguments_are_those_of_the_python_interface() -> None:
    """A program changes from one to the other without looking anything up."""
    shared: dict[str, Callable[..., Any]] = {
        "rank": sy.rank, "select": sy.select, "evaluate": sy.evaluate,
    }  # fmt: skip
    for name, local in shared.items():
        there = inspect.signature(getattr(calls, name)).parameters
        here = [each for each in inspect.signature(local).parameters if each != "catalog"]
        assert [each for each in there if each in here] == [each for each in here if each in there]
        assert set(here) - set(there) <= {"activity_boost"}


JSON_QUESTIONS: dict[str, tuple[Question, str, str, Any]] = {
    "search": (lambda c: c.search("pdf tables"), "SearchResult", "/search?q=pdf+tables", None),
    "search for all": (
        lambda c: c.search(
            "pdf", limit=2, include_raw=True, include_references=True, sources=["local"],
            scorer="overlap", explain=True, cards=1,
        ),
        "SearchResult",
        ("/search?q=pdf&limit=2&include_raw=true&include_references=true&source=local"
         "&scorer=overlap&explain=true&cards=1"),
        None,
    ),
    "search for cards": (
        lambda c: c.search("pdf", include_content=False), "SearchResult",
        "/search?q=pdf&include_content=false", None,
    ),
    "skill": (lambda c: c.skill("pdf-tables"), "Skill", "/skill/pdf-tables", None),
    "skill with all": (
        lambda c: c.skill("pdf-tables", include_raw=True, include_references=True), "Skill",
        "/skill/pdf-tables?include_raw=true&include_references=true", None,
    ),
    "skill_from": (
        lambda c: c.skill_from("local", "deploy"), "Skill", "/skills/local/deploy", None,
    ),
    "rank": (lambda c: c.rank("pdf tables"), "Ranked", "/rank?q=pdf+tables", None),
    "rank with all": (
        lambda c: c.rank(
            "pdf", ["a.pdf"], ["read"], [], ["x"], True, "confidence", 3, explain=True,
            diagnostics=True,
        ),
        "Ranked",
        ("/rank?q=pdf&files=a.pdf&recent_activity=read&exclude_tags=x&include_references=true"
         "&scorer=confidence&limit=3&explain=true&diagnostics=true"),
        None,
    ),
    "select": (lambda c: c.select(WORDS), "Selected", "/select", {"text": WORDS}),
    "select by a policy": (
        lambda c: c.select(
            sy.Query("tables", exclude_tags=["a"], package_scope=True),
            sy.SelectionPolicy(2, 0.5, exclude_tags=["b"], fallback_tag="all"),
            "overlap", limit=1, explain=True, diagnostics=True,
        ),
        "Selected", "/select",
        {"text": "tables", "exclude_tags": ["a", "b"], "package_scope": True, "top_k": 2,
         "min_score": 0.5, "fallback_tag": "all", "scorer": "overlap", "limit": 1, "explain": True,
         "diagnostics": True},
    ),
    "select by a cost": (
        lambda c: c.select("tables", sy.SelectionPolicy(wrong_cost=4)),
        "Selected", "/select", {"text": "tables", "wrong_cost": 4},
    ),
    "abstain": (lambda c: c.select("zebra"), "Selected", "/select", {"text": "zebra"}),
    "evaluate": (
        lambda c: c.evaluate("pdf tables", ["a.py"], ["read"], threshold=0.1, limit=2,
                             show_details=True),
        "Evaluated", "/evaluate",
        {"text": "pdf tables", "files": ["a.py"], "recent_activity": ["read"], "threshold": 0.1,
         "limit": 2, "show_details": True},
    ),
    "why": (
        lambda c: c.why("deploy", "pdf tables", explain=True), "Why",
        "/why?name=deploy&q=pdf+tables&explain=true", None,
    ),
    "why with tools": (
        lambda c: c.why("deploy", sy.Query("pdf", tools=["shell", "web"])), "Why",
        "/why?name=deploy&q=pdf&tools=shell&tools=web", None,
    ),
    "index": (lambda c: c.index(), "WellKnownIndex", "/.well-known/agent-skills/index.json", None),
}  # fmt: skip


def test_the_value_is_the_document_that_came(served: Running, way: Way) -> None:
    values = way(served.base, *(question for question, *_ in JSON_QUESTIONS.values()))
    for (name, row), found in zip(JSON_QUESTIONS.items(), values, strict=True):
        _, schema, path, body = row
        sent = (served.get(path) if body is None else served.post(path, body)).json()
        conforms(sent, schema)
        assert found.to_dict() == sent, name


def test_health_is_the_true_state_also_when_there_is_none(way: Way, tmp_path: Path) -> None:
    with running(tmp_path / "skills") as server:
        (healthy,) = way(server.base, lambda c: c.health())
        assert (healthy.able, healthy.status, healthy.catalog.skills) == (True, "healthy", 3)
        sent = healthy.to_dict()
        conforms(sent, "Health")
        server.context.closing = True
        (stopping,) = way(server.base, lambda c: c.health())
        assert (stopping.able, stopping.status) == (False, "stopping")


def test_feedback_is_stored_and_what_is_wrong_with_it_is_said(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    questions: list[Question] = [
        lambda c: c.feedback("deploy", WORDS, right=False, note="it is about servers"),
        lambda c: c.feedback("deploi", WORDS, right=True),
        lambda c: c.feedback("deploy", "", right=True),
    ]
    with running(tmp_path / "skills", feedback=True) as server:
        receipt, unknown, empty = way(server.base, *questions)
    (stored,) = list_feedback().entries
    assert (stored.by, stored.request, stored.note) == ("http", WORDS, "it is about servers")
    conforms(receipt.to_dict(), "FeedbackReceipt")
    assert (receipt.skill, receipt.right, receipt.time) == (stored.skill, False, stored.time)
    assert isinstance(unknown, sy.SkillNotFound)
    assert unknown.near == ("deploy",)
    assert isinstance(empty, sy.InvalidInput)
    assert empty.field == "request"
    with running(tmp_path / "skills") as server:
        (refused,) = way(server.base, questions[0])
    assert isinstance(refused, ServiceRefused)
    assert (refused.code, len(list_feedback().entries)) == ("feedback_off", 1)


def test_figures_and_description_come_as_they_are(served: Running, way: Way) -> None:
    figures, described = way(served.base, lambda c: c.metrics(), lambda c: c.openapi())
    assert "# TYPE skillyard_catalog_skills gauge\nskillyard_catalog_skills 5" in figures
    assert described == served.get("/openapi.json").json()


def test_a_file_of_the_index_is_had_byte_for_byte_and_checked(served: Running, way: Way) -> None:
    (index,) = way(served.base, lambda c: c.index())
    listed = {skill.name: skill for skill in index.skills}
    wanted = LIBRARY["deploy/SKILL.md"].encode()
    assert listed["deploy"].digest == f"sha256:{sha256(wanted).hex()}"
    good, other, gone = way(
        served.base,
        lambda c: c.skill_file("deploy", listed["deploy"].digest),
        lambda c: c.skill_file("pdf-tables", listed["deploy"].digest),
        lambda c: c.skill_file("nothing"),
    )
    packed, single = way(
        served.base,
        lambda c: c.skill_archive("pdf-tables", listed["pdf-tables"].digest),
        lambda c: c.skill_archive("deploy"),
    )
    assert good == wanted
    assert packed.startswith(b"PK")
    assert isinstance(single, sy.SkillNotFound)
    assert isinstance(other, BadAnswer)
    assert isinstance(gone, sy.SkillNotFound)


# --- the same as in this process ---


@pytest.fixture(scope="module")
def catalog(served: Running) -> sy.Catalog:
    return sy.load_catalog(served.context.options.roots[0])


def told(local: dict[str, Any]) -> dict[str, Any]:
    return {**local, "diagnostics_count": len(local["diagnostics"])}


@for_each("scorer", ["hybrid", "confidence"])
@for_each("words", [WORDS, "zebra quantum", ""])
def test_the_service_says_what_this_process_says(
    served: Running, catalog: sy.Catalog, way: Way, scorer: str, words: str
) -> None:
    ranked, selected, why = way(
        served.base,
        lambda c: c.rank(words, scorer=scorer, explain=True, diagnostics=True),
        lambda c: c.select(words, scorer=scorer, explain=True, diagnostics=True),
        lambda c: c.why("deploy", words, scorer=scorer, explain=True),
    )
    query = sy.Query(words)
    local = rank_skills(catalog, query, scorer=scorer, explain=True)
    assert ranked.to_dict() == told(encode(local.document(local.diagnostics)))
    chosen = select_skills(catalog, query, scorer=scorer, explain=True)
    assert selected.to_dict() == told(encode(chosen.document(chosen.diagnostics)))
    reasons = why_skill(catalog, "deploy", query, scorer=scorer)
    assert why.to_dict() == encode(reasons.document(explain=True))


def test_recommendations_are_those_of_this_process(
    served: Running, catalog: sy.Catalog, way: Way
) -> None:
    (found,) = way(served.base, lambda c: c.evaluate("pdf tables", ["a.py"], show_details=True))
    local = evaluate_skills(catalog, "pdf tables", ["a.py"], show_details=True)
    assert found.to_dict() == encode(local)
    assert found.results[0].skillName == "pdf-tables"


def test_a_remote_search_finds_what_this_process_finds(
    tmp_path: Path, up: FakeServers, settings: Settings, way: Way
) -> None:
    fill(up)
    with running(tmp_path / "skills", settings=settings) as server:

        async def local() -> sy.SearchResult:
            async with SearchService(settings=settings) as service:
                return await service.search("pdf tables", include_references=True)

        wanted = asyncio.run(local()).to_dict(include_raw=True, explain=True)
        found, one = way(
            server.base,
            lambda c: c.search(
                "pdf tables", sources=settings.enabled, include_raw=True,
                include_references=True, explain=True,
            ),
            lambda c: c.skill("acme/skills/pdf", include_references=True),
        )  # fmt: skip
        shape = found.to_dict()
        for skill in shape["skills"]:
            assert (skill.pop("tokens") > 0, skill.pop("omitted")) == (True, False)
        assert _without_ages(shape) == _without_ages(wanted)
        assert {skill.source for skill in found.skills} >= {"acme/skills"}
        sent = server.get("/skill/acme/skills/pdf?include_references=true").json()
        assert _without_ages({"skills": [one.to_dict()]}) == _without_ages({"skills": [sent]})
        assert one.references[0].content == "reference"


def _without_ages(shape: Any) -> Any:
    for skill in shape["skills"]:
        if skill["age_s"] is not None:
            skill["age_s"] = 0.0
    return shape


def test_a_skill_that_was_fetched_is_one_like_any_other(served: Running) -> None:
    (found,) = waiting(served.base, lambda c: c.skill("pdf-tables", include_raw=True))
    local = sy.parse_skill("pdf-tables/SKILL.md", LIBRARY["pdf-tables/SKILL.md"])
    skill = as_skill(found)
    assert found.raw_content == LIBRARY["pdf-tables/SKILL.md"]
    assert (skill.id, skill.hash, skill.body) == (
        local.id,
        local.hash,
        local.body,
    )
    assert sy.prompt_block(skill) == sy.prompt_block(local)
    assert sy.rank([skill], "pdf tables")[0].skill == skill


def test_a_fetched_skill_ranks_as_the_one_in_the_library(tmp_path: Path) -> None:
    extra = "tags: [tables]\nlicense: MIT\nkeywords: [grid, cells]\npriority: 3\n"
    text = document("grids", "Reads grids of cells.", "Cells.", extra)
    write_tree(tmp_path, {"grids/SKILL.md": text})
    with running(tmp_path) as server:
        (found,) = waiting(server.base, lambda c: c.skill("grids"))
    local, fetched = sy.load_catalog(tmp_path).get("grids"), as_skill(found)
    for field in SKILL_FIELDS.values():
        if field.wire:
            assert getattr(fetched, field.name) == getattr(local, field.name), field.name
    for scorer in ("overlap", "triggers", "confidence"):
        scores = [
            [match.score for match in sy.rank([skill], "tables in grid cells", scorer=scorer)]
            for skill in (fetched, local)
        ]
        assert scores[0] == scores[1], scorer


def test_a_card_leads_to_its_skill(served: Running) -> None:
    with Client(served.base, token="") as client:
        (card,) = client.select(WORDS).selected
        assert client.skill(card.id).name == card.name
        assert card.signals
        assert sum(card.signals.values()) > 0


def test_a_budget_for_texts_is_kept(served: Running) -> None:
    (found,) = waiting(served.base, lambda c: c.search("pdf tables", cards=0))
    first = found.skills[0]
    assert (first.omitted, first.content) == (True, None)
    assert first.tokens > 0
