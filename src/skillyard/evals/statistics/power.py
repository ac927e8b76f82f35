"""How many prompts a verdict needs, and what those of a run can show before anything is paid for.

The power of the two-sided t test is taken from the noncentral t distribution (Cohen, Statistical
Power Analysis for the Behavioral Sciences, 1988, ch. 2), at the level of one of several skills. The
intervals come from subset means, whose power is nearly the same: ``python -m benchmarks verdicts``
prints how often a planned number of prompts does find what it was planned for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, hypot, log2, sqrt
from statistics import NormalDist

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.evals.statistics.bounded_mean import LARGEST
from skillyard.evals.statistics.scientific import special
from skillyard.evals.statistics.verdicts import FALSE_STATEMENTS, MARGIN

POWER = 0.8
"""The share of differences that an adequate number of prompts finds."""
ASSUMED_SPREAD = 1.0
"""Standard deviation of the difference between prompts, in points of the 1-5 scale, before any is
measured: what the published size-impact runs had."""
MAX_UNITS = 10_000
"""More prompts than this are never recommended."""
_MAX_SKILLS = 1_000_000


def least_units(skills: int) -> int:
    """Return the fewest prompts a skill with which any result can count.

    With n prompts the sign-flip test reaches 2 / 2**n at best: 6 prompts for one skill, 9 for 12.
    """
    return ceil(log2(2 * max(1, skills) / FALSE_STATEMENTS))


def power_of(effect: float, spread: float, units: int, skills: int = 1) -> float:
    """Return the chance, 0..1, that a mean of ``units`` differences is shown not to be zero.

    ``effect`` is the true mean, ``spread`` (above 0) the standard deviation between prompts.
    ``skills`` are compared together.
    """
    if units < least_units(skills):
        return 0.0
    functions = special()
    freedom, critical = units - 1, _critical(units, skills)
    shift = abs(effect) / spread * sqrt(units)
    if shift > 30:
        return 1.0  # the distribution function is no longer accurate there, nor needed
    above = 1 - float(functions.nctdtr(freedom, shift, critical))
    below = float(functions.nctdtr(freedom, shift, -critical))
    return min(1.0, above + (below if below == below else 0.0))


def smallest_detectable(spread: float, units: int, skills: int = 1) -> float | None:
    """Return the smallest true difference that ``units`` prompts find 4 times in 5, in points.

    None where no result can count, and for a measured spread of 0, which is no estimate.
    """
    if units < least_units(skills) or spread <= 0:
        return None
    return _detectable(units, skills) * spread


@cache
def _detectable(units: int, skills: int) -> float:
    """Return the smallest detectable mean at a spread of 1."""
    low, high = 0.0, 1.0
    while power_of(high, 1.0, units, skills) < POWER:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if power_of(middle, 1.0, units, skills) >= POWER else (middle, high)
        )
    return high


def units_needed(effect: float, spread: float, skills: int = 1) -> int | None:
    """Return the fewest prompts a skill that find ``effect`` 4 times in 5; None above 10,000."""
    if not effect:
        return None
    if spread <= 0:
        return least_units(skills)
    return _fewest(lambda units: power_of(effect, spread, units, skills) >= POWER, skills)


def equivalence_units(
    spread: float, skills: int = 1, *, mean: float = 0.0, margin: float = MARGIN
) -> int | None:
    """Return the fewest prompts a skill that show a difference within ``margin`` 4 times in 5.

    ``mean`` is the true difference. None above 10,000 prompts, and where the difference is not
    within the margin.
    """
    if abs(mean) >= margin:
        return None
    if spread <= 0:
        return _fewest(lambda units: _zero_reach(units, skills) < margin, skills)

    def enough(units: int) -> bool:
        error = spread / sqrt(units)
        # The interval reaches as far as the spread takes it, and what prompts may have missed.
        reach = margin - hypot(_critical(units, skills) * error, _zero_reach(units, skills))
        normal = NormalDist(mean, error)
        return reach > 0 and normal.cdf(reach) - normal.cdf(-reach) >= POWER

    return _fewest(enough, skills)


def more_units(
    mean: float, spread: float, units: int, skills: int = 1, *, margin: float = MARGIN
) -> int | None:
    """Return how many more prompts decide, if differences go on as they are; None above 10,000.

    Decided is what is shown 4 times in 5 to be different, or to be equivalent. At least 1.
    """
    needed = [
        count
        for count in (
            units_needed(mean, spread, skills),
            equivalence_units(spread, skills, mean=mean, margin=margin),
        )
        if count is not None
    ]
    return max(1, min(needed) - units) if needed else None


def _zero_reach(units: int, skills: int) -> float:
    """Return how far the bounded interval of so many differences of 0 reaches, in points."""
    return float(LARGEST * (1 - (FALSE_STATEMENTS / skills / 2) ** (1 / units)))


def _critical(units: int, skills: int) -> float:
    return float(special().stdtrit(units - 1, 1 - FALSE_STATEMENTS / skills / 2))


def _fewest(enough: Callable[[int], bool], skills: int) -> int | None:
    low = least_units(skills) - 1
    high = low + 1
    while not enough(high):
        low, high = high, high * 2
        if high > MAX_UNITS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class PlannedVerdict:
    """What the prompts of one skill can show."""

    skill: str
    prompts: int
    skills: int
    """Skills that are judged together."""
    least: int
    """With fewer prompts no result can count."""
    smallest_detectable: float | None
    """Points of the 1-5 scale that are found 4 times in 5; None where no result can count."""

    @property
    def can_decide(self) -> bool:
        """True if some result of so many prompts is a verdict."""
        return self.prompts >= self.least

    @property
    def message(self) -> str:
        """One sentence."""
        among = f", {self.skills} skills" if self.skills > 1 else ""
        text = f"{plural(self.prompts, 'prompt')}{among}: "
        if self.smallest_detectable is None:
            return f"{text}no outcome can count; {self.least} needed"
        return f"{text}finds a difference of {self.smallest_detectable:.1f} points 4 times in 5"

    def to_dict(self) -> dict[str, object]:
        """Return the entry of a plan."""
        return {
            "skill": self.skill,
            "prompts": self.prompts,
            "least_prompts": self.least,
            "can_decide": self.can_decide,
            "smallest_detectable": self.smallest_detectable,
            "message": self.message,
        }


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
    prompts_by_skill: Mapping[str, int], spread: float = ASSUMED_SPREAD, *, looks: int = 1
) -> tuple[PlannedVerdict, ...]:
    """Return what the prompts of each skill can show, by name.

    ``spread`` is the standard deviation of the difference between prompts, in points; ``looks`` the
    number of times that the results are looked at.
    """
    skills = len(prompts_by_skill)
    tests = skills * looks
    return tuple(
        PlannedVerdict(
            skill,
            prompts,
            skills,
            least_units(tests),
            smallest_detectable(spread, prompts, tests),
        )
        for skill, prompts in sorted(prompts_by_skill.items())
    )


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
