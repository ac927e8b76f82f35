"""Judged pairs of answers, the comparison of two arms, its verdict, and the summary of a run.

Every statement about a comparison is read off its two intervals. They are corrected for the skills
and comparisons of a run, so in 19 runs of 20 no statement is wrong where differences are spread
like a bell. What rare prompts may hide is corrected for one skill, not for all skills of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.evals.judgement.trust import distrust, judge_trust
from skillyard.evals.judgement.verdicts import TIE, JudgedPair, PromptId
from skillyard.evals.statistics.intervals import (
    ASSUMED_SPREAD,
    FALSE_STATEMENTS,
    MARGIN,
    Interval,
    equivalence_units,
    rare_intervals,
    spread_of,
    t_interval,
    units_needed,
)

HEADLINES = ("full/baseline", "enhanced/baseline", "enhanced/old")
"""The comparison for the verdict: the full skill against no skill, or against its old version."""
_COMPARISONS = (*HEADLINES, "full/summary", "summary/baseline", "full_siblings/full")
OVERALL = "_overall"
"""The entry of all skills together in a summary."""
PLACES = 6
"""Decimals of every figure: more than any of them means, and few enough to be the same on every
machine."""
LOWEST, MIDDLE = 1.0, 3.0
"""Of the scale of a judge, 1..5."""


def judged_pairs(cases: Iterable[Mapping[str, Any]]) -> list[JudgedPair]:
    """Return the pairs with a figure.

    An answer that one arm owes and does not give (``lost``: it is refused, empty, cut or failed) is
    the lowest score, against what the other arm scores on average. To leave it out would favour an
    arm that fails where it would do badly.
    """
    pairs: list[JudgedPair] = []
    lost: list[Mapping[str, Any]] = []
    scores: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        if is_one_sided(case):
            lost.append(case)
        elif not (case.get("skipped") or case.get("errors") or case.get("scores") is None):
            arms, improvement = _arms(case), float(case["improvement"])
            one, other = (float(case["scores"][arm]) for arm in arms)
            pairs.append(JudgedPair(case, (one, other), improvement, case["winner"]))
            for arm, score in zip(arms, (one, other), strict=True):
                scores.setdefault((case["skill_name"], arm), []).append(score)
    for case in lost:
        one, other = (
            LOWEST
            if arm in case["lost"]
            else fmean(scores.get((case["skill_name"], arm), [MIDDLE]))
            for arm in _arms(case)
        )
        winner = next(arm for arm in _arms(case) if arm not in case["lost"])
        pairs.append(JudgedPair(case, (one, other), one - other, winner))
    return pairs


def _arms(case: Mapping[str, Any]) -> tuple[str, str]:
    return case["condition_a"], case["condition_b"]


def is_one_sided(case: Mapping[str, Any]) -> bool:
    """True for a pair of which one arm gave its answer, and the other did not."""
    return case.get("judged") is not False and len(case.get("lost") or ()) == 1


def prompt_means(pairs: Iterable[JudgedPair]) -> dict[PromptId, float]:
    """Return the mean improvement of each prompt over its runs."""
    by_prompt: dict[PromptId, list[float]] = {}
    for pair in pairs:
        by_prompt.setdefault(pair.unit, []).append(pair.improvement)
    return {unit: fmean(values) for unit, values in by_prompt.items()}


def comparisons_in_order(names: Iterable[str]) -> list[str]:
    """Return comparisons, each once, in the order in which they are listed."""
    return sorted({*names}, key=lambda name: place_in(_COMPARISONS, name))


def place_in(order: Sequence[str], name: str) -> tuple[int, str]:
    """Return a sort key: known names in their order, then the others by name."""
    return (order.index(name) if name in order else len(order)), name


BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
NOT_ENOUGH = "not enough data"
_NOTHING = 1e-9
"""An interval that ends so near to a bound touches it."""


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
    values: tuple[float, ...]
    """``first`` less ``second``, in points of the 1-5 scale, of each prompt, or of each skill."""
    reach: tuple[float, float]
    """Points that an answer can lose and gain at most."""
    margin: float
    """Points: arms that differ by less are equivalent."""
    chance: float = FALSE_STATEMENTS
    """How often a difference may be named that is not there: a share of the 5 % of the run."""
    near_chance: float = FALSE_STATEMENTS
    """How often a difference of the margin or more may be called equivalent, or enough."""
    counts: bool = True
    """False while the headline comparison of the skill is not decided: nothing is said before."""

    @property
    def mean(self) -> float:
        """Of ``first`` less ``second``: the mean over units."""
        return fmean(self.values)

    @property
    def spread(self) -> float:
        """Sample standard deviation over units, in points; 0 below two."""
        return spread_of(self.values)

    @property
    def units(self) -> int:
        """Independent observations: prompts, or skills."""
        return len(self.values)

    @property
    def interval(self) -> Interval | None:
        """The interval that decides between better and worse; None below two units.

        An end that leaves out 0 may err by rare prompts in 15 % of runs. The other end decides
        nothing, and may in 5 %.
        """
        bell = t_interval(self.values, self.chance / 2)
        if bell is None:
            return None
        rare, wide = rare_intervals(self.values, *self.reach)
        low, high = min(bell[0], rare[0]), max(bell[1], rare[1])
        return (
            low if low > _NOTHING else min(low, wide[0]),
            high if high < -_NOTHING else max(high, wide[1]),
        )

    @property
    def near(self) -> Interval | None:
        """The interval that decides what is equivalent and what is enough.

        Two one-sided tests at ``near_chance`` are an interval that misses on each side so often.
        """
        bell = t_interval(self.values, self.near_chance, skewed=True)
        if bell is None:
            return None
        rare, _ = rare_intervals(self.values, *self.reach)
        return min(bell[0], rare[0]), max(bell[1], rare[1])

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
        """The verdict on ``first``: better, worse, equivalent or not enough data.

        A difference that is shown is named, however small: both statements about one comparison
        would spend the 5 % twice.
        """
        interval, near = self.interval, self.near
        if interval is None or near is None or not self.counts:
            return NOT_ENOUGH
        if interval[0] > _NOTHING:
            return BETTER
        if interval[1] < -_NOTHING:
            return WORSE
        within = -self.margin + _NOTHING < near[0] and near[1] < self.margin - _NOTHING
        return EQUIVALENT if within else NOT_ENOUGH

    @property
    def enough(self) -> bool:
        """True if ``second`` is shown to be less than the margin below ``first``, or above it."""
        near = self.near if self.counts and self.word != BETTER else None
        return near is not None and near[1] < self.margin - _NOTHING

    @property
    def shown(self) -> Interval | None:
        """The interval that decided."""
        return self.near if self.word == EQUIVALENT else self.interval

    @property
    def study(self) -> int | None:
        """How many units a new run needs for a verdict; None once decided, and above 10,000."""
        if self.word != NOT_ENOUGH:
            return None
        spread = self.spread if self.units > 1 else ASSUMED_SPREAD
        sizes = (
            units_needed(self.mean, spread, self.chance),
            equivalence_units(spread, self.near_chance, mean=self.mean, margin=self.margin),
        )
        return min((each for each in sizes if each is not None), default=None)

    def to_dict(self) -> dict[str, object]:
        """Return the entry of the results file."""
        low, high = self.shown or (None, None)
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
            "ci_level": 1 - self.chance,
            "margin": self.margin,
            "word": self.word,
            "second_is_enough": self.enough,
            "study_units": self.study,
        }


def compare_arms(
    pairs: Sequence[JudgedPair], values: Sequence[float], margin: float
) -> ArmComparison:
    """Return the comparison of two arms, of at least one pair, all of the same arms.

    ``values`` are the independent observations: the means of the prompts of a skill, or of all
    skills those of the skills. Prompts of one skill are alike, so a statement about all skills must
    not count them singly.
    """
    first, second = pairs[0].first, pairs[0].second
    # What an answer can lose or gain at most, where that of the other arm scores as it did.
    one, other = (fmean(pair.scores[arm] for pair in pairs) for arm in (0, 1))
    reach = max(other - 1, 5 - one), max(one - 1, 5 - other)
    return ArmComparison(
        first,
        second,
        sum(pair.winner == first for pair in pairs),
        sum(pair.winner == second for pair in pairs),
        sum(pair.winner == TIE for pair in pairs),
        spread_of([pair.improvement for pair in pairs]),
        tuple(values),
        reach,
        margin,
    )


Compared = dict[str, dict[str, ArmComparison]]
"""The comparisons of each skill, by name, the headline first."""


def share_chances(
    compared: Mapping[str, Mapping[str, ArmComparison]], planned: Mapping[str, int], looks: int = 1
) -> Compared:
    """Return the comparisons with the share of false statements that each may spend.

    ``planned`` has all skills of the run, each with the number of its comparisons: skills that a
    stopped run did not reach count as well. Their 5 %, of which each of ``looks`` looks spends an
    equal part, is divided among their headlines. A headline that leaves out 0 passes on equal parts
    of what it had: to the further comparisons of its own skill and to the other headlines, of which
    decided ones pass it on again (a graph of tests: Bretz, Maurer, Brannath & Posch, Statistics in
    Medicine 28, 2009, 586-604). One part more is for its equivalence. That is never passed on: a
    difference of the margin and more may be called equivalent, and if not, it is the rest that
    others get. With 0 and with such a difference at most one of the two statements can be false,
    so the headline need not leave out 0 before.
    """
    skills = max(1, len(planned))
    start = FALSE_STATEMENTS / looks / skills
    part = 1 / (1 + (skills > 1) + (max(planned.values(), default=1) > 1))
    decided: set[str] = set()

    def shared(skill: str, comparisons: Mapping[str, ArmComparison]) -> dict[str, ArmComparison]:
        others = len(decided - {skill})
        chance = start * (skills - 1 + part) / (skills - 1 + part - part * others)
        near = start * part / (1 - part * others / max(1, skills - 1))
        each = near / max(1, planned.get(skill, 1) - 1)
        shares = [(chance, near, True)] + [(each, each, skill in decided)] * len(comparisons)
        return {
            name: replace(comparison, chance=one, near_chance=other, counts=counts)
            for (name, comparison), (one, other, counts) in zip(
                comparisons.items(), shares, strict=False
            )
        }

    while True:
        result = {skill: shared(skill, comparisons) for skill, comparisons in compared.items()}
        more = {skill for skill, each in result.items() if _is_decided(each)} - decided
        if not more:
            return result
        decided |= more


def _is_decided(comparisons: Mapping[str, ArmComparison]) -> bool:
    headline = next(iter(comparisons.values()), None)
    return headline is not None and headline.word in (BETTER, WORSE)


_ARMS = ("baseline", "summary", "old", "full", "enhanced", "full_siblings")
"""By the text that they put in, the smallest first."""
_WORST = 3
"""Prompts that are named."""
_WHOLE = ("full", "enhanced")
"""The arm with the full skill, by layer."""
Cases = Sequence[Mapping[str, Any]]


class _Group(NamedTuple):
    """The cases of one skill, or of all, and what was computed of them."""

    cases: Cases
    pairs: Mapping[str, Sequence[JudgedPair]]
    """Judged pairs by comparison."""
    comparisons: Mapping[str, ArmComparison]

    @property
    def all_pairs(self) -> list[JudgedPair]:
        return [pair for pairs in self.pairs.values() for pair in pairs]


def analyse_pairs(
    cases: Cases, *, margin: float = MARGIN, looks: int = 1
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return ``summary`` and ``artifacts`` of a run's cases, ready to be written as JSON.

    ``summary`` has an entry a skill, sorted, and ``_overall``, in which each skill is one
    observation. Runs and orders of one prompt are averaged before anything else. Arms that differ
    by less than ``margin`` points are equivalent. In 19 of 20 runs no statement about a skill is
    false, also if a run may stop at one of ``looks`` looks at its results. A judge that fails a
    check gives no verdict. Neither the order of the cases nor the machine changes a figure. Raises
    InvalidInput where numpy is not installed.
    """
    by_skill: dict[str, list[Mapping[str, Any]]] = {}
    for case in sorted(cases, key=lambda case: (case["skill_name"], case["id"])):
        by_skill.setdefault(case["skill_name"], []).append(case)
    pairs = {name: _by_comparison(judged_pairs(each)) for name, each in by_skill.items()}
    compared = {
        skill: {
            name: compare_arms(each, tuple(prompt_means(each).values()), margin)
            for name, each in of_skill.items()
        }
        for skill, of_skill in pairs.items()
    }
    shared = share_chances(compared, _planned(by_skill), looks)
    skills = {name: _Group(each, pairs[name], shared[name]) for name, each in by_skill.items()}
    overall = _pool(list(skills.values()), margin)
    summary = {name: _entry(group) for name, group in skills.items()}
    for name, group in skills.items():
        summary[name]["worst_prompts"] = _worst_prompts(group)
    summary[OVERALL] = _entry(overall)
    trust = judge_trust(overall.cases, overall.all_pairs)
    if trust["failed"]:
        distrust(summary)
    return rounded(summary), {"trust": trust}


