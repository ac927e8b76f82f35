"""Requests for a rate: what is planned is what the interval of the layers then shows."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from skillyard.cli import main
from skillyard.errors import InvalidInput
from skillyard.evals.layers.rate_plan import KINDS, requests_needed
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.layers.routing import rate
from skillyard.evals.statistics.power import POWER
from skillyard.evals.statistics.rate_power import (
    chance_above,
    least_for_rate,
    requests_for_rate,
)
from skillyard.sums import wilson
from tests.evals.statistics.planting import allowed
from tests.shared_data import PACKAGES
from tests.tables import for_each

pytest.importorskip("scipy")

RUNS = 2_000


def shown(truth: float, bound: float, requests: int, runs: int = 1, seed: int = 1) -> float:
    """Return how often the interval that L3 and L4 report lies above the bound."""
    rng = random.Random(seed)
    hits = 0
    for _ in range(RUNS):
        values = [sum(rng.random() < truth for _ in range(runs)) / runs for _ in range(requests)]
        low = rate("tpr", values)["tpr_low"]
        hits += low is not None and low > bound
    return hits / RUNS


@for_each(("truth", "bound"), [(0.95, 0.8), (1.0, 0.8), (0.9, 0.5), (0.6, 0.4)])
def test_the_planned_requests_show_the_rate_4_times_in_5(truth: float, bound: float) -> None:
    requests = requests_for_rate(truth, bound)
    assert requests is not None
    share = shown(truth, bound, requests)
    assert share == pytest.approx(chance_above(truth, bound, requests), abs=0.035)
    assert share >= 1 - allowed(1 - POWER, RUNS)
    assert chance_above(truth, bound, requests - 1) < POWER
    assert shown(truth, bound, requests, runs=3) >= share - 0.035, "more runs do no harm"


@for_each("bound", [0.5, 0.8, 0.9])
def test_a_rate_at_the_bound_is_seldom_shown_to_be_above(bound: float) -> None:
    requests = requests_for_rate(min(1.0, bound + 0.15), bound)
    assert requests is not None
    planned = chance_above(bound, bound, requests)
    assert planned <= 0.05
    assert shown(bound, bound, requests) <= allowed(planned, RUNS)


@for_each("bound", [0.2, 0.5, 0.8, 0.95])
def test_the_fewest_requests_are_those_of_the_interval(bound: float) -> None:
    least = least_for_rate(bound)
    assert least is not None
    assert wilson(least, least)[0] > bound >= wilson(least - 1, least - 1)[0]
    for requests in (least, least + 7, 400):
        enough = [k for k in range(requests + 1) if wilson(k, requests)[0] > bound]
        assert chance_above(1.0, bound, requests) == 1.0
        by_count = requests - len(enough) + 1
        assert chance_above(0.5, bound, requests) == pytest.approx(
            float(pytest.importorskip("scipy.stats").binom.sf(by_count - 1, requests, 0.5))
        )


def test_a_rate_that_is_hardly_above_the_bound_needs_too_many() -> None:
    assert requests_for_rate(0.801, 0.8) is None
    needed = requests_needed("activation", 0.801, 0.8)
    assert (needed.to_show, needed.calls, needed.input_tokens) == (None, None, None)


def test_the_cost_is_that_of_every_skill_kind_and_run() -> None:
    one = requests_needed("confusion", 0.95, 0.8, listed=1)
    many = requests_needed("activation", 0.95, 0.8, skills=3, runs=2, listed=3)
    assert one.to_show is not None
    assert one.to_show == many.to_show
    assert (one.calls, many.calls) == (one.to_show, one.to_show * 2 * 3 * 2)
    assert many.input_tokens is not None
    assert one.input_tokens is not None
    assert many.input_tokens / 12 > one.input_tokens, "three skills are listed"
    assert set(KINDS) == {name for name, layer in LAYERS.items() if layer.routes}


@for_each("figures", [(0.8, 0.8), (0.5, 0.8), (1.1, 0.8), (0.9, 0.0), (float("nan"), 0.5)])
def test_figures_that_no_run_can_have_are_refused(figures: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="0 < above < rate"):
        requests_needed("activation", *figures)
    with pytest.raises(InvalidInput, match="between 1 and"):
        requests_needed("activation", 0.9, 0.8, skills=0)


def test_the_command_plans_rates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "plan", "--layer", "activation", "--skills", "12"]) == 0
    text = capsys.readouterr().out
    assert "16  for the 95 % interval to lie above 80 % at all" in text
    to_show = requests_for_rate(0.95, 0.8)
    assert f"{to_show}  to show 4 times in 5 that a rate of 95 % is above 80 %" in text
    assert "hybrid sends none" in text
    assert main(["eval", "plan", "--layer", "confusion", "--groups", "24"]) == 0
    assert "if all 24 are 80 %, 50 % of the runs show at least one" in capsys.readouterr().out
    assert main(["eval", "plan", "--layer", "activation", "--rate", "0.7"]) == 2
    assert "--above 0.8 and --rate 0.7" in capsys.readouterr().err


@for_each(
    "given",
    [
        ("--layer", "confusion", "--skills", "3"),
        ("--layer", "activation", "--effect", "1"),
        ("--listed", "40"),
        ("--layer", "activation", "--runs", "0"),
    ],
)
def test_an_option_without_effect_is_refused(
    given: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "plan", *given]) == 2
    assert given[-2] in capsys.readouterr().err


def test_rates_that_stand_by_themselves_are_false_together_as_often_as_stated() -> None:
    needed = requests_needed("confusion", 0.95, 0.8, groups=24)
    assert needed.to_show is not None
    assert needed.any_false is not None
    rng = random.Random(7)
    wrong = sum(
        any(
            wilson(sum(rng.random() < 0.8 for _ in range(needed.to_show)), needed.to_show)[0] > 0.8
            for _ in range(24)
        )
        for _ in range(600)
    )
    assert wrong / 600 == pytest.approx(needed.any_false, abs=0.06)


def test_an_epoch_that_numpy_cannot_read_is_an_error_that_names_the_variable() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skillyard", "eval", "plan"],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "SOURCE_DATE_EPOCH": "x"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "SOURCE_DATE_EPOCH, which must be a whole number of seconds" in done.stderr
