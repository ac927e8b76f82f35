"""``/rank``, ``/select``, ``/evaluate`` and ``/why`` answer as the use cases do."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.base.shapes.encoder import encode
from skillyard.hosts.operations.recommendations import evaluate_skills
from tests.serve.http.local_server import Running
from tests.serve.http.shapes import conforms
from tests.tables import for_each


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