def _by_comparison(pairs: Iterable[JudgedPair]) -> dict[str, list[JudgedPair]]:
    by_comparison: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        by_comparison.setdefault(pair.comparison, []).append(pair)
    return {name: by_comparison[name] for name in comparisons_in_order(by_comparison)}


def _planned(cases_by_skill: Mapping[str, Cases]) -> dict[str, int]:
    """Return the number of comparisons of each skill that a judge was to see."""
    comparisons = {
        skill: {case.get("comparison") for case in cases if case.get("judged") is not False}
        for skill, cases in cases_by_skill.items()
    }
    return {skill: len(names) for skill, names in comparisons.items() if names}


def _pool(skills: Sequence[_Group], margin: float) -> _Group:
    """Return the cases of all skills together, compared over skills."""
    cases = [case for group in skills for case in group.cases]
    pairs = _by_comparison(pair for group in skills for pair in group.all_pairs)
    compared = {
        name: compare_arms(
            each,
            [group.comparisons[name].mean for group in skills if name in group.comparisons],
            margin,
        )
        for name, each in pairs.items()
    }
    return _Group(
        cases, pairs, share_chances({OVERALL: compared}, {OVERALL: len(compared)})[OVERALL]
    )


def _worst_prompts(group: _Group) -> list[dict[str, Any]]:
    """Return the prompts at which the skill did worst against no skill, the worst first."""
    name = next((name for name in HEADLINES if name in group.pairs), None)
    means = prompt_means(group.pairs[name]) if name is not None else {}
    worst = sorted(means, key=lambda unit: (means[unit], unit))[:_WORST]
    prompts = {case.get("prompt_index"): case.get("prompt", "") for case in group.cases}
    return [
        {"prompt_index": unit[1], "prompt": prompts.get(unit[1], ""), "mean": means[unit]}
        for unit in worst
    ]


