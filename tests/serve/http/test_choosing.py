"""``/rank``, ``/select``, ``/evaluate`` and ``/why`` answer as the use cases do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.base.shapes.encoder import encode
from skillyard.engine.operations.skill_explanation import why_skill
from skillyard.hosts.operations.recommendations import evaluate_skills
from tests.serve.http.local_server import Running, running
from tests.serve.http.shapes import conforms
from tests.tables import for_each
from tests.worked_examples.making import document


def catalog_of(served: Running) -> sy.Catalog:
    held = served.context.follower.snapshot
    assert held is not None
    return held.whole


@for_each("scorer", ["hybrid", "relevance"])
def test_a_ranking_is_the_engines_own(served: Running, scorer: str) -> None:
    asked = {"q": "write unit tests for the deploy", "scorer": scorer, "explain": "true"}
    answer = served.get("/rank", params=asked).json()
    conforms(answer, "Ranked")
    wanted = sy.rank(catalog_of(served), asked["q"], scorer=scorer)
    assert [(m["name"], m["score"]) for m in answer["matches"]] == [
        (match.skill.name, match.score) for match in wanted
    ]
    assert all(m["explanation"]["value"] == m["score"] for m in answer["matches"])


def test_tags_files_and_the_limit_reach_the_ranking(tmp_path: Path) -> None:
    files = {
        f"{name}/SKILL.md": document(name, "Write a report.", extra=f"tags: [{tag}]\n")
        for name, tag in (("one", "red"), ("two", "red"), ("three", "blue"))
    }
    with running(tmp_path / "skills", files) as server:

        def named(more: str) -> set[str]:
            return {m["name"] for m in server.get(f"/rank?q=report{more}").json()["matches"]}

        assert named("") == {"one", "two", "three"}
        assert named("&include_tags=red") == {"one", "two"}
        assert named("&exclude_tags=red") == {"three"}
        assert len(named("&limit=1")) == 1


def test_a_skill_of_a_package_counts_for_its_files_where_that_is_wanted(tmp_path: Path) -> None:
    files = {
        f"{place}/.claude/skills/{name}/SKILL.md": document(name, "Write a report.")
        for place, name in ((".", "top"), ("packages/a", "a"), ("packages/b", "b"))
    }
    with running(tmp_path / "skills", files) as server:
        rank = "/rank?q=report&files=packages/a/x.py"

        def named(more: str) -> set[str]:
            return {match["name"] for match in server.get(f"{rank}{more}").json()["matches"]}

        assert named("") == {"top", "a", "b"}
        assert named("&package_scope=true") == {"top", "a"}
        body = {"text": "report", "files": ["packages/a/x.py"], "package_scope": True, "top_k": 9}
        selected = server.post("/select", {**body, "min_score": 0}).json()["selected"]
        assert {match["name"] for match in selected} == {"top", "a"}
        why = server.get("/why?name=b&q=report&files=packages/a/x.py&package_scope=true").json()
        assert why["query"]["package_scope"] is True


def test_remarks_are_counted_always_and_listed_when_asked(tmp_path: Path) -> None:
    files = {"good/SKILL.md": document("good", "Write a report."), "bad/SKILL.md": "no frontmatter"}
    with running(tmp_path / "skills", files) as server:
        for plain, listed in (
            (server.get("/rank?q=report"), server.get("/rank?q=report&diagnostics=true")),
            (
                server.post("/select", {"text": "report"}),
                server.post("/select", {"text": "report", "diagnostics": True}),
            ),
        ):
            assert plain.json()["diagnostics_count"] == 1
            assert "diagnostics" not in plain.json()
            (found,) = listed.json()["diagnostics"]
            assert found["severity"] == "error"
        conforms(server.get("/rank?q=report&diagnostics=true").json(), "Ranked")


def test_a_selection_chooses_or_abstains_with_200(served: Running) -> None:
    chosen = served.post("/select", {"text": "deploy the app to production", "explain": True})
    conforms(chosen.json(), "Selected")
    assert [match["name"] for match in chosen.json()["selected"]] == ["deploy"]
    none = served.post("/select", {"query": "brew a pot of tea"})
    assert (none.status_code, none.json()["abstained"]) == (200, True)
    floor = served.post("/select", {"text": "deploy the app", "min_score": 1.1, "top_k": 2})
    assert floor.json()["policy"] == {"min_score": 1.1, "top_k": 2}
    assert floor.json()["abstained"] is True


def test_a_cost_sets_the_floor_and_one_that_cannot_is_a_wrong_field(served: Running) -> None:
    dear = served.post("/select", {"text": "deploy the app", "wrong_cost": 4})
    assert dear.json()["policy"]["min_score"] == pytest.approx(0.8)
    for fields in ({"wrong_cost": 0}, {"wrong_cost": 1, "min_score": 0.5}):
        answer = served.post("/select", {"text": "deploy", **fields})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "wrong_cost")
    answer = served.post("/select", {"text": "deploy", "wrong_cost": 2, "scorer": "overlap"})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "wrong_cost")


def test_an_evaluation_is_the_documented_answer_under_both_spellings(served: Running) -> None:
    answer = served.post("/evaluate", {"text": "deploy", "recentActivity": ["deploy"]}).json()
    conforms(answer, "Evaluated")
    wanted = encode(evaluate_skills(catalog_of(served), "deploy", None, ["deploy"]))
    assert answer == wanted
    assert set(answer["results"][0]) == {"skillName", "confidence", "level", "reason"}
    details = served.post("/evaluate", {"text": "deploy", "showDetails": True, "threshold": 0})
    assert details.json()["message"] != answer["message"]


def test_an_evaluation_of_nothing_names_the_field(served: Running) -> None:
    answer = served.post("/evaluate", {"threshold": 0.5})
    assert answer.status_code == 422
    conforms(answer.json(), "Error")
    assert answer.json()["error"]["field"] == "text"


def test_why_explains_one_skill(served: Running) -> None:
    answer = served.get("/why?name=deploy&q=deploy+the+app&explain=true")
    conforms(answer.json(), "Why")
    wanted = why_skill(catalog_of(served), "deploy", sy.Query("deploy the app"))
    assert (answer.json()["rank"], answer.json()["chosen"]) == (wanted.rank, wanted.chosen)
    assert served.get("/why?name=nobody&q=x").status_code == 404
    assert served.get("/why?q=x").json()["error"]["field"] == "name"


@for_each(
    ("path", "body"),
    [
        ("/select", {"text": 5}),
        ("/select", {"text": "x", "top_k": -1}),
        ("/select", {"text": "x" * 20_001}),
        ("/select", {"txt": "x"}),
        ("/evaluate", {"text": "x", "limit": -1}),
        ("/evaluate", {"text": "x", "threshold": 2}),
        ("/evaluate", {"text": "x", "files": ["a"] * 201}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_wrong_field_is_named(served: Running, path: str, body: dict[str, Any]) -> None:
    answer = served.post(path, body)
    assert answer.status_code == 422
    conforms(answer.json(), "Error")
    field = answer.json()["error"]["field"]
    assert answer.json()["detail"][0]["loc"][:2] == ["body", field.split(".")[0]]
