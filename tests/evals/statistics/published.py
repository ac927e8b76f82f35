"""Counts of a published evaluation, judged in one random order: who won, by the slot it lay in.

Source: novotnyllc/dotnet-marketplace at commit ee10c46d50f88970f089e105d5045c0a2e82ad4c (MIT),
``tests/evals/baselines/size_impact_baseline.json`` and ``effectiveness_baseline.json``, run of
26 February 2026, one small model judging its own answers. Counted from the winners of the cases
and their slots; only the counts are kept here. A case is a win of the comparison's first arm.
"""

from __future__ import annotations

from skillyard.evals.statistics.order import Slots

__all__ = ["ENHANCED", "FULL", "POOLED", "TABLES"]

TABLES = {
    "enhanced/baseline": Slots(29, 3, 40, 0),
    "full/baseline": Slots(9, 8, 14, 1),
    "full/summary": Slots(12, 5, 10, 6),
    "full_siblings/full": Slots(5, 1, 3, 0),
    "summary/baseline": Slots(11, 9, 8, 5),
}
ENHANCED, FULL = TABLES["enhanced/baseline"], TABLES["full/baseline"]
POOLED = Slots(*(one + other for one, other in zip(ENHANCED, FULL, strict=True)))
"""A skill against none, both layers: 38 of 49 in slot A, 54 of 55 in slot B."""
