"""The report: one file, its figures right, nothing in it that could act."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from skillyard.evals.retrieval.comparison import compare
from skillyard.evals.retrieval.measures import BenchQuery, RankedAnswer
from skillyard.evals.retrieval.report import brier, reliability, render
from skillyard.ranking.query import Query

HOSTILE = "<script>alert(1)</script>\x1b[31m"
ASKED = [
    BenchQuery("q1", Query("find it"), {"a": 3}, "easy"),
    BenchQuery("q2", Query(HOSTILE), {"b": 2}, HOSTILE),
    BenchQuery("q3", Query("hello"), {}, "none"),
]
RUN = {
    "q1": RankedAnswer(("a",), 0.9),
    "q2": RankedAnswer(("x",), 0.6),
    "q3": RankedAnswer((), 0.1),
}


def test_reliability_and_brier_are_about_the_first_skill() -> None:
    bins = reliability(ASKED, RUN)
    assert [(b.low, b.queries, b.claimed, b.true) for b in bins] == [
        (0.1, 1, 0.1, 0.0),
        (0.6, 1, 0.6, 0.0),
        (0.9, 1, 0.9, 1.0),
    ]
    assert brier(ASKED, RUN) == pytest.approx((0.1**2 + 0.6**2 + 0.1**2) / 3)
    assert brier(ASKED, {"q1": RankedAnswer(("a",), 7.0)}) is None


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def test_the_page_has_its_parts_and_no_script() -> None:
    page = render("A <b>", ASKED, RUN, compare(ASKED, RUN, RUN), HOSTILE)
    tags = Tags()
    tags.feed(page)
    assert {"table", "svg", "circle", "polyline", "rect"} <= tags.tags
    assert not {"script", "link", "img", "iframe", "b"} & tags.tags
    assert "nDCG@10 by kind" in page
    assert "2 queries with an answer, 1 without" in page
