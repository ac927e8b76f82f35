"""Conformance cases as pytest parameters, and which readings of an open case are accepted.

A case that its file marks ambiguous accepts ``expected`` and every alternative, unless the
rulings close it: then a table beside the test names the one reading that is left, and the topic
of the ruling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from tests.shared_data import cases

Case = dict[str, Any]

EXPECTED = 0
"""The reading that the file calls ``expected``."""
FIRST_ALTERNATIVE = 1


class Ruling(NamedTuple):
    """Which reading of an open case is the right one, and why."""

    reading: int
    """0 is ``expected``, n the n-th alternative."""
    topic: str


def load(suite: str, group: str | None = "cases") -> list[Case]:
    """Return the cases of one group of a file."""
    data = cases(suite)
    rows = data if group is None else data[group]
    assert isinstance(rows, list)
    assert rows
    return rows


def rows(suite: str, group: str | None = "cases", key: str = "id") -> list[Any]:
    """Return one parameter for every case."""
    return [pytest.param(row, id=row[key]) for row in load(suite, group)]


def readings(case: Case, rulings: Mapping[str, Ruling]) -> list[Any]:
    """Return what the case may give: one value when it is decided, else every open reading."""
    listed = [case["expected"], *case.get("alternatives", ())]
    if not case.get("ambiguous", False):
        return listed[:1]
    ruled = rulings.get(case["id"])
    return listed if ruled is None else [listed[ruled.reading]]


def stale(rulings: Mapping[str, Ruling], groups: Iterable[list[Case]]) -> list[str]:
    """Return the ruled ids that are no ambiguous case of these groups, or name no reading."""
    known = {case["id"]: case for group in groups for case in group}
    return [
        case_id
        for case_id, ruling in rulings.items()
        if not known.get(case_id, {}).get("ambiguous")
        or ruling.reading > len(known[case_id].get("alternatives", ()))
    ]
