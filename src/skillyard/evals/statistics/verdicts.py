"""The comparison of two arms and its verdict, of one skill over its prompts or of all over skills.

Every statement about a comparison is read off its intervals, which are corrected for the number of
skills. So statements cannot contradict each other, and while the intervals hold the true
differences (19 runs of 20), none of the statements is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from skillyard.base.text import plural
from skillyard.evals.statistics.intervals import (
    MARGIN,
    bounded_interval,
    level_for,
    spread_of,
    subset_means,
)
from skillyard.evals.statistics.pairs import TIE, JudgedPair, PromptId
from skillyard.evals.statistics.planning import (
    ASSUMED_SPREAD,
    least_units,
    more_units,
    smallest_detectable,
)

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
NOT_ENOUGH = "not enough data"
Interval = tuple[float, float]
_NOTHING = 1e-9
"""An interval that ends so near to a bound touches it."""
OVER_PROMPTS = "subset means over prompts"
OVER_SKILLS = "subset means over skills"
NO_INTERVAL = "none: too few to give one"
NO_WIDTH = "all of them equal, so without a width"
_IN_WORDS = {
    "full": "the full skill",
    "enhanced": "the skill",
    "summary": "its summary",
    "baseline": "no skill",
    "full_siblings": "the skill with its sibling files",
}


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """One comparison of one skill, or of all: a positive mean is in favour of ``first``."""

    first: str
    second: str
    wins: int
    """Judged comparisons that ``first`` won."""
    losses: int
    ties: int
    stddev: float
    """Sample standard deviation over judged comparisons, in points; 0 below two."""
    mean: float
    """Of ``first`` less ``second``, in points of the 1-5 scale: the mean over units."""
    spread: float
    """Sample standard deviation over units, in points; 0 below two."""
    units: int
    """Independent observations: prompts, or skills."""
    interval: tuple[float, float] | None
    """Of the mean; None where so few units give none. Decides between better and worse."""
    bounded: tuple[float, float] | None
    """Of the mean, also where rare prompts matter. Decides what is equivalent, and what is enough.
    None where it cannot: without an interval, or with a mean above the margin."""
    p: float
    """Of the sign-flip test over units."""
    skills: int
    """Skills whose intervals hold together; 1 for a library."""
    looks: int
    """Times that a run may look at its results and stop."""
    margin: float
    """Points: arms that differ by less are equivalent."""
    over_skills: bool
    more_tokens: float | None
    """Estimated tokens that ``first`` puts in beyond ``second``, mean over prompts."""

    @property
    def tests(self) -> int:
        """Intervals that hold together with 95 %."""
        return self.skills * self.looks

    @property
    def n(self) -> int:
        """Judged comparisons."""
        return self.wins + self.losses + self.ties

    @property
    def win_rate(self) -> float:
        """Of ``first``, a tie half a win, 0..1."""
        return (self.wins + self.ties / 2) / self.n

    @property
    def p_adjusted(self) -> float:
        """The p for all ``tests`` together (Bonferroni): the interval leaves out 0 at 0.05."""
        return min(1.0, self.p * self.tests)

    @property
    def word(self) -> str:
        """The verdict on ``first``."""
        return word_for(self.interval, self.bounded, self.margin)

    @property
    def enough(self) -> bool:
        """True if ``second`` is shown to be less than the margin below ``first``, or above it."""
        return self.word == WORSE or is_enough(self.bounded, self.margin)

    @property
    def shown(self) -> tuple[float, float] | None:
        """The interval that decided."""
        return self.bounded if self.word == EQUIVALENT else self.interval

    @property
    def detectable(self) -> float | None:
        """The smallest effect, in points, that so many units find 4 times in 5."""
        return smallest_detectable(self.spread, self.units, self.tests)

    @property
    def more(self) -> int | None:
        """How many more units would decide, None once decided or where 10,000 would not."""
        if self.word != NOT_ENOUGH:
            return None
        spread = self.spread if self.units > 1 else ASSUMED_SPREAD
        return more_units(self.mean, spread, self.units, self.tests, margin=self.margin)

    @property
    def value_per_1000_tokens(self) -> float | None:
        """Points gained for each 1,000 tokens more; None where ``first`` is not the longer."""
        if self.more_tokens is None or self.more_tokens <= 0:
            return None
        return self.mean / self.more_tokens * 1000

    @property
    def method(self) -> str:
        """How the interval was made, in words."""
        if self.interval is None:
            return NO_INTERVAL
        method = OVER_SKILLS if self.over_skills else OVER_PROMPTS
        return method if self.interval[0] < self.interval[1] else f"{method}, {NO_WIDTH}"

    def to_dict(self) -> dict[str, object]:
        """Return the entry of the results file."""
        low, high = self.interval or (None, None)
        bounded_low, bounded_high = self.bounded or (None, None)
        return {
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "win_rate": self.win_rate,
            "mean": self.mean,
            "stddev": self.stddev,
            "n": self.n,
            "units": self.units,
            "ci_low": low,
            "ci_high": high,
            "ci_level": level_for(self.tests),
            "ci_method": self.method,
            "bounded_low": bounded_low,
            "bounded_high": bounded_high,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "margin": self.margin,
            "word": self.word,
            "second_is_enough": self.enough,
            "more_units": self.more,
            "smallest_detectable": self.detectable,
            "value_per_1000_tokens": self.value_per_1000_tokens,
        }


def compare_arms(
    pairs: Sequence[JudgedPair],
    values: Sequence[float],
    seed: int,
    *,
    margin: float,
    skills: int = 1,
    looks: int = 1,
    over_skills: bool = False,
) -> ArmComparison:
    """Return the comparison of two arms, of at least one pair, all of the same arms.

    ``values`` are the independent observations: the means of the prompts of one of ``skills``
    skills, or with ``over_skills`` those of all skills. Prompts of one skill are alike, so a
    statement about all skills must not count them singly.
    """
    first, second = pairs[0].first, pairs[0].second
    level = level_for(skills * looks)
    means = subset_means(values, seed, level=level)
    countable = len(values) >= least_units(skills * looks)
    mean = fmean(values)
    return ArmComparison(
        first,
        second,
        sum(pair.winner == first for pair in pairs),
        sum(pair.winner == second for pair in pairs),
        sum(pair.winner == TIE for pair in pairs),
        spread_of([pair.improvement for pair in pairs]),
        mean,
        spread_of(values),
        len(values),
        means.interval(level) if countable else None,
        bounded_interval(values, seed, level=level) if countable and mean < margin else None,
        means.p_value(),
        skills,
        looks,
        margin,
        over_skills,
        _more_tokens(pairs),
    )


def _more_tokens(pairs: Sequence[JudgedPair]) -> float | None:
    more: dict[PromptId, int] = {}
    for pair in pairs:
        if pair.tokens is None:
            return None
        more[pair.unit] = pair.tokens[0] - pair.tokens[1]
    return fsum(more.values()) / len(more)


def _arm_in_words(condition: str) -> str:
    """Return what a condition is called in a sentence; an unknown one keeps its name."""
    return _IN_WORDS.get(condition, condition)


def verdict_sentence(
    headline: ArmComparison | None, recommended: str | None, skills: int | None = None
) -> str:
    """Return the sentence on the headline comparison, None if it was not judged.

    ``recommended`` is the smallest arm shown to be enough, None if unknown. ``skills`` is the
    number of skills for a statement about all of them.
    """
    if headline is None:
        return "The skill was never judged against no skill, so nothing can be said."
    unit = "prompt" if skills is None else "skill"
    text = f"{_effect(headline)} over {plural(headline.units, unit)}"
    text += f"{_interval(headline, unit)}: {_conclusion(headline, unit)}"
    if recommended is not None:
        text += f"; {_arm_in_words(recommended)} is {_place_of(recommended, headline)}"
    return f"{text}."


def _place_of(recommended: str, headline: ArmComparison) -> str:
    return "needed" if recommended == headline.first else "enough"


def _effect(headline: ArmComparison) -> str:
    first, second = _arm_in_words(headline.first), _arm_in_words(headline.second)
    head = f"{first[:1].upper()}{first[1:]}"
    if abs(headline.mean) < 0.005:
        return f"{head} scores the same as {second}"
    place = "above" if headline.mean > 0 else "below"
    return f"{head} scores {abs(headline.mean):.2f} points of the 1–5 scale {place} {second}"


def _all_equal(headline: ArmComparison, unit: str) -> str:
    """Return what equal differences show, in words: an interval of width 0 says less than it seems.

    The bounded interval allows for units unlike these. It decides between equivalent and not enough
    data, so it is given with these words, and not with better and worse.
    """
    text = f"every {unit} gave the same difference"
    if headline.bounded is None or headline.word in (BETTER, WORSE):
        return f"{text}; others may differ"
    low, high = headline.bounded
    return f"{text}; with others, {low:+.2f} to {high:+.2f} is still possible"


def _interval(headline: ArmComparison, unit: str) -> str:
    if headline.shown is None:
        return ""
    low, high = headline.shown
    if low == high:
        return f" ({_all_equal(headline, unit)})"
    together = f", corrected for {_tests(headline)}" if headline.tests > 1 else ""
    first, last = f"{low:+.2f}", f"{high:+.2f}"
    ends = f"about {first}" if first == last else f"{first} to {last}"
    return f" (95 % interval {ends}{together})"


def _conclusion(headline: ArmComparison, unit: str) -> str:
    if headline.word == EQUIVALENT:
        return f"{EQUIVALENT}, the difference is below {headline.margin:g} points"
    if headline.word != NOT_ENOUGH:
        return headline.word
    least = least_units(headline.tests)
    if headline.units < least:
        among = f" among {_tests(headline)}" if headline.tests > 1 else ""
        return f"{NOT_ENOUGH}, no result of fewer than {least} {unit}s can count{among}"
    if headline.more is None:
        return f"{NOT_ENOUGH}, and more {unit}s would hardly decide"
    return f"{NOT_ENOUGH}, about {plural(headline.more, f'more {unit}')} would decide"


def _tests(headline: ArmComparison) -> str:
    skills = [plural(headline.skills, "skill")] if headline.skills > 1 else []
    looks = [plural(headline.looks, "look")] if headline.looks > 1 else []
    return " and ".join(skills + looks)


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
