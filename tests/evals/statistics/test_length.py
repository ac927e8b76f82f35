"""The length model: against a general optimiser, their laws, their limits."""

from __future__ import annotations

import random
from importlib.util import find_spec
from math import exp, log1p, tanh
from typing import Any

import pytest

from skillyard.evals.statistics.intervals import spread_of
from skillyard.evals.statistics.length import LEAST_PAIRS, PRIOR_SPREAD, Lengths, length_model

pytestmark = pytest.mark.skipif(find_spec("scipy") is None, reason="scipy is not installed")


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


def compared(seed: int, count: int, longer: float, a: float, b: float) -> list[Lengths]:
    rng = random.Random(seed)
    result = []
    for number in range(count):
        difference = float(round(rng.gauss(longer, 500)))
        odds = a + b * tanh(difference / 500)
        result.append(
            Lengths(("s", number), difference, float(rng.random() < 1 / (1 + exp(-odds))))
        )
    return result


def test_the_length_model_is_what_an_optimiser_finds() -> None:
    given = compared(2, 80, 100, 0.3, 1.0)
    spread = spread_of([one.difference for one in given])
    design = [[1.0, tanh(one.difference / spread)] for one in given]
    expected = best(design, [one.win for one in given])
    result = length_model(given, 1)
    assert (result.a, result.b) == pytest.approx(tuple(expected), abs=1e-5)
    assert result.controlled_win_rate == pytest.approx(exp(-log1p(exp(-expected[0]))))
    assert length_model(given[::-1], 1) == result, "the order of comparisons does not matter"


def test_fewer_than_thirty_comparisons_are_not_fitted() -> None:
    result = length_model(compared(1, LEAST_PAIRS - 1, 0, 0, 1), 1)
    assert (result.a, result.pairs) == (None, 29)
    assert result.note == "not fitted: 29 of 30 comparisons"
    assert length_model(compared(1, LEAST_PAIRS, 0, 0, 1), 1).a is not None
    assert length_model([], 1).mean_difference is None


def test_lengths_that_never_vary_are_not_fitted() -> None:
    result = length_model([Lengths(("s", n), 300.0, 1.0) for n in range(40)], 1)
    assert result.a is None
    assert result.note == "not fitted: every difference in length is the same"


def test_few_prompts_with_many_runs_are_fitted_without_intervals() -> None:
    given = [
        Lengths(("s", n % 4), one.difference, one.win)
        for n, one in enumerate(compared(1, 40, 0, 0, 1))
    ]
    result = length_model(given, 1)
    assert result.a is not None
    assert result.b_low is None
    assert result.note.endswith("intervals need 10 prompts")
