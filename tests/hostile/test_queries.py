"""Twenty-six hostile queries on every scorer: an answer with finite scores, or InvalidInput."""

from __future__ import annotations

import math
from typing import Any

import pytest

import skillyard as sy
from skillyard.errors import InvalidInput
from skillyard.scorers import scorer_names
from tests.hostile.conftest import Tree
from tests.hostile.hang_bound import load
from tests.hostile.queries import QUERIES
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each


@pytest.fixture(scope="module")
def catalog(hostile_tree: Tree) -> Any:
    """Plain skills, and those with the longest and oddest bodies of the tree."""
    skills = list(load(hostile_tree.root("query-01-hostile")).skills)
    for identity in ("re-08-humps", "re-10-suffixes", "re-11-globs", "uni-18-marks-400"):
        skills += [s for s in load(hostile_tree.root(identity)).skills if s.name == "pencil"]
    return sy.Catalog.from_skills(skills)


@for_each("scorer", scorer_names())
@for_each(("word", "text"), QUERIES, ids=[word for word, _ in QUERIES])
def test_a_hostile_query_is_answered_or_refused(
    word: str, text: str, scorer: str, catalog: Any
) -> None:
    with hang_bound():
        try:
            ranking = sy.rank(catalog, text, scorer=scorer, limit=50)
        except InvalidInput:
            return
    assert len(ranking) <= len(catalog.skills)
    for match in ranking:
        assert math.isfinite(match.score)
        match.reason.encode("utf-8", "surrogatepass")


@for_each("scorer", scorer_names())
def test_hostile_words_beside_the_text_are_answered_or_refused(scorer: str, catalog: Any) -> None:
    for _, text in QUERIES:
        with hang_bound():
            try:
                sy.rank(
                    catalog,
                    "sharpen a pencil",
                    files=(text[:5_000],),
                    recent_activity=(text[:5_000],),
                    include_tags=(text[:5_000],),
                    exclude_tags=(text[:5_000],),
                    scorer=scorer,
                )
            except InvalidInput:
                continue
