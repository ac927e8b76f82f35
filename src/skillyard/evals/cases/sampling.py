"""Sampling for ``--limit``: a deterministic subset of the cases.

The draw of a case is the SHA-256 of (seed, layer, id), and the cases with the lowest draws are
taken. So the sample depends neither on the order of the files nor on the version of Python, and a
new case replaces at most one other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

Case = TypeVar("Case")


def sample(
    cases: Sequence[Case],
    limit: int | None,
    *,
    seed: int,
    layer: str,
    key: Callable[[Case], str],
    is_positive: Callable[[Case], bool] = lambda case: True,
) -> tuple[Case, ...]:
    """Return at most ``limit`` of the cases, in their own order; all of them for None.

    ``layer`` is a salt: the samples of two layers are independent. ``key`` returns the id of a
    case. At least one positive and one negative case are taken where there are both; with a limit
    of 1 there is room for a positive only.
    """
    if limit is None or limit >= len(cases):
        return tuple(cases)

    def draw(place: int) -> tuple[bytes, int]:
        text = f"{seed}|{layer}|{key(cases[place])}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), place

    order = sorted(range(len(cases)), key=draw)
    first = [
        next((place for place in order if is_positive(cases[place]) is kind), None)
        for kind in (True, False)
    ]
    order.sort(key=lambda place: first.index(place) if place in first else len(first))
    return tuple(cases[place] for place in sorted(order[:limit]))
