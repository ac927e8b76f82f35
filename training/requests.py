"""The training requests: rows of tab-separated files, without those about excluded skills."""

from __future__ import annotations

import os
from hashlib import md5

__all__ = [
    "CHOOSING_HANDS",
    "HERE",
    "LATER_HANDS",
    "PROBABILITY_HANDS",
    "SIBLING_HAND",
    "UNSEEN_HANDS",
    "excluded_ids",
    "held_out",
    "read_hands",
    "read_rows",
    "request_rows",
]

HERE = os.path.dirname(os.path.abspath(__file__))
HELD_OUT = 5
"""One skill in so many is left out where a figure on unseen skills is wanted."""
CHOOSING_HANDS = (7, 8)
"""Hands whose requests train nothing; what is trained is chosen on them."""
UNSEEN_HANDS = (9, 10)
"""Hands whose requests neither train nor choose anything."""
LATER_HANDS = (16, 17, 18, 19, 21, 22, 23)
"""Hands that wrote for eight near skills of one library at a time; the encoder's second stage."""
SIBLING_HAND = 20
"""Another such hand, which the encoder does not see: its probability does."""

PROBABILITY_HANDS = ("near26", "near27", "near41", "near45")
"""Hands that wrote collections of one product, which the encoder does not see: its probability
does."""


def held_out(key: str) -> bool:
    """True for the skills that are left out, the same ones always."""
    return int.from_bytes(md5(key.encode()).digest()[:4], "big") % HELD_OUT == 0


def read_rows(*paths: str) -> list[tuple[str, ...]]:
    """Return the tab-separated rows of those files that are there."""
    rows: list[tuple[str, ...]] = []
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                rows += [tuple(line.rstrip("\n").split("\t")) for line in file if line.strip()]
    return rows


def excluded_ids(shared: str) -> frozenset[str]:
    """Return the skills that some judged set wants: nothing is fitted to them or their requests.

    Raises FileNotFoundError without the list, because a table of judged skills proves nothing.
    """
    with open(os.path.join(shared, "bench", "exclude_from_training.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if line.strip())


def request_rows(shared: str, *files: str) -> list[tuple[str, ...]]:
    """Return (skill id, style, request) of the shared training requests and of files of ``data``.

    Rows about an excluded skill are left out, whoever wrote them.
    """
    excluded = excluded_ids(shared)
    paths = [os.path.join(HERE, "data", name) for name in files]
    rows = read_rows(os.path.join(shared, "bench", "train_requests.tsv"), *paths)
    return [row for row in rows if row[0] not in excluded]


def read_hands(shared: str) -> list[tuple[str, ...]]:
    """Return (skill id, style, request, hand, language) of ``data/hands.tsv``.

    Rows about an excluded skill are left out.
    """
    excluded = excluded_ids(shared)
    rows = read_rows(os.path.join(HERE, "data", "hands.tsv"))
    return [row for row in rows if row[0] not in excluded]
