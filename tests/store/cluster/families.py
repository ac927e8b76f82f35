"""Skills that nodes are asked for: a family that always changes together, and a crowd.

An answer that shows two numbers of one family is a mixture of generations.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from skillyard import Skill

__all__ = ["AMBER", "TENANT", "Family", "crowd"]

TENANT = "acme"
_MEMBERS = 5
_SAID = re.compile(r"State (\d+)\.")


class Family(NamedTuple):
    """Skills that change together."""

    name: str
    words: str
    """What to ask to be shown all of them, and no other family."""

    def skills(self, number: int) -> list[Skill]:
        """Return all of them, as they are when the family says ``number``."""
        said = f"{self.words}. State {number}."
        return [
            Skill(f"{self.name}-{n}", f"How to {said}", f"# Part {n}\n\nFirst {said}\n")
            for n in range(_MEMBERS)
        ]

    def numbers_in(self, text: str) -> set[int]:
        """Return the numbers that a text of members says."""
        return {int(number) for number in _SAID.findall(text)}


AMBER = Family("amber", "polish amber stones")


def crowd(count: int) -> list[Skill]:
    """Return skills that nobody changes: with them a node's rebuild is one of many skills."""
    return [
        Skill(f"crowd-{n:05}", f"Fills row {n} of the ledger.", f"# Row {n}\n\nWrite {n * n}.\n")
        for n in range(count)
    ]
