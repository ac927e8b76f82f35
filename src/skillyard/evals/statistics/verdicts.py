"""The verdict on two arms, from the interval of their difference.

Every statement about a comparison is read off its intervals, which are corrected for the number of
skills. So statements cannot contradict each other, and while the intervals hold the true
differences (19 runs of 20), none of the statements is wrong.
"""

from __future__ import annotations

FALSE_STATEMENTS = 0.05
"""The share of runs in which any interval of a comparison may miss the true difference."""
MARGIN = 0.3
"""Points of the 1-5 scale: arms that differ by less are equivalent."""
BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
NOT_ENOUGH = "not enough data"
Interval = tuple[float, float]
_NOTHING = 1e-9
"""An interval that ends so near to a bound touches it."""


def level_for(skills: int) -> float:
    """Return the level of each interval so that those of all skills hold together (Bonferroni)."""
    return 1 - FALSE_STATEMENTS / max(1, skills)


def word_for(interval: Interval | None, bounded: Interval | None, margin: float = MARGIN) -> str:
    """Return better, worse, equivalent or not enough data, for the first of two arms.

    ``interval`` is that of the first arm's score less the second's, in points, and shows that a
    skill changes anything. ``bounded`` is the interval that also holds for rare prompts, and shows
    that it changes little. Within the margin on both sides the arms are equivalent, even where the
    interval leaves out zero.
    """
    if interval is None:
        return NOT_ENOUGH
    is_better, is_worse = interval[0] > _NOTHING, interval[1] < -_NOTHING
    no_gain = is_worse or is_enough(bounded, margin)
    no_loss = is_better or (bounded is not None and bounded[0] > -margin + _NOTHING)
    if no_gain and no_loss:
        return EQUIVALENT
    if is_better:
        return BETTER
    return WORSE if is_worse else NOT_ENOUGH


def is_enough(bounded: Interval | None, margin: float = MARGIN) -> bool:
    """Return whether the second arm is shown to be less than ``margin`` points below the first."""
    return bounded is not None and bounded[1] < margin - _NOTHING
