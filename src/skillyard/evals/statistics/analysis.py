"""Computes the summary of an effectiveness or size-impact run from its cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.evals.statistics.comparison import (
    Comparison,
    compare_arms,
    prompt_means,
    verdict_sentence,
)
from skillyard.evals.statistics.findings import findings, scores_by_arm
from skillyard.evals.statistics.intervals import independent, mean_of, shrunken_means
from skillyard.evals.statistics.pairs import (
    HEADLINES,
    OVERALL,
    PLACES,
    Pair,
    comparisons_in_order,
    pair_of,
    place_in,
    size_of_arms,
)
from skillyard.evals.statistics.verdicts import BETTER, MARGIN, NOT_ENOUGH

_ARMS = ("baseline", "summary", "full", "enhanced", "full_siblings")
_WHOLE = ("full", "enhanced")
"""The arm with the full skill, by layer."""


class _Group(NamedTuple):
    """The cases of one skill, or of all, and what was computed of them."""

    cases: Sequence[Mapping[str, object]]
    pairs: Mapping[str, Sequence[Pair]]
    """Judged pairs by comparison."""
    comparisons: Mapping[str, Comparison]
    sizes: Mapping[str, tuple[float, float]]
    """(bytes, estimated tokens) of each arm, mean over skills."""

    @property
    def all_pairs(self) -> list[Pair]:
        return [pair for pairs in self.pairs.values() for pair in pairs]


def analyse_pairs(
    cases: Sequence[Mapping[str, object]],
    *,
    seed: int,
    tie_band: float = 0.0,
    margin: float = MARGIN,
    looks: int = 1,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return ``summary`` and ``artifacts`` of a run's cases, ready to be written as JSON.

    ``summary`` has an entry a skill, sorted, and ``_overall``, in which each skill is one
    observation. Runs and orders of one prompt are averaged before anything else; skipped and
    failed cases are counted and left out. A difference of at most ``tie_band`` points is a tie;
    arms that differ by less than ``margin`` points are equivalent. The intervals of a comparison
    hold for all skills together with 95 %, also if a run may stop at one of ``looks`` looks at its
    results: each look spends an equal part of the 5 %. Neither the order of the cases nor the
    machine changes a figure. Raises InvalidInput for a judged case that lacks a field, and where
    scipy is not installed.
    """
    if not tie_band >= 0 or not margin >= 0:
        raise InvalidInput(f"tie_band and margin must be 0 or more, not {tie_band} and {margin}")
    by_skill: dict[str, list[Mapping[str, object]]] = {}
    for case in sorted(cases, key=lambda case: (str(case.get("skill_name")), str(case.get("id")))):
        by_skill.setdefault(str(case.get("skill_name")), []).append(case)
    pairs = {name: _pairs(of_skill, tie_band) for name, of_skill in by_skill.items()}
    compared = _compare(by_skill, pairs, seed, margin, looks)
    skills = {
        name: _Group(of_skill, pairs[name], compared[name], _mean_sizes(of_skill))
        for name, of_skill in by_skill.items()
    }
    overall = _pool(skills, seed, margin)
    summary = {name: _entry(group) for name, group in skills.items()}
    for name, group in skills.items():
        summary[name] |= {key: group.cases[0].get(key) for key in ("size_tier", "body_bytes")}
    summary[OVERALL] = _entry(overall, len(skills))
    artifacts = findings(overall.cases, overall.all_pairs, _arms(overall), seed)
    return _rounded(summary), _rounded(artifacts)


def _pairs(cases: Sequence[Mapping[str, object]], tie_band: float) -> dict[str, list[Pair]]:
    by_comparison: dict[str, list[Pair]] = {}
    for case in cases:
        if (pair := pair_of(case, tie_band)) is not None:
            by_comparison.setdefault(pair.comparison, []).append(pair)
    return {name: by_comparison[name] for name in comparisons_in_order(by_comparison)}


def _compare(
    cases_by_skill: Mapping[str, Sequence[Mapping[str, object]]],
    pairs_by_skill: Mapping[str, Mapping[str, Sequence[Pair]]],
    seed: int,
    margin: float,
    looks: int,
) -> dict[str, dict[str, Comparison]]:
    """Return the comparisons of each skill, each in a family with the same one of other skills.

    Skills that a stopped run did not reach count as well: it was to judge them all. Those whose
    prompts have checks alone do not.
    """
    compared: dict[str, dict[str, Comparison]] = {skill: {} for skill in pairs_by_skill}
    for name in comparisons_in_order(name for pairs in pairs_by_skill.values() for name in pairs):
        planned = sum(
            any(
                case.get("comparison") == name and case.get("judged") is not False for case in cases
            )
            for cases in cases_by_skill.values()
        )
        family = {skill: pairs[name] for skill, pairs in pairs_by_skill.items() if name in pairs}
        means = list(map(prompt_means, family.values()))
        shrunken = shrunken_means(means)
        for (skill, pairs), values, mean in zip(family.items(), means, shrunken, strict=True):
            comparison = compare_arms(
                pairs, values, seed, skills=planned, looks=looks, margin=margin
            )
            compared[skill][name] = replace(comparison, shrunken=mean)
    return compared


