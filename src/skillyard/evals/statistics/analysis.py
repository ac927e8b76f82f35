"""Computes the summary of an effectiveness or size-impact run from its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.evals.statistics.intervals import MARGIN, mean_interval
from skillyard.evals.statistics.judges import judge_findings
from skillyard.evals.statistics.pairs import (
    HEADLINES,
    OVERALL,
    PLACES,
    JudgedPair,
    PromptId,
    comparisons_in_order,
    is_one_sided,
    judged_pairs,
    place_in,
    prompt_means,
    sizes_of,
)
from skillyard.evals.statistics.verdicts import (
    BETTER,
    NOT_ENOUGH,
    ArmComparison,
    compare_arms,
    share_chances,
    verdict_sentence,
)

_ARMS = ("baseline", "summary", "old", "full", "enhanced", "full_siblings")
_WORST = 3
"""Prompts that are named."""
_WHOLE = ("full", "enhanced")
"""The arm with the full skill, by layer."""


class _Group(NamedTuple):
    """The cases of one skill, or of all, and what was computed of them."""

    cases: Sequence[Mapping[str, Any]]
    pairs: Mapping[str, Sequence[JudgedPair]]
    """Judged pairs by comparison."""
    comparisons: Mapping[str, ArmComparison]
    sizes: Mapping[str, tuple[float, float]]
    """(bytes, estimated tokens) of each arm, mean over skills."""

    @property
    def all_pairs(self) -> list[JudgedPair]:
        return [pair for pairs in self.pairs.values() for pair in pairs]


def analyse_pairs(
    cases: Sequence[Mapping[str, Any]],
    *,
    tie_band: float = 0.0,
    margin: float = MARGIN,
    looks: int = 1,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return ``summary`` and ``artifacts`` of a run's cases, ready to be written as JSON.

    ``summary`` has an entry a skill, sorted, and ``_overall``, in which each skill is one
    observation. Runs and orders of one prompt are averaged before anything else. A difference of at
    most ``tie_band`` points is a tie; arms that differ by less than ``margin`` points are
    equivalent. In 19 of 20 runs no statement about a skill is false, also if a run may stop at one
    of ``looks`` looks at its results. Neither the order of the
    cases nor the machine changes a figure. Raises InvalidInput where numpy is not installed.
    """
    by_skill: dict[str, list[Mapping[str, Any]]] = {}
    for case in sorted(cases, key=lambda case: (case["skill_name"], case["id"])):
        by_skill.setdefault(case["skill_name"], []).append(case)
    pairs = {name: _pairs(of_skill, tie_band) for name, of_skill in by_skill.items()}
    compared = share_chances(
        {
            skill: {
                name: compare_arms(each, tuple(prompt_means(each).values()), margin=margin)
                for name, each in of_skill.items()
            }
            for skill, of_skill in pairs.items()
        },
        _planned(by_skill),
        looks,
    )
    skills = {
        name: _Group(of_skill, pairs[name], compared[name], _mean_sizes(of_skill))
        for name, of_skill in by_skill.items()
    }
    overall = _pool(skills, margin)
    summary = {name: _entry(group) for name, group in skills.items()}
    for name, group in skills.items():
        summary[name] |= {key: group.cases[0].get(key) for key in ("size_tier", "body_bytes")}
        summary[name]["worst_prompts"] = _worst_prompts(group)
    summary[OVERALL] = _entry(overall, len(skills))
    artifacts = judge_findings(overall.cases, overall.all_pairs)
    artifacts["frontier"] = _frontier(overall)
    return rounded(summary), rounded(artifacts)


def _pairs(cases: Sequence[Mapping[str, Any]], tie_band: float) -> dict[str, list[JudgedPair]]:
    by_comparison: dict[str, list[JudgedPair]] = {}
    for _, pair in judged_pairs(cases, tie_band):
        by_comparison.setdefault(pair.comparison, []).append(pair)
    return {name: by_comparison[name] for name in comparisons_in_order(by_comparison)}


