"""What a request counts in the fit of the probability."""

from importlib import import_module
from typing import Any

import pytest

from skillyard.engine.ranking.hybrid.constants import Features, QueryFeatures
from tests.tables import for_each

pytest.importorskip("numpy")
calibrate: Any = import_module("training.calibrate")
"""Not checked for types: the libraries of the training have none."""


def asked(size: int, cell: int, kind: str) -> Any:
    fits = kind == "fits"
    return calibrate.CalibrationSample(
        facts=Features(),
        where=QueryFeatures(),
        rule=(0.0, -50.0, 50.0),
        kind=kind,
        size=size,
        kin=False,
        cell=cell,
        name="a",
        right=fits,
        label=float(fits),
        task=False,
        characters=20,
        gaps=[],
        log_odds=0.0,
        cosines=(0.0, 0.0),
    )


@for_each(("size", "share"), [(1, 1 / 3), (5, 1 / 3), (10, 1 / 2), (300, 1 / 2)])
def test_the_share_that_fits_is_stated_and_not_that_of_the_questions(
    size: int, share: float
) -> None:
    numbers = {"fits": 7, "absent": 20, "near": 6, "far": 40}
    samples = [
        asked(size, cell, kind)
        for cell in range(len(calibrate.CELLS))
        for kind, number in numbers.items()
        for _ in range(number)
    ]
    weights = calibrate.weights_of(samples)
    fits = [float(w) for w, one in zip(weights, samples, strict=True) if one.kind == "fits"]
    assert sum(fits) / float(weights.sum()) == pytest.approx(share)