def _pool(skills: Mapping[str, _Group], seed: int, margin: float) -> _Group:
    """Return the cases of all skills together, compared over skills."""
    cases = [case for group in skills.values() for case in group.cases]
    pairs: dict[str, list[Pair]] = {}
    means: dict[str, list[float]] = {}
    for group in skills.values():
        for name, of_skill in group.pairs.items():
            pairs.setdefault(name, []).extend(of_skill)
            means.setdefault(name, []).append(group.comparisons[name].mean)
    comparisons = {
        name: compare_arms(pairs[name], means[name], seed, margin=margin, over_skills=True)
        for name in comparisons_in_order(pairs)
    }
    return _Group(cases, pairs, comparisons, _mean_sizes(cases))


def _mean_sizes(cases: Iterable[Mapping[str, object]]) -> dict[str, tuple[float, float]]:
    by_arm: dict[str, dict[str, tuple[int, int]]] = {}
    for case in cases:
        for arm, size in size_of_arms(case).items():
            by_arm.setdefault(arm, {}).setdefault(str(case.get("skill_name")), size)
    return {
        arm: (
            _mean([size[0] for size in sizes.values()]),
            _mean([size[1] for size in sizes.values()]),
        )
        for arm, sizes in by_arm.items()
    }


def _mean(sizes: Sequence[int]) -> float:
    """Return the mean, as a whole number where it is one."""
    mean = sum(sizes) / len(sizes)
    return int(mean) if mean.is_integer() else mean


def _entry(group: _Group, skills: int | None = None) -> dict[str, Any]:
    """Return the entry of one skill, or of all ``skills``."""
    headline = next(filter(None, map(group.comparisons.get, HEADLINES)), None)
    skipped = sum(bool(case.get("skipped")) for case in group.cases)
    unjudged = sum(
        case.get("judged") is False and not case.get("errors") and not case.get("skipped")
        for case in group.cases
    )
    # That no skill is enough on average would say nothing about the one skill that helps.
    recommended = _recommended(group) if skills is None else None
    return {
        "mean": headline.mean if headline else None,
        "shrunken_mean": headline.shrunken if headline else None,
        "stddev": headline.stddev if headline else None,
        "n": headline.n if headline else 0,
        "errors": len(group.cases) - len(group.all_pairs) - skipped - unjudged,
        "skipped": skipped,
        "word": headline.word if headline else NOT_ENOUGH,
        "verdict": verdict_sentence(headline, recommended, skills),
        "recommended_level": recommended,
        "comparisons": {
            name: comparison.to_dict() for name, comparison in group.comparisons.items()
        },
        "conditions": _conditions(group),
    }


def _arms(group: _Group) -> dict[str, float | None]:
    """Return the mean estimated tokens of every arm with sizes or scores, smaller arms first."""
    names = {
        *group.sizes,
        *(side for pair in group.all_pairs for side in (pair.first, pair.second)),
    }
    return {
        name: group.sizes[name][1] if name in group.sizes else None
        for name in sorted(names, key=lambda name: place_in(_ARMS, name))
    }


def _conditions(group: _Group) -> dict[str, Any]:
    scores = scores_by_arm(group.all_pairs)
    return {
        name: {
            "bytes": group.sizes[name][0] if name in group.sizes else None,
            "tokens_estimated": tokens,
            "mean_score": mean_of(independent(scores[name])) if name in scores else None,
            "n": sum(map(len, scores.get(name, {}).values())),
        }
        for name, tokens in _arms(group).items()
    }


def _recommended(group: _Group) -> str | None:
    """Return the smallest arm that is shown to be enough; None while that is not decided.

    An arm is enough if it is shown to be at most the margin below the full skill. The full skill is
    recommended where it is shown to be better than every smaller arm. A smaller arm that is still
    open may be enough as well, so it leaves the question open only where no other arm is enough.
    """
    against = {
        comparison.second: comparison
        for comparison in group.comparisons.values()
        if comparison.first in _WHOLE
    }
    enough = [arm for arm, comparison in against.items() if comparison.enough]
    if enough:
        tokens = _arms(group)
        return min(
            enough,
            key=lambda arm: (
                inf if (size := tokens.get(arm)) is None else size,
                place_in(_ARMS, arm),
            ),
        )
    if against and all(comparison.word == BETTER for comparison in against.values()):
        return next(iter(against.values())).first
    return None


def _rounded(value: Any) -> Any:
    """Return the value with every float in it rounded."""
    if isinstance(value, float):
        return round(value, PLACES) + 0.0  # -0.0 becomes 0.0
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
