"""Computes the summary of an effectiveness or size-impact run from its cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.evals.statistics.comparison import HEADLINES, Comparison, comparison_of
from skillyard.evals.statistics.findings import findings, scores_by_arm
from skillyard.evals.statistics.intervals import independent, mean_of
from skillyard.evals.statistics.multiple import benjamini_hochberg
from skillyard.evals.statistics.pairs import Pair, pair_of, size_of_arms
from skillyard.evals.statistics.power import BETTER, TOO_LITTLE
from skillyard.evals.statistics.sentences import verdict

__all__ = ["OVERALL", "analyse_pairs"]

OVERALL = "_overall"
PLACES = 6
"""Decimals of every figure: more than any of them means, and few enough to be the same on every
machine."""
_COMPARISONS = (
    *HEADLINES,
    "full/summary",
    "summary/baseline",
    "full_siblings/full",
)
"""The order in which comparisons are listed."""
_ARMS = ("baseline", "summary", "full", "enhanced", "full_siblings")
_WHOLE = ("full", "enhanced")
"""The arm with the full skill, by layer."""


class _Group(NamedTuple):
    """The cases of one skill, or of all, and what was computed of them."""

    cases: Sequence[Mapping[str, object]]
    pairs: Sequence[Pair]
    comparisons: dict[str, Comparison]
    sizes: dict[str, tuple[float, float]]
    """(bytes, estimated tokens) of each arm, mean over skills."""


def analyse_pairs(
    cases: Sequence[Mapping[str, object]], *, seed: int, tie_band: float = 0.0
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return ``summary`` and ``artifacts`` of a run's cases, ready to be written as JSON.

    ``summary`` has an entry a skill, sorted, and ``_overall``, which pools the skills comparison
    by comparison. Runs and orders of one prompt are averaged before anything else; skipped and
    failed cases are counted and left out. A difference of at most ``tie_band`` points is a tie.
    ``p_adjusted`` is over the skills for each comparison, and in ``_overall`` over comparisons.
    Neither the order of the cases nor the machine changes a figure. Raises InvalidInput for a
    judged case that lacks a field, and where scipy is not installed.
    """
    if not tie_band >= 0:
        raise InvalidInput(f"tie_band must be 0 or more, not {tie_band}")
    by_skill: dict[str, list[Mapping[str, object]]] = {}
    for case in sorted(cases, key=lambda case: (str(case.get("skill_name")), str(case.get("id")))):
        by_skill.setdefault(str(case.get("skill_name")), []).append(case)
    skills = _adjust_all(
        {name: _group(cases_of_skill, seed, tie_band) for name, cases_of_skill in by_skill.items()}
    )
    overall = _group(
        [case for cases_of_skill in by_skill.values() for case in cases_of_skill], seed, tie_band
    )
    _adjust([overall.comparisons], list(overall.comparisons))
    summary = {name: _entry(group) for name, group in skills.items()}
    for name, group in skills.items():
        summary[name] |= {key: group.cases[0].get(key) for key in ("size_tier", "body_bytes")}
    summary[OVERALL] = _entry(overall)
    artifacts = findings(overall.cases, overall.pairs, _arms(overall), seed)
    return _rounded(summary), _rounded(artifacts)


def _group(cases: Sequence[Mapping[str, object]], seed: int, tie_band: float) -> _Group:
    pairs = [pair for case in cases if (pair := pair_of(case, tie_band)) is not None]
    by_name: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_name.setdefault(pair.comparison, []).append(pair)
    ordered = sorted(by_name, key=lambda name: _place(name, _COMPARISONS))
    comparisons = {name: comparison_of(by_name[name], seed) for name in ordered}
    return _Group(cases, pairs, comparisons, _mean_sizes(cases))


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    """Return a sort key: known names in their order, then the others by name."""
    return (order.index(name) if name in order else len(order)), name


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


def _adjust_all(skills: dict[str, _Group]) -> dict[str, _Group]:
    for name in {name for group in skills.values() for name in group.comparisons}:
        _adjust([group.comparisons for group in skills.values()], [name])
    return skills


def _adjust(groups: Sequence[dict[str, Comparison]], names: Sequence[str]) -> None:
    """Put adjusted p-values in place of the comparisons of these names, one family together."""
    family = [
        (comparisons_of, name)
        for comparisons_of in groups
        for name in names
        if name in comparisons_of
    ]
    ps = benjamini_hochberg([comparisons_of[name].p for comparisons_of, name in family])
    for (comparisons_of, name), p in zip(family, ps, strict=True):
        comparisons_of[name] = replace(comparisons_of[name], p_adjusted=p)


def _entry(group: _Group) -> dict[str, Any]:
    headline = next(filter(None, map(group.comparisons.get, HEADLINES)), None)
    skipped = sum(bool(case.get("skipped")) for case in group.cases)
    recommended = _recommended(group)
    return {
        "mean": headline.interval.mean if headline else None,
        "stddev": headline.stddev if headline else None,
        "n": headline.n if headline else 0,
        "errors": len(group.cases) - len(group.pairs) - skipped,
        "skipped": skipped,
        "verdict": verdict(headline, recommended),
        "recommended_level": recommended,
        "comparisons": {
            name: comparison.to_dict() for name, comparison in group.comparisons.items()
        },
        "conditions": _conditions(group),
    }


def _arms(group: _Group) -> dict[str, float | None]:
    """Return the mean estimated tokens of every arm with sizes or scores, smaller arms first."""
    names = {*group.sizes, *(side for pair in group.pairs for side in (pair.first, pair.second))}
    return {
        name: group.sizes[name][1] if name in group.sizes else None
        for name in sorted(names, key=lambda name: _place(name, _ARMS))
    }


def _conditions(group: _Group) -> dict[str, Any]:
    scores = scores_by_arm(group.pairs)
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
    """Return the smallest arm that enough data did not show worse than the full skill.

    An arm with too little data is not recommended. None if no arm qualifies.
    """
    against = {
        comparison.second: comparison
        for comparison in group.comparisons.values()
        if comparison.first in _WHOLE and comparison.word != TOO_LITTLE
    }
    if not against:
        return None
    whole = next(iter(against.values())).first
    tokens = _arms(group)
    fit = [arm for arm, comparison in against.items() if comparison.word != BETTER]
    return min(
        fit, key=lambda arm: (_or_infinity(tokens.get(arm)), _place(arm, _ARMS)), default=whole
    )


def _or_infinity(tokens: float | None) -> float:
    return inf if tokens is None else tokens


def _rounded(value: Any) -> Any:
    """Return the value with every float in it rounded."""
    if isinstance(value, float):
        return round(value, PLACES) + 0.0  # -0.0 becomes 0.0
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
