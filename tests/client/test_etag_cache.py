"""A question that is asked again costs a 304, and what is kept stays small."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.client.etag_cache import TAG_CHARS, CachedResponse, ETagCache
from skillyard.errors import BadAnswer
from tests.client.client_pair import Way, answer, lying, raised
from tests.serving.http.local_server import Running, until

FIGURES = {"openapi": "3.1.0"}


def statuses(served: Running, path: str, at_least: int = 0) -> list[int]:
    """Return the statuses of a route; a line of the log may come after the answer."""

    def found() -> list[int]:
        return [line["status"] for line in served.lines() if line.get("route") == path]

    until(lambda: len(found()) >= at_least)
    return found()


def test_a_search_of_the_catalog_that_is_repeated_costs_a_304(served: Running, way: Way) -> None:
    before = len(statuses(served, "/search"))

    def ask(c: Any) -> Any:
        return c.search("pdf tables", sources=["local"], limit=3)

    first, again, other = way(served.base, ask, ask, lambda c: c.search("pdf", sources=["local"]))
    assert statuses(served, "/search", before + 3)[before:] == [200, 304, 200]
    assert first == again
    assert first.query != other.query


def test_every_route_with_a_tag_is_asked_whether_it_changed(served: Running, way: Way) -> None:
    for path, ask in (
        ("/skill/{name}", lambda c: c.skill("deploy")),
        ("/skills/{source}/{id}", lambda c: c.skill_from("local", "deploy")),
        ("/.well-known/agent-skills/index.json", lambda c: c.index()),
        ("/.well-known/agent-skills/{name}/SKILL.md", lambda c: c.skill_file("deploy")),
        ("/openapi.json", lambda c: c.openapi()),
    ):
        before = len(statuses(served, path))
        first, again = way(served.base, ask, ask)
        assert statuses(served, path, before + 2)[before:] == [200, 304]
        assert first == again


def test_nothing_is_kept_where_nothing_shall_be(served: Running, way: Way) -> None:
    before = len(statuses(served, "/openapi.json"))
    way(served.base, lambda c: c.openapi(), lambda c: c.openapi(), keep=0)
    assert statuses(served, "/openapi.json", before + 2)[before:] == [200, 200]


def test_what_changed_takes_the_place_of_what_was_kept(way: Way) -> None:
    answers = [
        answer({"n": 1}, 200, 'ETag: "a"'), answer(b"", 304, 'ETag: "a"'),
        answer({"n": 2}, 200, 'ETag: "b"'), answer(b"", 304), answer({"n": 3}),
        answer({"n": 4}, 200, 'ETag: "d"'),
    ]  # fmt: skip
    with lying(*answers) as liar:
        found = way(liar.url, *[lambda c: c.openapi()] * 6)
        asked = [liar.header("if-none-match", place) for place in range(6)]
    assert [each["n"] for each in found] == [1, 1, 2, 2, 3, 4]
    assert asked == [None, '"a"', '"a"', '"b"', '"b"', '"b"']


def test_an_answer_that_was_changed_by_its_owner_is_whole_again(way: Way) -> None:
    with lying(answer({"n": [1]}, 200, 'ETag: "a"'), answer(b"", 304)) as liar:
        first, again = way(liar.url, lambda c: c.openapi(), lambda c: c.openapi())
    first["n"].append(2)
    assert again == {"n": [1]}


def test_a_304_to_no_condition_is_a_bad_answer(way: Way) -> None:
    with lying(answer(b"", 304, 'ETag: "a"')) as liar:
        (outcome,) = way(liar.url, lambda c: c.openapi())
    assert raised(outcome, BadAnswer).status == 304


def test_a_bad_answer_is_not_kept(way: Way) -> None:
    with lying(answer(b"{", 200, 'ETag: "a"'), answer(FIGURES)) as liar:
        first, again = way(liar.url, lambda c: c.openapi(), lambda c: c.openapi())
        assert liar.header("if-none-match") is None
    raised(first, BadAnswer)
    assert again == FIGURES


def test_a_tag_that_cannot_be_sent_back_is_not(way: Way) -> None:
    for tag in ('"é"', '"' + "x" * TAG_CHARS + '"', ""):
        with lying(answer(FIGURES, 200, f"ETag: {tag}"), answer(FIGURES)) as liar:
            found = way(liar.url, lambda c: c.openapi(), lambda c: c.openapi())
            assert liar.header("if-none-match") is None
        assert found == [FIGURES, FIGURES]


def test_a_posted_question_is_not_kept(served: Running, way: Way) -> None:
    with lying(answer(served.post("/select", {"text": "x"}).json(), 200, 'ETag: "a"')) as liar:
        way(liar.url, lambda c: c.select("x"), lambda c: c.select("x"))
        assert liar.header("if-none-match") is None


@given(
    st.integers(0, 4),
    st.integers(0, 40),
    st.lists(st.tuples(st.sampled_from("abcdef"), st.binary(max_size=30))),
)
def test_what_is_kept_stays_within_its_bounds_and_is_the_last(
    answers: int, size: int, puts: list[tuple[str, bytes]]
) -> None:
    kept = ETagCache(answers, size)
    last = {}
    for target, body in puts:
        kept.put(target, '"t"', body)
        last[target] = body
        held = {each: kept.get(each) for each in "abcdef"}
        found = {each: hit for each, hit in held.items() if hit is not None}
        assert len(found) <= answers
        assert sum(len(hit.body) for hit in found.values()) <= size
        assert found == {each: CachedResponse('"t"', last[each]) for each in found}


def test_those_not_used_for_longest_go_first() -> None:
    kept = ETagCache(2, 100)
    for target in "ab":
        kept.put(target, "t", b"x")
    kept.get("a")
    kept.put("c", "t", b"x")
    assert [kept.get(target) is not None for target in "abc"] == [True, False, True]
