"""Slots: drawn from the seed as the document says, balanced over runs, the same for ever."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.verdicts import Assignment, both_orders
from tests.property.strategies import many

cells = st.tuples(st.integers(), st.text(), st.integers(0, 99), st.just("full"), st.just("summary"))


@many
@given(cells, st.integers(0, 50))
def test_an_even_run_is_drawn_as_the_document_says(
    cell: tuple[int, str, int, str, str], pair: int
) -> None:
    text = "|".join(map(str, (*cell, 2 * pair)))
    seed = int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16)
    result, swapped = both_orders(*cell, 2 * pair)
    assert swapped.slots == {"A": result.slots["B"], "B": result.slots["A"]}
    assert both_orders(*cell, 2 * pair + 1)[0].slots == swapped.slots, "balanced over runs"
    assert result.case_seed == seed
    assert result.slots["A" if random.Random(seed).random() < 0.5 else "B"] == "full"
    assert set(result.slots.values()) == {"full", "summary"}


def test_slots_are_the_same_on_every_machine() -> None:
    assert both_orders(42, "csv-cleaning", 0, "full", "baseline", 0)[0] == Assignment(
        121_690_050, {"A": "full", "B": "baseline"}
    )


def test_each_slot_is_drawn_about_half_the_time() -> None:
    drawn = Counter(
        both_orders(seed, "s", 0, "full", "baseline", 0)[0].slots["A"] for seed in range(1_000)
    )
    assert 437 < drawn["full"] < 563  # four standard deviations of a fair coin
