"""Every route: what the client gives is what the service sent, and what this process would say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.serve.client import as_skill
from tests.serve.client.client_pair import Question, Way, waiting
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.serve.http.shapes import conforms

WORDS = "extract the tables of a PDF"


JSON_QUESTIONS: dict[str, tuple[Question, str, str, Any]] = {
    "search": (lambda c: c.search("pdf tables"), "SearchDocument", "/search?q=pdf+tables", None),
    "search for all": (
        lambda c: c.search(
            "pdf", limit=2, include_raw=True, include_references=True, sources=["local"],
            scorer="overlap", explain=True, cards=1,
        ),
        "SearchDocument",
        ("/search?q=pdf&limit=2&include_raw=true&include_references=true&source=local"
         "&scorer=overlap&explain=true&cards=1"),
        None,
    ),
    "search for cards": (
        lambda c: c.search("pdf", include_content=False), "SearchDocument",
        "/search?q=pdf&include_content=false", None,
    ),
    "skill": (lambda c: c.skill("pdf-tables"), "SkillDocument", "/skill/pdf-tables", None),
    "skill with all": (
        lambda c: c.skill("pdf-tables", include_raw=True, include_references=True), "SkillDocument",
        "/skill/pdf-tables?include_raw=true&include_references=true", None,
    ),
    "skill_from": (
        lambda c: c.skill_from("local", "deploy"), "SkillDocument", "/skills/local/deploy", None,
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
            sy.Query("tables", exclude_tags=["a"]),
            sy.SelectionPolicy(2, 0.5, exclude_tags=["b"], fallback_tag="all"),
            "overlap", limit=1, explain=True, diagnostics=True,
        ),
        "Selected", "/select",
        {"text": "tables", "exclude_tags": ["a", "b"], "top_k": 2,
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


# --- the same as in this process ---


@pytest.fixture(scope="module")
def catalog(served: Running) -> sy.Catalog:
    return sy.load_catalog(served.context.options.roots[0])


def test_a_skill_that_was_fetched_is_one_like_any_other(served: Running) -> None:
    (found,) = waiting(served.base, lambda c: c.skill("pdf-tables", include_raw=True))
    local = sy.parse_skill("pdf-tables/SKILL.md", LIBRARY["pdf-tables/SKILL.md"])
    skill = as_skill(found)
    assert found.raw_content == LIBRARY["pdf-tables/SKILL.md"]
    assert (skill.id, skill.hash, skill.body) == (local.id, local.hash, local.body)
    assert sy.prompt_block(skill) == sy.prompt_block(local)
    assert sy.rank([skill], "pdf tables")[0].skill == skill
