"""How many prompts a verdict needs, and what those of a run can show before anything is paid for.

The sizes follow from what a verdict asks for: a t interval without 0, or within the margin (a test
of equivalence by two one-sided tests: Schuirmann 1987), and the same of the interval for rare
prompts. ``python -m benchmarks verdicts`` prints how often a planned number of prompts does find
what it was planned for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import NormalDist
from typing import NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.evals.statistics.intervals import (
    FALSE_STATEMENTS,
    LARGEST,
    MARGIN,
    RARE,
    t_quantile,
)

POWER = 0.8
"""The share of differences that an adequate number of prompts finds."""
ASSUMED_SPREAD = 1.0
"""Standard deviation of the difference between prompts, in points of the 1-5 scale, before any is
measured: what the published size-impact runs had."""
MAX_UNITS = 10_000
"""More prompts than this are never recommended."""
_MAX_SKILLS = 1_000_000
_LARGE = 2.0
"""Points: a number of prompts that seldom finds so large a difference is too small for a run."""
_REACH = 2.5
"""Points that an answer can lose or gain where the other arm scores about 3.5."""
_NORMAL = NormalDist()


def _needed_mean(effect: float, spread: float, units: int, share: float) -> float:
    """Return how far from a bound the mean of a sample must lie for a statement.

    ``share`` is how often the t interval may err on that side. The interval for rare prompts errs
    by what prompts that are not in the sample may hide, and by the spread of those that are.
    """
    error = spread / sqrt(units)
    hidden = (1 - RARE ** (1 / units)) * (_REACH + effect)
    rare = hypot(_NORMAL.inv_cdf(1 - RARE) * error, hidden)
    return max(t_quantile(share, units - 1) * error, rare)


def least_units(chance: float = FALSE_STATEMENTS) -> int:
    """Return the fewest prompts a skill that find a difference of two points 4 times in 5.

    ``chance`` is the share of false statements that a skill may spend.
    """
    return units_needed(_LARGE, ASSUMED_SPREAD, chance) or MAX_UNITS


def smallest_detectable(
    spread: float, units: int, chance: float = FALSE_STATEMENTS
) -> float | None:
    """Return the smallest true difference that ``units`` prompts find 4 times in 5, in points.

    None where they find none.
    """
    if units < 2:
        return None
    hundredths = range(1, round(100 * LARGEST) + 1)
    place = bisect_left(
        hundredths, True, key=lambda each: _finds(each / 100, spread, units, chance)
    )
    return hundredths[place] / 100 if place < len(hundredths) else None


def units_needed(effect: float, spread: float, chance: float = FALSE_STATEMENTS) -> int | None:
    """Return the fewest prompts a skill that find ``effect`` 4 times in 5; None above 10,000."""
    return _fewest(lambda units: _finds(abs(effect), spread, units, chance)) if effect else None


def _finds(effect: float, spread: float, units: int, chance: float) -> bool:
    missing = effect - _needed_mean(effect, spread, units, chance / 2)
    return missing * sqrt(units) >= _NORMAL.inv_cdf(POWER) * spread


def equivalence_units(
    spread: float,
    chance: float = FALSE_STATEMENTS,
    *,
    mean: float = 0.0,
    margin: float = MARGIN,
) -> int | None:
    """Return the fewest prompts a skill that show a difference within ``margin`` 4 times in 5.

    ``mean`` is the true difference. None above 10,000 prompts, and where the difference is not
    within the margin.
    """

    def enough(units: int) -> bool:
        reach = margin - _needed_mean(abs(mean), spread, units, chance)
        if not spread or reach <= 0:
            return reach > abs(mean)
        normal = NormalDist(mean, spread / sqrt(units))
        return normal.cdf(reach) - normal.cdf(-reach) >= POWER

    return _fewest(enough) if abs(mean) < margin else None


def study_units(
    mean: float, spread: float, chance: float, near_chance: float, margin: float
) -> int | None:
    """Return how many prompts a new run needs, if differences are as they were; None above 10,000.

    They are enough to show 4 times in 5 that there is a difference, or that there is none.
    """
    different = units_needed(mean, spread, chance)
    equivalent = equivalence_units(spread, near_chance, mean=mean, margin=margin)
    return min((each for each in (different, equivalent) if each is not None), default=None)


def _fewest(enough: Callable[[int], bool]) -> int | None:
    units = 2 + bisect_left(range(2, MAX_UNITS + 1), True, key=enough)
    return units if units <= MAX_UNITS else None


@dataclass(frozen=True, slots=True)
class PlannedVerdict:
    """What the prompts of one skill can show."""

    skill: str
    prompts: int
    least_prompts: int
    """Fewer prompts seldom find even two points."""
    can_decide: bool
    """True if there are so many."""
    smallest_detectable: float | None
    """Points of the 1-5 scale that are found 4 times in 5; None where nothing is."""
    message: str
    """One sentence."""


class PromptPlan(NamedTuple):
    """How many prompts a skill needs for a verdict; None where 10,000 are not enough."""

    effect: float
    spread: float
    skills: int
    margin: float
    least: int
    """To find a difference of two points 4 times in 5."""
    to_find: int | None
    """To find ``effect`` 4 times in 5."""
    for_equivalence: int | None
    """To show 4 times in 5 that two equal conditions are equivalent."""

    def to_dict(self) -> dict[str, object]:
        """Return ``skillyard.eval-prompts/1``."""
        return {"schema": "skillyard.eval-prompts/1", **self._asdict()}


def planned_verdicts(
    prompts_by_skill: Mapping[str, int], *, looks: int = 1
) -> tuple[PlannedVerdict, ...]:
    """Return what the prompts of each skill can show, by name.

    ``looks`` is the number of times that the results are looked at.
    """
    skills = len(prompts_by_skill)
    chance = FALSE_STATEMENTS / max(1, skills * looks)
    least = least_units(chance)
    among = f", {skills} skills" if skills > 1 else ""
    planned = []
    for skill, prompts in sorted(prompts_by_skill.items()):
        detectable = smallest_detectable(ASSUMED_SPREAD, prompts, chance)
        shows = (
            f"too few for a verdict on it alone; {least} needed"
            if detectable is None or prompts < least
            else f"finds a difference of {detectable:.1f} points 4 times in 5"
        )
        message = f"{plural(prompts, 'prompt')}{among}: {shows}"
        planned.append(PlannedVerdict(skill, prompts, least, prompts >= least, detectable, message))
    return tuple(planned)


def prompts_needed(
    effect: float, *, skills: int = 1, spread: float = ASSUMED_SPREAD, margin: float = MARGIN
) -> PromptPlan:
    """Return how many prompts each of ``skills`` skills needs to find a difference.

    Raises InvalidInput for figures that no run can have.
    """
    possible = 0 <= effect <= LARGEST and spread >= 0 and margin >= 0
    if not (possible and 1 <= skills <= _MAX_SKILLS):
        raise InvalidInput(
            f"effect must be 0 to {LARGEST:g} (on a scale of 1 to 5 no difference is larger than"
            f" {LARGEST:g}), spread and margin 0 or more, and skills 1 to {_MAX_SKILLS:,}"
        )
    chance = FALSE_STATEMENTS / skills
    return PromptPlan(
        effect,
        spread,
        skills,
        margin,
        least_units(chance),
        units_needed(effect, spread, chance),
        # With several skills, a decided headline passes the other half of its share on.
        equivalence_units(spread, chance / min(2, skills), margin=margin),
    )
