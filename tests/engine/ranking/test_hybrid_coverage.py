"""What a long request gives a skill that covers much of it: when, how much, and that it is told."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.ranking.hybrid import HYBRID, Hybrid
from skillyard.engine.ranking.hybrid.scorer import ScoredHybrid
from tests.engine.ranking.test_hybrid import leaves_add_up
from tests.engine.ranking.test_hybrid_feedback import LIBRARY, TASK
from tests.worked_examples.making import catalog


def asked(text: str, *skills: sy.Skill, scorer: Hybrid = HYBRID) -> ScoredHybrid:
    return scorer.bind(catalog(*(skills or LIBRARY))).prepare(sy.Query(text))


class TestWhen:
    def test_a_long_request_asks_what_is_covered_and_a_short_one_does_not(self) -> None:
        assert asked(TASK).candidates.coverage
        assert not asked("compare two lists of genetic variants").candidates.coverage


WORDS = TASK.replace(",", " ").replace(".", " ").split()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(75, 140))
def test_the_points_of_a_skill_are_those_that_order_it(seed: int, length: int) -> None:
    words = random.Random(seed).choices(WORDS, k=length)
    scored = asked(f"{' '.join(words)} {' '.join(dict.fromkeys(WORDS))}")
    assert scored.candidates.coverage
    for one, score in scored.scores():
        tree = scored.explain(one)
        assert tree.value == score
        leaves_add_up(tree)
        ordinal = scored.bound.library.ordinal(one)
        assert ordinal is not None
        assert tree.parts[0].value == scored.totals[ordinal]


def test_the_explanation_says_how_much_is_covered() -> None:
    (match,) = sy.rank(LIBRARY, TASK, limit=1)
    (part,) = [part for part in match.explanation.raw().parts if part.label == "coverage"]
    assert part.value == match.signals["coverage"] > 0.0
    assert part.note.startswith("covers ")