def _entry(group: _Group) -> dict[str, Any]:
    headline = next(filter(None, map(group.comparisons.get, HEADLINES)), None)
    lost = [case for case in group.cases if is_one_sided(case)]
    skipped = sum(bool(case.get("skipped")) and not is_one_sided(case) for case in group.cases)
    unjudged = sum(
        case.get("judged") is False and not case.get("errors") and not case.get("skipped")
        for case in group.cases
    )
    return {
        "mean": headline.mean if headline else None,
        "stddev": headline.stddev if headline else None,
        "n": headline.n if headline else 0,
        "errors": len(group.cases) - len(group.all_pairs) - skipped - unjudged,
        "skipped": skipped,
        "lost": dict(sorted(Counter(arm for case in lost for arm in case["lost"]).items())),
        "word": headline.word if headline else NOT_ENOUGH,
        "recommended_level": _recommended(group.comparisons),
        "comparisons": {name: each.to_dict() for name, each in group.comparisons.items()},
    }


def _recommended(comparisons: Mapping[str, ArmComparison]) -> str | None:
    """Return the smallest arm that is shown to be enough; None while that is not decided.

    An arm is enough if it is shown to be at most the margin below the full skill. The full skill is
    recommended where it is shown to be better than every smaller arm. A smaller arm that is still
    open may be enough as well, so it leaves the question open only where no other arm is enough.
    """
    against = {each.second: each for each in comparisons.values() if each.first in _WHOLE}
    enough = [arm for arm, comparison in against.items() if comparison.enough]
    if enough:
        return min(enough, key=lambda arm: place_in(_ARMS, arm))
    if against and all(comparison.word == BETTER for comparison in against.values()):
        return next(iter(against.values())).first
    return None


def rounded(value: Any) -> Any:
    """Return the value with every float in it rounded."""
    if isinstance(value, float):
        return round(value, PLACES) + 0.0  # -0.0 becomes 0.0
    if isinstance(value, Mapping):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return value
