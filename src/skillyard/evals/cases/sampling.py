"""Sampling for ``--limit``: a deterministic subset of the cases.

The draw of a case is the SHA-256 of (seed, layer, id), and the cases with the lowest draws are
taken. So the sample depends neither on the order of the files nor on the version of Python, and a
new case replaces at most one other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from skillyard.errors import InvalidInput
from skillyard.evals.cases.activation import ActivationCase

__all__ = ["sample", "sample_activation"]

Case = TypeVar("Case")


def sample(
    cases: Sequence[Case],
    limit: int | None,
    *,
    seed: int,
    layer: str,
    key: Callable[[Case], str],
) -> tuple[Case, ...]:
    """Return at most ``limit`` of the cases, in their own order; all of them for None.

    ``layer`` is a salt: the samples of two layers are independent. ``key`` returns the id of a
    case. Raises InvalidInput for a limit below 1.
    """
    _check(limit)
    if limit is None or limit >= len(cases):
        return tuple(cases)
    places = _draw_order(cases, seed, layer, key)[:limit]
    return tuple(cases[place] for place in sorted(places))


def sample_activation(
    cases: Sequence[ActivationCase], limit: int | None, *, seed: int, layer: str = "activation"
) -> tuple[ActivationCase, ...]:
    """Return at most ``limit`` cases, at least one positive and one negative where there are both.

    With a limit of 1 there is room for a positive only.
    """
    _check(limit)
    if limit is None or limit >= len(cases):
        return tuple(cases)
    order = _draw_order(cases, seed, layer, lambda case: case.id)
    kinds = (True, False) if limit > 1 else (True,)
    one_of_each = [
        next((place for place in order if cases[place].should_activate is kind), None)
        for kind in kinds
    ]
    first = [place for place in one_of_each if place is not None]
    rest = [place for place in order if place not in first]
    return tuple(cases[place] for place in sorted((first + rest)[:limit]))


def _check(limit: int | None) -> None:
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InvalidInput("limit must be None or an integer of at least 1")


def _draw_order(
    cases: Sequence[Case], seed: int, layer: str, key: Callable[[Case], str]
) -> list[int]:
    """Return the places of the cases in the order of their draws."""
    draws = [
        (
            hashlib.sha256(f"{seed}|{layer}|{key(case)}".encode("utf-8", "surrogatepass")).digest(),
            place,
        )
        for place, case in enumerate(cases)
    ]
    return [place for _, place in sorted(draws)]
