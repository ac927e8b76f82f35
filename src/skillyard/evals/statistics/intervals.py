"""Intervals of a mean: Student's t, and one for rare prompts; how many prompts a verdict needs.

The t interval is right where values are spread like a bell, and nearly so for means of judges'
scores. A few prompts do not show what happens at every tenth: a skill that gains 0.3 points at most
requests and loses 2.7 at some looks like a gain in one of five samples of twelve. So a statement
also needs the second interval. It weighs each sorted value, and the end of the scale once, with the
gaps of as many uniform random numbers (Gaffke, Mathematical Methods of Statistics 14, 2005,
451-467; Learned-Miller & Thomas, arXiv 1905.06208), and assumes nothing of the distribution. The
end of the scale is what an answer can lose or gain at most against the scores that were seen.

The number of prompts follows from what a verdict asks for: a t interval without 0, or within the
margin (a test of equivalence by two one-sided tests: Schuirmann 1987), and the same of the interval
for rare prompts. ``python -m benchmarks verdicts`` prints how often a planned number of prompts
does find what it was planned for.
"""

from __future__ import annotations

import random
import statistics
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, fsum, hypot, isfinite, pi, sin, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.text import plural

FALSE_STATEMENTS = 0.05
"""The share of runs in which any statement about a skill may be false."""
RARE = 0.15
"""Each end of the interval for rare prompts errs in at most this share of runs, whatever the
values are like. At 0.05 it would find a difference of 0.8 points half as often at twelve prompts;
at 0.25 it would let a rare harm pass in every tenth run."""
MARGIN = 0.5
"""Points of the 1-5 scale: arms that differ by less are equivalent."""
LARGEST = 4.0
"""The largest difference of two scores from 1 to 5, in points."""
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
Interval = tuple[float, float]
_DRAWS = 4_000
"""Of random weights; fewer above a thousand values."""
_NUMBERS = 4_000_000
_MANY = 200
"""With more degrees of freedom the normal distribution stands in for Student's t."""


def arrays() -> Any:
    """Return the module numpy. Raises InvalidInput where it is not installed."""
    try:
        import numpy
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"these statistics need numpy; install it with: {command}") from None
    return numpy


def spread_of(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0.0 below two values."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def t_share(t: float, freedom: int) -> float:
    """Return the chance of a Student's t farther from 0 than ``t``, in either direction.

    The finite sums of Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    t = abs(t)
    if freedom > _MANY:
        z = t * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom))
        return 2 * statistics.NormalDist().cdf(-z)
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for place in range(2 + odd, freedom - 1, 2):
        term *= (place - 1) / place * cos(angle) ** 2
        total += term
    inside = (angle + sin(angle) * total) * 2 / pi if odd else sin(angle) * total
    return max(0.0, 1 - inside)


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: int) -> float:
    """Return what Student's t exceeds with chance ``share``, below one half."""
    low, high = 0.0, 1.0
    while t_share(high, freedom) > 2 * share:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) > 2 * share else (low, middle)
    return high


def t_interval(values: Sequence[float], share: float, *, skewed: bool = False) -> Interval | None:
    """Return the t interval of the mean, of which each end errs in ``share`` of samples.

    None below two values. A t interval misses the mean of ``skewed`` values more often on one side
    than on the other. Moving it towards their longer tail, by the first term of the expansion by
    skewness, evens that out (Chen, Journal of the American Statistical Association 90, 1995,
    767-772).
    """
    if not all(map(isfinite, values)):
        raise InvalidInput("an interval needs finite values")
    count = len(values)
    if count < 2:
        return None
    mean, spread = fsum(values) / count, spread_of(values)
    t, error, move = t_quantile(share, count - 1), spread / sqrt(count), 0.0
    if skewed and spread:
        skewness = fsum((value - mean) ** 3 for value in values) / count / spread**3
        move = skewness * (1 + 2 * t * t) / (6 * sqrt(count)) * error
    return mean + move - t * error, mean + move + t * error


def mean_interval(values: Sequence[float]) -> Interval | tuple[None, None]:
    """Return the 95 % interval of a mean for a figure beside a verdict; None where there is none.

    Values that are all equal have none: their spread says nothing about other prompts.
    """
    return (len(set(values)) > 1 and t_interval(values, 0.025)) or (None, None)


@lru_cache(maxsize=4_096)
def rare_intervals(
    values: tuple[float, ...], below: float = LARGEST, above: float = LARGEST
) -> tuple[Interval, Interval]:
    """Return two intervals that also hold where rare prompts matter, of at least one value.

    Each end of the first errs in at most ``RARE`` of samples, and of the second in at most 5 %.
    True values lie within ``-below`` and ``above``, or as far out as the widest of ``values``.
    """
    np = arrays()
    ordered = np.sort(np.array(values, dtype=float))
    weights = _gaps(len(values) + 1)
    places = [len(weights) - int(share * len(weights)) for share in (RARE, FALSE_STATEMENTS)]
    lows, highs = (
        np.partition(np.einsum("dv,v->d", weights, np.append(side, max(end, side[-1]))), places)[
            places
        ].tolist()
        for side, end in ((-ordered[::-1], below), (ordered, above))
    )
    return (-lows[0], highs[0]), (-lows[1], highs[1])


@lru_cache(maxsize=4)
def _gaps(count: int) -> Any:
    """Return rows of gaps between sorted uniform numbers, which add up to 1.

    The bits are Python's own Mersenne twister, whose stream is the same on every version; numpy
    does not promise that of its generators.
    """
    np = arrays()
    rows = max(200, min(_DRAWS, _NUMBERS // count))
    bits = np.frombuffer(random.Random(1).randbytes(4 * rows * count), dtype="<u4")
    exponential = -np.log((bits.reshape(rows, count) + 0.5) / 2**32)
    return exponential / exponential.sum(axis=1, keepdims=True)


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


def units_needed(effect: float, spread: float, chance: float = FALSE_STATEMENTS) -> int | None:
    """Return the fewest prompts a skill that find ``effect`` 4 times in 5; None above 10,000."""
    effect = abs(effect)

    def enough(units: int) -> bool:
        missing = effect - _needed_mean(effect, spread, units, chance / 2)
        return missing * sqrt(units) >= _NORMAL.inv_cdf(POWER) * spread

    return _fewest(enough) if effect else None


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
    message: str
    """One sentence."""


class PromptPlan(NamedTuple):
    """How many prompts a skill needs for a verdict; None where 10,000 are not enough."""

    effect: float
    skills: int
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
        enough = prompts >= least
        missing = f"too few for a verdict on it alone; {least} needed"
        shows = "enough to find two points 4 times in 5" if enough else missing
        message = f"{plural(prompts, 'prompt')}{among}: {shows}"
        planned.append(PlannedVerdict(skill, prompts, least, enough, message))
    return tuple(planned)


def prompts_needed(effect: float, *, skills: int = 1) -> PromptPlan:
    """Return how many prompts each of ``skills`` skills needs to find a difference.

    Raises InvalidInput for figures that no run can have.
    """
    if not (0 <= effect <= LARGEST and 1 <= skills <= _MAX_SKILLS):
        raise InvalidInput(f"effect must be 0 to {LARGEST:g}, and skills 1 to {_MAX_SKILLS:,}")
    chance = FALSE_STATEMENTS / skills
    return PromptPlan(
        effect,
        skills,
        least_units(chance),
        units_needed(effect, ASSUMED_SPREAD, chance),
        # With several skills, a decided headline passes the other half of its share on.
        equivalence_units(ASSUMED_SPREAD, chance / min(2, skills)),
    )
