"""The verdict on a skill as one sentence with its figures."""

from __future__ import annotations

from skillyard.evals.statistics.comparison import Comparison
from skillyard.evals.statistics.power import MIN_UNITS, NO_DIFFERENCE, TOO_LITTLE

__all__ = ["arm_in_words", "verdict"]

_ARMS = {
    "full": "the full skill",
    "enhanced": "the skill",
    "summary": "its summary",
    "baseline": "no skill",
    "full_siblings": "the skill with its sibling files",
}


def arm_in_words(condition: str) -> str:
    """Return what a condition is called in a sentence; an unknown one keeps its name."""
    return _ARMS.get(condition, condition)


def verdict(headline: Comparison | None, recommended: str | None) -> str:
    """Return the sentence on the headline comparison, None if it was not judged.

    ``recommended`` is the smallest arm not shown worse, None if unknown.
    """
    if headline is None:
        return "The skill was never judged against no skill, so nothing can be said."
    text = f"{_effect(headline)} over {_plural(headline.interval.units, 'prompt')}"
    text += f"{_interval(headline)}: {_conclusion(headline)}"
    if recommended is not None:
        text += f"; the smallest level not shown worse is {arm_in_words(recommended)}"
    return f"{text}."


def _effect(headline: Comparison) -> str:
    first, second = arm_in_words(headline.first), arm_in_words(headline.second)
    head = f"{first[:1].upper()}{first[1:]}"
    mean = headline.interval.mean or 0.0
    if abs(mean) < 0.005:
        return f"{head} scores the same as {second}"
    place = "above" if mean > 0 else "below"
    return f"{head} scores {abs(mean):.2f} points of the 1–5 scale {place} {second}"


def _interval(headline: Comparison) -> str:
    low, high = headline.interval.low, headline.interval.high
    if low is None or high is None:
        return ""
    alone = ", over its runs only" if headline.interval.units == 1 else ""
    return f" (95 % interval {low:+.2f} to {high:+.2f}{alone})"


def _conclusion(headline: Comparison) -> str:
    if headline.word == TOO_LITTLE:
        return f"{TOO_LITTLE}, since no result below {MIN_UNITS} prompts can be told from chance"
    if headline.word != NO_DIFFERENCE:
        return f"{headline.word}, adjusted p {_p(headline.p_adjusted)}"
    if headline.detectable is None:
        return NO_DIFFERENCE
    return (
        f"{NO_DIFFERENCE}; so many prompts would find one of {headline.detectable:.2f} points"
        " 4 times in 5"
    )


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "below 0.001"
