"""The findings on a judge: place and length of answers, and its agreement with others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.judges import (
    LEAST_PROMPTS,
    TOO_LITTLE,
    length_effect,
    order_effect,
    sign_p,
)
from skillyard.evals.statistics.pairs import JudgedPair, pair_of
from tests.evals.statistics.planting import case


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_scipys(first: int, second: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    count = first + second
    assert sign_p(first, second) == pytest.approx(
        stats.binomtest(first, count).pvalue if count else 1.0
    )


def test_the_published_evaluation_points_to_order_bias() -> None:
    """A skill against none, judged in one order: 38 of 49 from slot A, 54 of 55 from slot B."""
    assert sign_p(38 + 1, 54 + 11) == pytest.approx(0.0139, abs=5e-4)


def pairs(*given: tuple[str, ...]) -> list[JudgedPair]:
    """Return pairs of full against baseline; ``A>`` is full in slot A and the winner, = a tie."""
    judgements = []
    for number, orders in enumerate(given):
        scores = {">": (4.0, 3.0), "<": (3.0, 4.0), "=": (3.0, 3.0)}
        slots = [("full" if call[0] == "A" else "baseline", *scores[call[1]]) for call in orders]
        judged = pair_of(case("s", number, 0, ("full", "baseline"), slots), 0.0)
        assert judged is not None
        judgements.append(judged)
    return judgements


def test_both_orders_test_the_pairs_that_one_slot_won_more_often() -> None:
    same, to_a, half = ("A>", "B>"), ("A>", "B<"), ("A>", "B=")
    result = order_effect(pairs(same, same, *[to_a] * 6, half))
    assert (result["slot_a_wins"], result["slot_b_wins"], result["ties"]) == (15, 2, 1)
    assert result["p"] == 2 / 2**7
    assert result["word"] == "slot A is favoured"
    assert (result["consistent"], result["pairs"]) == (2, 9)
    assert result["share_a"] == 15 / 17


def test_a_consistent_judge_shows_no_order_effect_however_strong_the_skill() -> None:
    result = order_effect(pairs(*[("A>", "B>")] * 40))
    assert (result["share_a"], result["p"], result["word"]) == (0.5, None, TOO_LITTLE)
    assert result["consistency_rate"] == 1


def test_of_single_orders_each_slot_should_win_as_often() -> None:
    result = order_effect(pairs(*[("A>",)] * 8, *[("B<",)] * 8))
    assert (result["p"], result["word"]) == (sign_p(16, 0), "slot A is favoured")
    assert result["consistency_rate"] is None


def test_nothing_judged_says_nothing() -> None:
    result = order_effect([])
    assert (result["share_a"], result["p"], result["word"]) == (None, None, TOO_LITTLE)


def longer(differences: list[tuple[int, float]]) -> list[JudgedPair]:
    """Return pairs: the characters by which the first answer is longer, and what it gains."""
    found = []
    for number, (characters, gain) in enumerate(differences):
        orders = [(arm, 3 + gain, 3.0) for arm in ("full", "baseline")]
        lengths = (1000 + characters, 1000)
        found.append(pair_of(case("s", number, 0, ("full", "baseline"), orders, lengths), 0.0))
    return [each for each in found if each is not None]


def test_a_judge_of_length_alone_gains_nothing_at_equal_length() -> None:
    effect = length_effect(longer([(100 * place, 0.1 * place) for place in range(1, 12)]))
    assert effect["at_equal_length"] == pytest.approx(0.0, abs=1e-9)
    assert effect["per_1000_characters"] == pytest.approx(1.0)
    assert (effect["mean_difference"], effect["prompts"]) == (600, 11)
    steady = length_effect(longer([(100 * place, 0.5) for place in range(1, 12)]))
    assert steady["at_equal_length"] == pytest.approx(0.5)


def test_no_line_is_drawn_through_few_prompts_or_equal_lengths() -> None:
    few = length_effect(longer([(100, 0.5)] * (LEAST_PROMPTS - 1)))
    equal = length_effect(longer([(100, 0.5)] * 20))
    assert few["at_equal_length"] is equal["at_equal_length"] is None
    assert equal["mean_difference"] == 100
    assert length_effect([])["comparison"] is None
