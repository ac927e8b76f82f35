"""Power: the effects that a number of prompts can show, and the word for a result.

The power of the two-sided t test is taken from the noncentral t distribution (Cohen, Statistical
Power Analysis for the Behavioral Sciences, 1988, ch. 2). The sign-flip test that gives the p-values
has nearly the same power; the simulations in the tests check this.
"""

from __future__ import annotations

from functools import cache
from math import sqrt

from skillyard.evals.statistics.permutation import smallest_p
from skillyard.evals.statistics.scientific import special

__all__ = [
    "BETTER",
    "FALSE_ALARMS",
    "MIN_UNITS",
    "NO_DIFFERENCE",
    "POWER",
    "TOO_LITTLE",
    "WORSE",
    "power_of",
    "smallest_detectable",
    "units_needed",
    "word_for",
]

FALSE_ALARMS = 0.05
"""The share of comparisons without a difference that may be called different."""
POWER = 0.8
"""The share of differences that an adequate number of units finds."""
BETTER, WORSE = "better", "worse"
NO_DIFFERENCE = "no difference shown"
TOO_LITTLE = "too little data"
MIN_UNITS = next(count for count in range(1, 16) if smallest_p(count) <= FALSE_ALARMS)
"""Below so many units (6) no result whatever reaches the 5 % level."""
_MAX_UNITS = 10_000_000


def power_of(effect: float, spread: float, units: int) -> float:
    """Return the chance, 0..1, that a mean of ``units`` differences is shown not to be zero.

    ``effect`` is the true mean, ``spread`` (above 0) the standard deviation between units; at
    least two units.
    """
    functions = special()
    freedom = units - 1
    critical = float(functions.stdtrit(freedom, 1 - FALSE_ALARMS / 2))
    shift = abs(effect) / spread * sqrt(units)
    if shift > 30:
        return 1.0  # the distribution function is no longer accurate there, nor needed
    above = 1 - float(functions.nctdtr(freedom, shift, critical))
    below = float(functions.nctdtr(freedom, shift, -critical))
    return min(1.0, above + (below if below == below else 0.0))


def smallest_detectable(spread: float, units: int) -> float | None:
    """Return the smallest true mean that ``units`` find with 80 % power, in units of the spread.

    None below two units, and for a measured spread of 0, which is no estimate.
    """
    if units < 2 or spread <= 0:
        return None
    return _detectable(units) * spread


@cache
def _detectable(units: int) -> float:
    """Return the smallest detectable mean at a spread of 1."""
    low, high = 0.0, 1.0
    while power_of(high, 1.0, units) < POWER:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, 1.0, units) >= POWER else (middle, high)
    return high


def units_needed(effect: float, spread: float) -> int | None:
    """Return the fewest units that find ``effect`` with 80 % power; at least 6.

    None for an effect or a spread of 0, and where more than ten million would be needed.
    """
    if not effect or spread <= 0:
        return None
    high = MIN_UNITS
    while power_of(effect, spread, high) < POWER:
        high *= 2
        if high > _MAX_UNITS:
            return None
    low = max(MIN_UNITS - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(effect, spread, middle) >= POWER else (middle, high)
    return high


def word_for(mean: float | None, p: float | None, units: int) -> str:
    """Return better, worse, no difference shown or too little data, for the first side.

    ``p`` is adjusted for the other tests of its family. Below six units nothing can be shown, so
    the word is too little data for every mean.
    """
    if mean is None or p is None or units < MIN_UNITS:
        return TOO_LITTLE
    if p > FALSE_ALARMS or not mean:
        return NO_DIFFERENCE
    return BETTER if mean > 0 else WORSE
