"""``--limit``: a few of the cases, chosen by seed, the same on every machine.

Instead of a random generator, each case gets the SHA-256 of (seed, layer, its id) and the lowest
are taken: which cases are chosen depends on neither their order in the files nor the Python that
runs, and one more case in the data displaces at most one.
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

    ``layer`` is the salt: two layers choose independently. ``key`` gives each case's id. Raises
    InvalidInput for a limit below 1.
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
