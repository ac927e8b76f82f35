"""Cases of runs whose truth is known: planted effects."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

__all__ = ["SOAK", "Judge", "allowed", "case", "run_of"]

SOAK = os.environ.get("SKILLYARD_SOAK") == "1"
"""True for the long runs of ``make soak``."""


def allowed(share: float, trials: int) -> float:
    """Return the share that ``trials`` trials exceed once in 1,000 where ``share`` is true."""
    return share + 3.09 * sqrt(share * (1 - share) / trials)


@dataclass(frozen=True)
class Judge:
    """How a simulated judge scores an answer: 3, what its arm is worth, and noise."""

    worth: Mapping[str, float] = field(default_factory=dict)
    """Points by condition; 0 for one not named."""
    by_prompt: float = 0.5
    """Standard deviation of an arm's points between prompts: what runs do not average out."""
    by_call: float = 0.5
    """Standard deviation between calls."""


def case(
    skill: str,
    prompt: int,
    run: int,
    arms: tuple[str, str],
    orders: Sequence[tuple[str, float, float]],
    lengths: tuple[int, int] = (1000, 1000),
) -> dict[str, Any]:
    """Return a judged case; an order is the arm in slot A, the first and the second arm's score."""
    first, second = arms
    judged = [
        {
            "ab_assignment": {"A": slot_a, "B": second if slot_a == first else first},
            "scores": {first: one, second: other},
            "winner": _winner(arms, one, other),
            "attempts": 1,
            "error": None,
        }
        for slot_a, one, other in orders
    ]
    one = round(sum(order[1] for order in orders) / len(orders), 4)
    other = round(sum(order[2] for order in orders) / len(orders), 4)
    same = len({order["winner"] for order in judged}) == 1
    return {
        "id": f"{skill}/{prompt}/{run}/{first}/{second}",
        "skill_name": skill,
        "prompt_index": prompt,
        "run_index": run,
        "comparison": f"{first}/{second}",
        "condition_a": first,
        "condition_b": second,
        "scores": {first: one, second: other},
        "improvement": round(one - other, 4),
        "winner": judged[0]["winner"] if same else "tie",
        "judge_agrees": True,
        "position_consistent": same if len(orders) == 2 else None,
        "ab_assignment": judged[0]["ab_assignment"],
        "orders": judged,
        "lengths": {first: lengths[0], second: lengths[1]},
        "judge_attempts": len(orders),
        "errors": [],
        "skipped": None,
    }


def _winner(arms: tuple[str, str], one: float, other: float) -> str:
    if one == other:
        return "tie"
    return arms[0] if one > other else arms[1]


def run_of(
    judge: Judge,
    seed: int,
    *,
    skills: int = 1,
    prompts: int = 12,
    runs: int = 1,
    comparisons: Sequence[tuple[str, str]] = (("full", "baseline"),),
) -> list[dict[str, Any]]:
    """Return the cases of a run, each judged in both orders."""
    rng = random.Random(seed)
    result = []
    for skill in range(skills):
        for prompt in range(prompts):
            arms = sorted({arm for pair in comparisons for arm in pair})
            drift = {arm: rng.gauss(judge.worth.get(arm, 0.0), judge.by_prompt) for arm in arms}
            for run in range(runs):
                for pair in comparisons:
                    points = [
                        # A rubric of four whole scores gives steps, and so ties.
                        [round(4 * rng.gauss(3 + drift[arm], judge.by_call)) / 4 for arm in pair]
                        for _ in pair
                    ]
                    orders = [(arm, one, two) for arm, (one, two) in zip(pair, points, strict=True)]
                    result.append(case(f"skill-{skill:02}", prompt, run, pair, orders))
    return result
