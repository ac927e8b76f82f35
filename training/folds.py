"""The repositories in three folds, so that what is fitted can leave a skill's repository out.

A collection and those that it copies or translates stand in one fold: a skill must not be known
from its twin.
"""

from __future__ import annotations

__all__ = ["FOLDS", "fold_of"]

FOLDS = (
    ("openclaw",),
    ("gptomics", "gt", "ina654321", "mukul975", "pranavnagrecha"),
)
"""The owners of each fold but the last, which holds all others: 21, 39 and 40 percent of the
training requests."""

_FOLD_OF = {owner: number for number, owners in enumerate(FOLDS) for owner in owners}


def fold_of(key: str) -> int:
    """Return the fold of a skill's repository, 0 to ``len(FOLDS)``, by the skill's id."""
    return _FOLD_OF.get(key.split("/", 1)[0], len(FOLDS))
