"""``--limit`` samples the same few cases everywhere; and why no case can be used."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.evals.cases.reading import CasePlaces, Dataset
from skillyard.evals.cases.skill_cases import ActivationCase
from skillyard.evals.layers.work import require_cases, sample
from skillyard.evals.settings import RunSettings

KEYS = [f"case-{number}" for number in range(30)]


def chosen(
    keys: list[str], limit: int | None, seed: int = 42, layer: Any = "activation"
) -> tuple[str, ...]:
    return sample(keys, RunSettings(eval_type=layer, seed=seed, limit=limit), key=lambda key: key)


def test_the_choice_is_what_it_always_was() -> None:
    """A changed choice would silently compare different cases with an older run."""
    assert chosen(KEYS, 4) == ("case-6", "case-7", "case-16", "case-25")


@given(st.permutations(KEYS), st.integers(1, 40), st.integers())
def test_the_choice_depends_on_the_ids_and_not_on_their_order(
    keys: list[str], limit: int, seed: int
) -> None:
    dataset = chosen(keys, limit, seed)
    assert set(dataset) == set(chosen(KEYS, limit, seed))
    assert list(dataset) == [key for key in keys if key in dataset]
    assert len(dataset) == min(limit, len(KEYS))


@given(st.integers(1, 29), st.integers())
def test_one_more_case_displaces_at_most_one(limit: int, seed: int) -> None:
    fewer = set(chosen(KEYS[:-1], limit, seed))
    assert len(fewer - set(chosen(KEYS, limit, seed))) <= 1


@given(
    st.lists(st.booleans(), min_size=1, max_size=25), st.integers(1, 30), st.integers(0, 2**63 - 1)
)
def test_both_kinds_are_kept_where_there_is_room(kinds: list[bool], limit: int, seed: int) -> None:
    cases = [ActivationCase(f"c{n}", "p", kind) for n, kind in enumerate(kinds)]
    dataset = sample(
        cases,
        RunSettings(eval_type="activation", seed=seed, limit=limit),
        key=lambda case: case.id,
        is_positive=lambda case: case.should_activate,
    )
    assert len(dataset) == min(limit, len(cases))
    assert [case.id for case in cases if case in dataset] == [case.id for case in dataset]
    if limit > 1:
        assert {case.should_activate for case in dataset} == set(kinds)
    elif True in kinds:
        assert dataset[0].should_activate


def dataset(*messages: str) -> Dataset[Any]:
    diagnostics = tuple(
        Diagnostic("case_empty", "warning", "c.yaml", text, "write one") for text in messages
    )
    return Dataset((), diagnostics, "")


def test_the_reasons_are_named_once_each() -> None:
    with pytest.raises(InvalidInput, match=r"c\.yaml: four; .*: three; .*: one; .* and 1 more$"):
        require_cases(dataset("four", "three", "four", "one", "two"), CasePlaces(("c.yaml",)))
