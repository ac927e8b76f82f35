"""Assigns the two conditions to the slots A and B, from a seed and balanced over the runs.

Judges favour a slot (arXiv 2406.07791), so the slot is drawn. With one order the bias can be
measured; only judging both orders removes it from the scores (spec/evals.md §0.3, §1.10).
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from skillyard.base.errors import InvalidInput

_SEED_DIGITS = 8  # hexadecimal: 32 bits


@dataclass(frozen=True, slots=True)
class Assignment:
    """The condition in each slot of one call to a judge."""

    case_seed: int
    """0..2**32-1: the digest of seed, skill, prompt, conditions and run."""
    slots: dict[str, str]
    """The condition in slot ``A`` and the one in slot ``B``."""

    def swapped(self) -> Assignment:
        """Return the same case with the slots changed over."""
        return Assignment(self.case_seed, {"A": self.slots["B"], "B": self.slots["A"]})


def assignment(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> Assignment:
    """Return the slots of one case that is judged in a single order.

    The case seed is the first eight hexadecimal digits of
    ``sha256("seed|skill|prompt_index|condition_a|condition_b|run")``. In even runs a generator with
    that seed draws the slot of ``condition_a``: A below one half. An odd run (counting from 0)
    swaps the run before it, so that two runs put each condition into each slot once. Raises
    InvalidInput when the conditions are one.
    """
    if condition_a == condition_b:
        raise InvalidInput(f"a comparison needs two conditions, not {condition_a!r} twice")
    cell = f"{seed}|{skill}|{prompt_index}|{condition_a}|{condition_b}"
    seed_of_pair = _case_seed(cell, run - run % 2)
    first_in_a = (random.Random(seed_of_pair).random() < 0.5) != bool(run % 2)
    first, second = (condition_a, condition_b) if first_in_a else (condition_b, condition_a)
    return Assignment(_case_seed(cell, run), {"A": first, "B": second})


def both_orders(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> tuple[Assignment, Assignment]:
    """Return the slots of both calls of one case: as :func:`assignment` draws them, and swapped.

    Raises InvalidInput when the conditions are one.
    """
    first = assignment(seed, skill, prompt_index, condition_a, condition_b, run)
    return first, first.swapped()


def _case_seed(cell: str, run: int) -> int:
    digest = hashlib.sha256(f"{cell}|{run}".encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:_SEED_DIGITS], 16)
