"""The two halves of the cases of a skill: proposals come from one, the verdict from the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.cases.records import prompt_key
from skillyard.shapes.improvements import HalfCounts

__all__ = ["Halves", "cases_of_skill", "count_cases", "should_fire", "split_cases"]


class Halves(NamedTuple):
    """The cases of a skill, split."""

    first: tuple[ActivationCase, ...]
    held_out: tuple[ActivationCase, ...]


def should_fire(case: ActivationCase, skill: str) -> bool:
    """True for a request that the skill should get."""
    return skill in case.expected_skills


def cases_of_skill(cases: Iterable[ActivationCase], skill: str) -> tuple[ActivationCase, ...]:
    """Return the cases that the description of a skill can pass or fail, each request once.

    These are the requests that the skill should get, those that it should not get, and those of
    other skills, which it could take away. A request that it may get is left out, and so is one
    that only says what another skill should not get.
    """
    by_request: dict[str, ActivationCase] = {}
    for case in cases:
        is_about_another = case.about not in (None, skill)
        if skill in case.acceptable_skills or (is_about_another and not case.expected_skills):
            continue
        # A request of another skill is about every pick.
        about = skill if case.about == skill else None
        by_request.setdefault(prompt_key(case.user_prompt), replace(case, about=about))
    return tuple(by_request.values())


def split_cases(cases: Sequence[ActivationCase], skill: str, seed: int) -> Halves:
    """Return two halves with equal shares of requests that should fire and that should not.

    The order is that of the SHA-256 of seed and request, so it depends neither on the order of the
    files nor on the names of cases. The held-out half has the odd case.
    """
    first: list[ActivationCase] = []
    held_out: list[ActivationCase] = []
    for fires in (True, False):
        stratum = [case for case in cases if should_fire(case, skill) is fires]
        stratum.sort(key=lambda case: (_draw(case, seed), case.id))
        middle = len(stratum) // 2
        first += stratum[:middle]
        held_out += stratum[middle:]
    return Halves(tuple(first), tuple(held_out))


def count_cases(cases: Iterable[ActivationCase], skill: str) -> HalfCounts:
    """Return how many cases should fire, and how many should not."""
    fires = [should_fire(case, skill) for case in cases]
    return HalfCounts(should_fire=fires.count(True), should_not_fire=fires.count(False))


def _draw(case: ActivationCase, seed: int) -> bytes:
    text = f"{seed}|improve|{prompt_key(case.user_prompt)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
