"""How many prompts a verdict needs, and what those of a run can show before anything is paid for.

The sizes are those of a two-sided t test by Guenther's formula (The American Statistician 35, 1981,
243-244), at the level of one of several tests. Verdicts come from subset means, whose power is
nearly the same: ``python -m benchmarks verdicts`` prints how often a planned number of prompts does
find what it was planned for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import ceil, hypot, log2, sqrt
from statistics import NormalDist

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.evals.statistics.intervals import FALSE_STATEMENTS, LARGEST, MARGIN

POWER = 0.8
"""The share of differences that an adequate number of prompts finds."""
ASSUMED_SPREAD = 1.0
"""Standard deviation of the difference between prompts, in points of the 1-5 scale, before any is
measured: what the published size-impact runs had."""
MAX_UNITS = 10_000
"""More prompts than this are never recommended."""
_MAX_SKILLS = 1_000_000


def least_units(tests: int) -> int:
    """Return the fewest prompts a skill with which any result can count.

    With n prompts the sign-flip test reaches 2 / 2**n at best: 6 prompts for one test, 9 for 12.
    """
    return ceil(log2(2 * max(1, tests) / FALSE_STATEMENTS))


def smallest_detectable(spread: float, units: int, tests: int = 1) -> float | None:
    """Return the smallest true difference that ``units`` prompts find 4 times in 5, in points.

    None where no result can count, and for a measured spread of 0, which is no estimate.
    """
    if units < least_units(tests) or spread <= 0:
        return None
    critical = _critical(tests)
    return spread * (critical + _quantile(POWER)) / sqrt(units - critical**2 / 2)


def units_needed(effect: float, spread: float, tests: int = 1) -> int | None:
    """Return the fewest prompts a skill that find ``effect`` 4 times in 5; None above 10,000."""
    if not effect:
        return None
    critical = _critical(tests)
    units = ((critical + _quantile(POWER)) * spread / effect) ** 2 + critical**2 / 2
    needed = max(least_units(tests), ceil(min(units, MAX_UNITS + 1)) if spread else 0)
    return needed if needed <= MAX_UNITS else None


def equivalence_units(
    spread: float, tests: int = 1, *, mean: float = 0.0, margin: float = MARGIN
) -> int | None:
    """Return the fewest prompts a skill that show a difference within ``margin`` 4 times in 5.

    ``mean`` is the true difference. None above 10,000 prompts, and where the difference is not
    within the margin.
    """
    if abs(mean) >= margin:
        return None

    def enough(units: int) -> bool:
        # What prompts of 0 may have missed (4 * (1 - q ** (1 / n))), and what their spread hides.
        missed = LARGEST * (1 - (FALSE_STATEMENTS / tests / 2) ** (1 / units))
        error = spread / sqrt(units)
        reach = margin - hypot(_critical(tests) * error, missed)
        if not spread:
            return reach > 0
        normal = NormalDist(mean, error)
        return reach > 0 and normal.cdf(reach) - normal.cdf(-reach) >= POWER

    return _fewest(enough, least_units(tests))


def more_units(
    mean: float, spread: float, units: int, tests: int = 1, *, margin: float = MARGIN
) -> int | None:
    """Return how many more prompts decide, if differences go on as they are; None above 10,000.

    Decided is what is shown 4 times in 5 to be different, or to be equivalent. At least 1.
    """
    different = units_needed(mean, spread, tests)
    equivalent = equivalence_units(spread, tests, mean=mean, margin=margin)
    needed = [count for count in (different, equivalent) if count is not None]
    return max(1, min(needed) - units) if needed else None


def _quantile(share: float) -> float:
    return NormalDist().inv_cdf(share)


def _critical(tests: int) -> float:
    return _quantile(1 - FALSE_STATEMENTS / tests / 2)


def _fewest(enough: Callable[[int], bool], least: int) -> int | None:
    found = least + bisect_left(range(least, MAX_UNITS + 1), True, key=enough)
    return found if found <= MAX_UNITS else None


@dataclass(frozen=True, slots=True)
class PlannedVerdict:
    """What the prompts of one skill can show."""

    skill: str
    prompts: int
    least_prompts: int
    """With fewer prompts no result can count."""
    can_decide: bool
    """True if some result of so many prompts is a verdict."""
    smallest_detectable: float | None
    """Points of the 1-5 scale that are found 4 times in 5; None where no result can count."""
    message: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """How many prompts a skill needs for a verdict; None where 10,000 are not enough."""

    effect: float
    spread: float
    skills: int
    margin: float
    least: int
    """For any result to count."""
    to_find: int | None
    """To find ``effect`` 4 times in 5."""
    for_equivalence: int | None
    """To show 4 times in 5 that two equal conditions are equivalent."""

    def to_dict(self) -> dict[str, object]:
        """Return ``skillyard.eval-prompts/1``."""
        return {"schema": "skillyard.eval-prompts/1", **asdict(self)}


def planned_verdicts(
    prompts_by_skill: Mapping[str, int], *, looks: int = 1
) -> tuple[PlannedVerdict, ...]:
    """Return what the prompts of each skill can show, by name.

    ``looks`` is the number of times that the results are looked at.
    """
    skills = len(prompts_by_skill)
    least = least_units(skills * looks)
    among = f", {skills} skills" if skills > 1 else ""
    planned = []
    for skill, prompts in sorted(prompts_by_skill.items()):
        detectable = smallest_detectable(ASSUMED_SPREAD, prompts, skills * looks)
        shows = (
            f"no outcome can count; {least} needed"
            if detectable is None
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
    if not (effect >= 0 and spread >= 0 and margin >= 0 and 1 <= skills <= _MAX_SKILLS):
        raise InvalidInput(
            "effect, spread and margin must be 0 or more, and skills between 1 and"
            f" {_MAX_SKILLS:,}, not {effect}, {spread}, {margin} and {skills}"
        )
    return PromptPlan(
        effect,
        spread,
        skills,
        margin,
        least_units(skills),
        units_needed(effect, spread, skills),
        equivalence_units(spread, skills, margin=margin),
    )
