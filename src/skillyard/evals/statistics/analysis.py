"""Computes the summary of an effectiveness or size-impact run from its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.evals.judgement.trust import distrust, judge_trust
from skillyard.evals.statistics.intervals import MARGIN
from skillyard.evals.statistics.verdicts import (
    BETTER,
    HEADLINES,
    NOT_ENOUGH,
    OVERALL,
    PLACES,
    ArmComparison,
    JudgedPair,
    compare_arms,
    comparisons_in_order,
    is_one_sided,
    judged_pairs,
    place_in,
    prompt_means,
    share_chances,
)

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
            name: compare_arms(each, tuple(prompt_means(each).values()), margin=margin)
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
            margin=margin,
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
    """Return the entry of one skill, or of all."""
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