def _planned(cases_by_skill: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """Return the number of comparisons of each skill that a judge was to see."""
    comparisons = {
        skill: {case.get("comparison") for case in cases if case.get("judged") is not False}
        for skill, cases in cases_by_skill.items()
    }
    return {skill: len(names) for skill, names in comparisons.items() if names}


def _pool(skills: Mapping[str, _Group], margin: float) -> _Group:
    """Return the cases of all skills together, compared over skills."""
    cases = [case for group in skills.values() for case in group.cases]
    pairs: dict[str, list[JudgedPair]] = {}
    means: dict[str, list[float]] = {}
    for group in skills.values():
        for name, of_skill in group.pairs.items():
            pairs.setdefault(name, []).extend(of_skill)
            means.setdefault(name, []).append(group.comparisons[name].mean)
    compared = {
        name: compare_arms(pairs[name], means[name], margin=margin, over_skills=True)
        for name in comparisons_in_order(pairs)
    }
    comparisons = share_chances({OVERALL: compared}, {OVERALL: len(compared)})[OVERALL]
    return _Group(cases, pairs, comparisons, _mean_sizes(cases))


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


def _mean_sizes(cases: Iterable[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    by_arm: dict[str, dict[str, tuple[int, int]]] = {}
    for case in cases:
        for arm, size in sizes_of(case).items():
            by_arm.setdefault(arm, {}).setdefault(case["skill_name"], size)
    return {
        arm: (_mean([size[0] for size in sizes.values()]), _mean([s[1] for s in sizes.values()]))
        for arm, sizes in by_arm.items()
    }


def _mean(sizes: Sequence[int]) -> float:
    """Return the mean, as a whole number where it is one."""
    mean = sum(sizes) / len(sizes)
    return int(mean) if mean.is_integer() else mean


def _entry(group: _Group, skills: int | None = None) -> dict[str, Any]:
    """Return the entry of one skill, or of all ``skills``."""
    headline = next(filter(None, map(group.comparisons.get, HEADLINES)), None)
    lost = [case for case in group.cases if is_one_sided(case)]
    skipped = sum(bool(case.get("skipped")) and not is_one_sided(case) for case in group.cases)
    unjudged = sum(
        case.get("judged") is False and not case.get("errors") and not case.get("skipped")
        for case in group.cases
    )
    recommended = _recommended(group)
    return {
        "mean": headline.mean if headline else None,
        "stddev": headline.stddev if headline else None,
        "n": headline.n if headline else 0,
        "errors": len(group.cases) - len(group.all_pairs) - skipped - unjudged,
        "skipped": skipped,
        "lost": dict(sorted(Counter(arm for case in lost for arm in case["lost"]).items())),
        "word": headline.word if headline else NOT_ENOUGH,
        "verdict": verdict_sentence(headline, recommended, skills),
        "recommended_level": recommended,
        "comparisons": {name: each.to_dict() for name, each in group.comparisons.items()},
        "conditions": _conditions(group),
    }


def _arms(group: _Group) -> dict[str, float | None]:
    """Return the mean estimated tokens of every arm with sizes or scores, smaller arms first."""
    names = {*group.sizes, *(arm for pair in group.all_pairs for arm in (pair.first, pair.second))}
    return {
        name: group.sizes[name][1] if name in group.sizes else None
        for name in sorted(names, key=lambda name: place_in(_ARMS, name))
    }


def _scores_by_arm(pairs: Sequence[JudgedPair]) -> dict[str, list[list[float]]]:
    """Return the scores, 1..5, of each condition by prompt, all comparisons together."""
    scores: dict[str, dict[PromptId, list[float]]] = {}
    for pair in pairs:
        for condition, score in zip((pair.first, pair.second), pair.scores, strict=True):
            scores.setdefault(condition, {}).setdefault(pair.unit, []).append(score)
    return {condition: list(by_prompt.values()) for condition, by_prompt in scores.items()}


def _conditions(group: _Group) -> dict[str, Any]:
    scores = _scores_by_arm(group.all_pairs)
    return {
        name: {
            "bytes": group.sizes[name][0] if name in group.sizes else None,
            "tokens_estimated": tokens,
            "mean_score": fmean(map(fmean, scores[name])) if name in scores else None,
            "n": sum(map(len, scores.get(name, []))),
        }
        for name, tokens in _arms(group).items()
    }


def _frontier(group: _Group) -> list[dict[str, Any]]:
    """Return what each arm costs in tokens, and what it scores."""
    scores, points = _scores_by_arm(group.all_pairs), []
    for name, tokens in _arms(group).items():
        if name in scores:
            means = list(map(fmean, scores[name]))
            low, high = mean_interval(means)
            point = {"condition": name, "tokens": tokens, "mean_score": fmean(means)}
            points.append({**point, "ci_low": low, "ci_high": high})
    return points


def _recommended(group: _Group) -> str | None:
    """Return the smallest arm that is shown to be enough; None while that is not decided.

    An arm is enough if it is shown to be at most the margin below the full skill. The full skill is
    recommended where it is shown to be better than every smaller arm. A smaller arm that is still
    open may be enough as well, so it leaves the question open only where no other arm is enough.
    """
    against = {each.second: each for each in group.comparisons.values() if each.first in _WHOLE}
    enough = [arm for arm, comparison in against.items() if comparison.enough]
    if enough:
        tokens = _arms(group)
        return min(
            enough,
            key=lambda arm: (inf if (size := tokens[arm]) is None else size, place_in(_ARMS, arm)),
        )
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
