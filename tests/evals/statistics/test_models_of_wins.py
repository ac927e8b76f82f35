"""Bradley-Terry and the length model: against a general optimiser, their laws, their limits."""

from __future__ import annotations

import random
from importlib.util import find_spec
from math import exp, log1p, tanh
from typing import Any

import pytest

from skillyard.evals.statistics.bradley_terry import bradley_terry
from skillyard.evals.statistics.intervals import spread_of
from skillyard.evals.statistics.length import LEAST_PAIRS, Lengths, length_model
from skillyard.evals.statistics.logistic import PRIOR_SPREAD
from skillyard.evals.statistics.pairs import Judgement, Unit

pytestmark = pytest.mark.skipif(find_spec("scipy") is None, reason="scipy is not installed")

ARMS = ("full", "summary", "baseline")


def best(design: list[list[float]], wins: list[float]) -> Any:
    """Return the parameters that a general optimiser finds for the penalised likelihood."""
    np: Any = pytest.importorskip("numpy")
    optimize: Any = pytest.importorskip("scipy.optimize")
    matrix, won = np.array(design, dtype=float), np.array(wins)

    def loss(parameters: Any) -> float:
        z = matrix @ parameters
        fit = np.logaddexp(0, z) - won * z
        return float(fit.sum() + (parameters**2).sum() / (2 * PRIOR_SPREAD**2))

    start = np.zeros(matrix.shape[1])
    return optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x


def judgements(
    seed: int, units: int, worth: dict[str, float], order: float = 0.0
) -> dict[Unit, list[Judgement]]:
    rng = random.Random(seed)
    found: dict[Unit, list[Judgement]] = {}
    for number in range(units):
        for slot_a in ARMS:
            for slot_b in ARMS:
                if slot_a != slot_b:
                    odds = worth[slot_a] - worth[slot_b] + order
                    if rng.random() < 0.1:
                        winner = "tie"
                    else:
                        winner = slot_a if rng.random() < 1 / (1 + exp(-odds)) else slot_b
                    made = Judgement(slot_a, slot_b, winner)
                    found.setdefault(("s", number), []).append(made)
    return found


WORTH = {"full": 0.8, "summary": 0.1, "baseline": -0.9}


def test_bradley_terry_is_what_an_optimiser_finds() -> None:
    by_unit = judgements(4, 15, WORTH, 0.4)
    calls = [call for given in by_unit.values() for call in given]
    names = sorted(ARMS)
    design: list[list[float]] = [
        [float((call.slot_a == name) - (call.slot_b == name)) for name in names] + [1.0]
        for call in calls
    ]
    wins = [0.5 if call.winner == "tie" else float(call.winner == call.slot_a) for call in calls]
    expected = best(design, wins)
    found = bradley_terry(by_unit, 1)
    assert [found.arms[name].value for name in names] == pytest.approx(
        list(expected[:3] - expected[:3].mean()), abs=1e-5
    )
    assert found.order is not None
    assert found.order.value == pytest.approx(expected[3], abs=1e-5)
    assert (found.units, found.judgements) == (15, 90)


def test_planted_strengths_and_the_planted_order_lie_in_their_intervals() -> None:
    found = bradley_terry(judgements(8, 60, WORTH, 0.6), 1)
    for name, arm in found.arms.items():
        assert arm.low is not None
        assert arm.high is not None
        # A tenth of ties pulls towards even; the intervals are a good bit wider than that.
        assert arm.low < WORTH[name] < arm.high
    assert found.order is not None
    assert found.order.low is not None
    assert found.order.low > 0


def test_exchanging_what_the_slots_held_turns_the_order_term_round() -> None:
    by_unit = judgements(3, 12, WORTH, 0.5)
    turned = {
        unit: [Judgement(call.slot_b, call.slot_a, call.winner) for call in calls]
        for unit, calls in by_unit.items()
    }
    one, other = bradley_terry(by_unit, 1), bradley_terry(turned, 1)
    assert one.order is not None
    assert other.order is not None
    assert other.order.value == pytest.approx(-one.order.value)
    for name in ARMS:
        assert other.arms[name].value == pytest.approx(one.arms[name].value)


def test_an_arm_that_won_everything_stays_finite() -> None:
    calls = [Judgement("full", "baseline", "full"), Judgement("baseline", "full", "full")]
    found = bradley_terry({("s", number): calls for number in range(30)}, 1)
    assert 2 < found.arms["full"].value < 6
    assert found.arms["full"].value == pytest.approx(-found.arms["baseline"].value)
    assert found.order is not None
    assert found.order.value == pytest.approx(0, abs=1e-9)


def test_below_ten_prompts_there_are_strengths_but_no_intervals() -> None:
    found = bradley_terry(judgements(1, 9, WORTH), 1)
    assert found.arms["full"].low is None
    assert bradley_terry(judgements(1, 10, WORTH), 1).arms["full"].low is not None


def test_nothing_judged_has_no_strengths() -> None:
    assert bradley_terry({("s", 1): []}, 1).order is None


def compared(seed: int, count: int, longer: float, a: float, b: float) -> list[Lengths]:
    rng = random.Random(seed)
    found = []
    for number in range(count):
        difference = float(round(rng.gauss(longer, 500)))
        odds = a + b * tanh(difference / 500)
        found.append(Lengths(("s", number), difference, float(rng.random() < 1 / (1 + exp(-odds)))))
    return found


def test_the_length_model_is_what_an_optimiser_finds() -> None:
    given = compared(2, 80, 100, 0.3, 1.0)
    spread = spread_of([one.difference for one in given])
    design = [[1.0, tanh(one.difference / spread)] for one in given]
    expected = best(design, [one.win for one in given])
    found = length_model(given, 1)
    assert (found.a, found.b) == pytest.approx(tuple(expected), abs=1e-5)
    assert found.controlled_win_rate == pytest.approx(exp(-log1p(exp(-expected[0]))))
    assert length_model(given[::-1], 1) == found, "the order of comparisons does not matter"


def test_fewer_than_thirty_comparisons_are_not_fitted() -> None:
    found = length_model(compared(1, LEAST_PAIRS - 1, 0, 0, 1), 1)
    assert (found.a, found.pairs) == (None, 29)
    assert found.note == "not fitted: 29 of 30 comparisons"
    assert length_model(compared(1, LEAST_PAIRS, 0, 0, 1), 1).a is not None
    assert length_model([], 1).mean_difference is None


def test_lengths_that_never_vary_are_not_fitted() -> None:
    found = length_model([Lengths(("s", n), 300.0, 1.0) for n in range(40)], 1)
    assert found.a is None
    assert found.note == "not fitted: every difference in length is the same"


def test_few_prompts_with_many_runs_are_fitted_without_intervals() -> None:
    given = [
        Lengths(("s", n % 4), one.difference, one.win)
        for n, one in enumerate(compared(1, 40, 0, 0, 1))
    ]
    found = length_model(given, 1)
    assert found.a is not None
    assert found.b_low is None
    assert found.note.endswith("intervals need 10 prompts")
