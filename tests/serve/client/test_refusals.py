"""Every refusal of the service is the error that the same thing is in this process."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.base.errors import ServiceFailed, ServiceRefused, ServiceUnavailable
from skillyard.base.shapes.service import Fault
from skillyard.errors import InvalidInput, SkillyardError
from skillyard.serve.client import SourcesFailed
from skillyard.serve.runtime.errors import Refused, sources_refusal, unavailable, wrong_field
from skillyard.serve.runtime.guards import busy
from tests.serve.client.client_pair import Question, Way, answer, lying, raised
from tests.serve.http.local_server import LIBRARY, Running, running

NOT_AGAIN = {"sleep": lambda seconds: pytest.fail("it waited")}


def test_a_skill_that_is_not_there_names_its_neighbours(served: Running, way: Way) -> None:
    outcomes = way(
        served.base,
        lambda c: c.skill("deplo"),
        lambda c: c.why("deplo", "x"),
        lambda c: c.skill_from("local", "deplo"),
    )
    for outcome in outcomes:
        error = raised(outcome, sy.SkillNotFound)
        assert error.near == ("deploy",)
        assert "did you mean deploy?" in str(error)
    assert [outcome.name for outcome in outcomes] == ["deplo", "deplo", "local/deplo"]


def test_a_skill_whose_file_did_not_load_says_why_and_names_no_folder(
    tmp_path: Path, way: Way
) -> None:
    files = {**LIBRARY, "broken/SKILL.md": "---\nname: broken\n---\n\nNo description.\n"}
    with running(tmp_path / "skills", files) as server:
        asked = (
            lambda c: c.skill("broken"),
            lambda c: c.skill_from("local", "broken"),
            lambda c: c.why("broken", "x"),
        )
        for outcome in way(server.base, *asked):
            hint = raised(outcome, sy.SkillNotFound).hint
            assert hint.startswith("broken did not load: ")
            assert "description" in hint
        page = server.get("/page/skills/local/broken", headers={"Accept": "text/html"})
        assert (page.status_code, "roken did not load: " in page.text) == (404, True)
        assert str(tmp_path) not in page.text


WRONG: dict[str, tuple[Question, str]] = {
    "a blank query": (lambda c: c.search(" "), "query"),
    "a limit of words": (lambda c: c.rank("x", limit="five"), "limit"),
    "an unknown scorer": (lambda c: c.rank("x", scorer="best"), "scorer"),
    "an empty source": (lambda c: c.search("x", sources=[""]), "sources.0"),
    "a long text": (lambda c: c.select("x" * 20_001), "query"),
    "nothing to evaluate": (lambda c: c.evaluate(), "text"),
    "an unknown tag to fall back to": (
        lambda c: c.select("x", sy.SelectionPolicy(fallback_tag="")), "fallback_tag",
    ),
    "a blank name": (lambda c: c.skill(" / "), "name"),
    "an empty name": (lambda c: c.why("", "x"), "name"),
    "an odd source": (lambda c: c.skill_from("a/b/c", "d"), "source"),
    "no text": (lambda c: c.search(None), "query"),
    "half a pair": (lambda c: c.search("\ud800"), "query"),
    "half a pair in a name": (lambda c: c.skill("\udfff"), "name"),
    "no number": (lambda c: c.evaluate("x", threshold=float("nan")), "threshold"),
    "an endless floor": (
        lambda c: c.select("x", sy.SelectionPolicy(min_score=float("inf"))), "min_score",
    ),
    "a list for a number": (lambda c: c.rank("x", limit=[1]), "limit"),
    "tags in two places": (
        lambda c: c.select(
            sy.Query("x", include_tags=["a"]), sy.SelectionPolicy(include_tags=["b"])
        ),
        "include_tags",
    ),
}  # fmt: skip


def test_a_wrong_argument_is_named_as_it_is_called_here(served: Running, way: Way) -> None:
    outcomes = way(served.base, *(question for question, _ in WRONG.values()))
    for (name, (_, field)), outcome in zip(WRONG.items(), outcomes, strict=True):
        error = raised(outcome, InvalidInput)
        assert error.field == field, name
        assert field.partition(".")[0] in str(error) or "half" in str(error) or "name" in str(error)


# --- statuses ---

EMPTY = Fault(loc=("query", "q"), msg="q must not be empty", type="x")
NO_OBJECT = Fault(loc=("body",), msg="no object", type="dict_type")
SPOKEN: dict[str, tuple[Refused, type[SkillyardError]]] = {
    "400 blank": (Refused(400, "blank_name", "the name is blank", field="name"), InvalidInput),
    "401": (Refused(401, "token_wrong", "no", hint="send it"), ServiceRefused),
    "404 route": (Refused(404, "no_route", "nothing here", hint="see /docs"), ServiceRefused),
    "404": (Refused(404, "skill_not_found", "no", extra={"near": ["a"]}), sy.SkillNotFound),
    "409": (Refused(409, "ambiguous_name", "two", extra={"near": ["a", "b"]}), sy.AmbiguousName),
    "422": (wrong_field([EMPTY]), InvalidInput),
    "422 no field": (wrong_field([NO_OBJECT]), InvalidInput),
    "429": (busy(), ServiceUnavailable),
    "500": (Refused(500, "internal", "the service failed"), ServiceFailed),
    "502": (sources_refusal([{"name": "github", "code": "timeout", "message": "slow",
                     "retry_after_s": 7.5}]), SourcesFailed),
    "503": (unavailable(), ServiceUnavailable),
    "418": (Refused(418, "teapot", "short and stout"), ServiceRefused),
    "599": (Refused(599, "later", "of a later version"), ServiceFailed),
}  # fmt: skip


def test_each_status_and_code_is_its_error(way: Way) -> None:
    answers = [
        answer(refused.to_dict(), refused.status, *map(": ".join, refused.headers.items()))
        for refused, _ in SPOKEN.values()
    ]
    with lying(*answers) as liar:
        questions = [lambda c: c.skill("thing")] * len(answers)
        outcomes = way(liar.url, *questions, retries=0, **NOT_AGAIN)
    for (refused, kind), outcome in zip(SPOKEN.values(), outcomes, strict=True):
        error = raised(outcome, kind)
        if isinstance(error, ServiceFailed):
            assert (error.status, error.code) == (refused.status, refused.code)
            assert error.url == f"{liar.url}/skill/thing"
            assert refused.message in str(error)
            assert error.hint
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (kind, str(error))
