"""The comparison of two arms over the prompts for which both were judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from skillyard.evals.statistics.intervals import Interval, independent, mean_interval, spread_of
from skillyard.evals.statistics.pairs import TIE, Pair, Unit
from skillyard.evals.statistics.permutation import sign_flip
from skillyard.evals.statistics.power import smallest_detectable, word_for

__all__ = ["HEADLINES", "Comparison", "comparison_of"]

HEADLINES = ("full/baseline", "enhanced/baseline")
"""The comparison for the verdict: the full skill against no skill."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of one skill, or of all: a positive mean is in favour of ``first``."""

    first: str
    second: str
    wins: int
    """Judged comparisons that ``first`` won."""
    losses: int
    ties: int
    stddev: float
    """Sample standard deviation over judged comparisons, in points; 0 below two."""
    interval: Interval
    """Of the improvement over prompts, in points of the 1–5 scale."""
    p: float
    """Of the sign-flip test over what the interval counts as independent."""
    p_adjusted: float
    more_tokens: float | None
    """Estimated tokens that ``first`` puts in beyond ``second``, mean over prompts."""

    @property
    def n(self) -> int:
        """Judged comparisons."""
        return self.wins + self.losses + self.ties

    @property
    def win_rate(self) -> float:
        """Of ``first``, a tie half a win, 0..1."""
        return (self.wins + self.ties / 2) / self.n

    @property
    def word(self) -> str:
        """The word for what was shown of ``first``, by the adjusted p."""
        return word_for(self.interval.mean, self.p_adjusted, self.interval.units)

    @property
    def detectable(self) -> float | None:
        """The smallest effect, in points, that so many prompts find with 80 % power."""
        units = self.interval.units
        observations = self.interval.n if units == 1 else units
        return smallest_detectable(self.interval.spread or 0.0, observations)

    @property
    def value_per_1000_tokens(self) -> float | None:
        """Points gained for each 1,000 tokens more; None where ``first`` is not the longer."""
        if self.more_tokens is None or self.more_tokens <= 0 or self.interval.mean is None:
            return None
        return self.interval.mean / self.more_tokens * 1000

    def to_dict(self) -> dict[str, object]:
        """Return the entry of the results file."""
        return {
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "win_rate": self.win_rate,
            "mean": self.interval.mean,
            "stddev": self.stddev,
            "n": self.n,
            "units": self.interval.units,
            "ci_low": self.interval.low,
            "ci_high": self.interval.high,
            "ci_method": self.interval.method,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "word": self.word,
            "smallest_detectable": self.detectable,
            "value_per_1000_tokens": self.value_per_1000_tokens,
        }


def comparison_of(pairs: Sequence[Pair], seed: int) -> Comparison:
    """Return at least one judged pair of the same two arms as a comparison, its p unadjusted."""
    first, second = pairs[0].first, pairs[0].second
    by_unit: dict[Unit, list[float]] = {}
    for pair in pairs:
        by_unit.setdefault(pair.unit, []).append(pair.improvement)
    p = sign_flip(independent(by_unit), seed)
    return Comparison(
        first,
        second,
        sum(pair.winner == first for pair in pairs),
        sum(pair.winner == second for pair in pairs),
        sum(pair.winner == TIE for pair in pairs),
        spread_of([pair.improvement for pair in pairs]),
        mean_interval(by_unit, seed),
        p,
        p,
        _more_tokens(pairs),
    )


def _more_tokens(pairs: Sequence[Pair]) -> float | None:
    more: dict[Unit, int] = {}
    for pair in pairs:
        if pair.tokens is None:
            return None
        more[pair.unit] = pair.tokens[0] - pair.tokens[1]
    return fsum(more.values()) / len(more)
