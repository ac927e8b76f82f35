"""The order tests: against scipy's, against enumeration, and on the published evaluation."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.statistics.order import (
    BOTH,
    NONE,
    SINGLE,
    TOO_LITTLE,
    Slots,
    conditional_p,
    order_effect,
    sign_p,
)
from skillyard.evals.statistics.pairs import Pair, pair_of
from tests.evals.statistics.planting import case
from tests.evals.statistics.published import ENHANCED, FULL, POOLED, TABLES

COUNT = st.integers(0, 12)
TABLE = st.builds(Slots, COUNT, COUNT, COUNT, COUNT)


@given(TABLE)
def test_fisher_is_scipys(table: Slots) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.fisher_exact([table[:2], table[2:]]).pvalue
    assert conditional_p([table]) == pytest.approx(expected)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_scipys(first: int, second: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    count = first + second
    assert sign_p(first, second) == pytest.approx(
        stats.binomtest(first, count).pvalue if count else 1.0
    )


SMALL = st.builds(Slots, *[st.integers(0, 4)] * 4)


@given(SMALL, SMALL)
def test_the_test_within_comparisons_counts_every_pair_of_tables(one: Slots, other: Slots) -> None:
    def ways(table: Slots) -> dict[int, int]:
        in_a, in_b = sum(table[:2]), sum(table[2:])
        wins = table.wins_in_a + table.wins_in_b
        return {won: comb(in_a, won) * comb(in_b, wins - won) for won in range(wins + 1)}

    total: dict[int, int] = {}
    for (won, many), (also, more) in product(ways(one).items(), ways(other).items()):
        total[won + also] = total.get(won + also, 0) + many * more
    observed = total[one.wins_in_a + other.wins_in_a]
    expected = sum(many for many in total.values() if many <= observed) / sum(total.values())
    assert conditional_p([one, other]) == pytest.approx(expected)


@given(TABLE)
def test_exchanging_the_slots_or_the_arms_changes_no_p(table: Slots) -> None:
    p = conditional_p([table])
    assert 0 < p <= 1
    assert conditional_p([Slots(*table[2:], *table[:2])]) == pytest.approx(p)
    assert conditional_p([Slots(table[1], table[0], table[3], table[2])]) == pytest.approx(p)


def test_the_published_evaluation_points_to_order_bias() -> None:
    """Section 0.3 of the specification, from the counts of the published files."""
    assert tuple(POOLED) == (38, 11, 54, 1)
    assert conditional_p([POOLED]) == pytest.approx(0.0012, abs=5e-5)
    assert conditional_p([FULL]) == pytest.approx(0.018, abs=5e-4)
    assert conditional_p([ENHANCED]) == pytest.approx(0.083, abs=5e-4)
    for name in ("full/summary", "summary/baseline", "full_siblings/full"):
        assert conditional_p([TABLES[name]]) > 0.5, "the comparisons with other arms show none"


def test_within_comparisons_the_two_show_it_and_all_five_just_miss() -> None:
    """The finding was picked after the fact: over everything judged, 5 % is just missed."""
    assert conditional_p([ENHANCED, FULL]) == pytest.approx(0.0022, abs=5e-5)
    assert conditional_p(list(TABLES.values())) == pytest.approx(0.051, abs=5e-4)


def pairs(*given: tuple[str, ...]) -> list[Pair]:
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
    assert (result.slot_a_wins, result.slot_b_wins, result.ties) == (15, 2, 1)
    assert (result.test, result.p) == (BOTH, 2 / 2**7)
    assert result.word == "slot A is favoured"
    assert (result.consistent, result.pairs) == (2, 9)
    assert result.share_a == 15 / 17


def test_a_consistent_judge_shows_no_order_effect_however_strong_the_skill() -> None:
    result = order_effect(pairs(*[("A>", "B>")] * 40))
    assert (result.share_a, result.test, result.p, result.word) == (0.5, NONE, None, TOO_LITTLE)
    assert result.consistency_rate == 1


def test_single_orders_are_tested_within_their_comparison() -> None:
    result = order_effect(pairs(*[("A>",)] * 8, *[("B<",)] * 8))
    assert (result.test, result.word) == (SINGLE, "slot A is favoured")
    assert result.p == conditional_p([Slots(8, 0, 0, 8)])
    assert result.consistency_rate is None
    table = {**Slots(8, 0, 0, 8)._asdict(), "p": result.p, "p_adjusted": result.p}
    assert result.by_comparison == {"full/baseline": table}


def test_nothing_judged_says_nothing() -> None:
    result = order_effect([])
    assert (result.share_a, result.p, result.word, result.test) == (None, None, TOO_LITTLE, NONE)
