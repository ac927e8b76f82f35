"""A bar means the same for every request: nothing is stretched to the best of an answer."""

from __future__ import annotations

import skillyard as sy
from skillyard import scorer_names
from skillyard.serve.web.words import scale_of
from tests.tables import for_each


@for_each(
    ("scorer", "full", "words"),
    [
        ("hybrid", 1.0, "from 0 to 1"),
        ("confidence", 1.0, "from 0 to 1"),
        ("relevance", 108.0, "from 0 to 108"),
        ("overlap", 5.0, "no upper end: a full bar is 5, from which it says “high”"),
        ("triggers", 10.0, "no upper end: a full bar is 10, which is what a choice takes"),
    ],
)
def test_every_scorer_has_a_scale_and_says_it(scorer: str, full: float, words: str) -> None:
    assert scorer in scorer_names()
    scale = scale_of(scorer)
    assert scale.full == full
    assert words in scale.words


def test_the_best_relevance_that_there_is_fills_its_bar_and_no_more() -> None:
    best = sy.Skill(
        "pdf", "pdf", "pdf " * 400, tags=("pdf",), install_count=10**9, curated=True,
        references=(sy.Reference("a", "a.md", "pdf"),),
    )  # fmt: skip
    (match,) = sy.rank([best], "pdf", scorer="relevance")
    assert 90 < match.score <= scale_of("relevance").full


def test_a_ranker_without_a_registered_name_has_no_bars() -> None:
    scale = scale_of("somebody's")
    assert scale.full == scale.share(3.0) == 0.0
    assert "somebody's" in scale.words


def test_no_share_is_less_than_nothing_or_more_than_a_whole_bar() -> None:
    scale = scale_of("overlap")
    shares = [scale.share(value) for value in (-1.0, 0.0, 2.5, 50.0, float("nan"), float("inf"))]
    assert shares == [0.0, 0.0, 0.5, 1.0, 0.0, 0.0]
