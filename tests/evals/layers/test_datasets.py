"""Why nothing can be run: every reason is named, not only the first that was noticed."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard import Diagnostic, InvalidInput
from skillyard.evals.cases.dataset import Dataset
from skillyard.evals.cases.layer_cases import CasePlaces
from skillyard.evals.layers.datasets import require_cases
from skillyard.evals.layers.routing import rate


def dataset(*messages: str) -> Dataset[Any]:
    diagnostics = tuple(
        Diagnostic("case_empty", "warning", "c.yaml", text, "write one") for text in messages
    )
    return Dataset((), diagnostics, ("c.yaml",), "")


def test_the_reasons_are_named_once_each() -> None:
    with pytest.raises(InvalidInput, match=r"one \(and 1 more\)$") as caught:
        require_cases(dataset("four", "three", "four", "one", "two"), CasePlaces(("c.yaml",)))
    assert "c.yaml: four; c.yaml: three; c.yaml: one" in str(caught.value)


def test_a_case_half_of_whose_runs_pass_is_half_in_the_interval_too() -> None:
    shares = rate("recall", [0.5, 0.5, 0.5])
    assert shares["recall"] == 0.5
    assert shares["recall_low"] is not None
    assert shares["recall_high"] is not None
    assert shares["recall_low"] + shares["recall_high"] == pytest.approx(1.0, abs=1e-4)
