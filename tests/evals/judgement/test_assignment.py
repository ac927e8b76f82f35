"""Slots: drawn from the seed as the document says, balanced over runs, the same for ever."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.judgement.remap import Assignment, assignment
from tests.property.strategies import many

cells = st.tuples(st.integers(), st.text(), st.integers(0, 99), st.just("full"), st.just("summary"))


@many
@given(cells, st.integers(0, 50))
def test_an_even_run_is_drawn_as_the_document_says(
    cell: tuple[int, str, int, str, str], pair: int
) -> None:
    text = "|".join(map(str, (*cell, 2 * pair)))
    seed = int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16)
    result = assignment(*cell, 2 * pair)
    assert result.case_seed == seed
    assert result.slots["A" if random.Random(seed).random() < 0.5 else "B"] == "full"
    assert set(result.slots.values()) == {"full", "summary"}


def test_slots_are_the_same_on_every_machine() -> None:
    assert assignment(42, "csv-cleaning", 0, "full", "baseline", 0) == Assignment(
        121_690_050, {"A": "full", "B": "baseline"}
    )


def test_each_slot_is_drawn_about_half_the_time() -> None:
    drawn = Counter(
        assignment(seed, "s", 0, "full", "baseline", 0).slots["A"] for seed in range(1_000)
    )
    assert 437 < drawn["full"] < 563  # four standard deviations of a fair coin


def test_a_condition_is_not_compared_with_itself() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        assignment(1, "s", 0, "full", "full", 0)
