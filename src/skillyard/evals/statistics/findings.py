"""Findings over a whole run about its judge and its arms: order, length, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.base.sums import wilson
from skillyard.evals.statistics.intervals import independent, mean_of, t_interval
from skillyard.evals.statistics.length import Lengths, length_model
from skillyard.evals.statistics.order import order_effect
from skillyard.evals.statistics.pairs import HEADLINES, TIE, Pair, Unit, judge_work


def findings(
    cases: Sequence[Mapping[str, object]],
    pairs: Sequence[Pair],
    tokens: Mapping[str, float | None],
    seed: int,
) -> dict[str, Any]:
    """Return the artifacts of a run: order, length, agreement, judge, frontier.

    ``pairs`` are the judged ones of ``cases``; ``tokens`` the mean estimated tokens of each arm,
    in the order in which the frontier lists them.
    """
    return {
        "order": order_effect(pairs)._asdict(),
        "length": _length(pairs, seed),
        "agreement": {"own_verdict": _own_verdicts(pairs)},
        "judge": judge_work(cases),
        "frontier": _frontier(pairs, tokens),
    }


def _own_verdicts(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return how often the winner that the judge names is the winner of its scores."""
    agrees = [pair.judge_agrees for pair in pairs if pair.judge_agrees is not None]
    count, of = sum(agrees), len(agrees)
    low, high = wilson(count, of)
    return {"agree": count, "of": of, "rate": count / of if of else None, "low": low, "high": high}


def scores_by_arm(pairs: Sequence[Pair]) -> dict[str, dict[Unit, list[float]]]:
    """Return the scores, 1..5, of each condition by prompt, all comparisons together."""
    scores: dict[str, dict[Unit, list[float]]] = {}
    for pair in pairs:
        for condition, score in zip((pair.first, pair.second), pair.scores, strict=True):
            scores.setdefault(condition, {}).setdefault(pair.unit, []).append(score)
    return scores


def _length(pairs: Sequence[Pair], seed: int) -> dict[str, Any]:
    """Return the model of the headline comparison, and that of each comparison by its name.

    The arms differ from one comparison to the next, so they are never pooled.
    """
    by_comparison: dict[str, list[Lengths]] = {}
    for pair in pairs:
        if pair.lengths is not None:
            win = 0.5 if pair.winner == TIE else float(pair.winner == pair.first)
            one = Lengths(pair.unit, pair.lengths[0] - pair.lengths[1], win)
            by_comparison.setdefault(pair.comparison, []).append(one)
    models = {
        name: length_model(by_comparison[name], seed)._asdict() for name in sorted(by_comparison)
    }
    headline = next((name for name in HEADLINES if name in models), None)
    headline_model = models[headline] if headline else length_model([], seed)._asdict()
    return {"comparison": headline, **headline_model, "by_comparison": models}


def _frontier(pairs: Sequence[Pair], tokens: Mapping[str, float | None]) -> list[dict[str, Any]]:
    scores = scores_by_arm(pairs)
    points = []
    for name in tokens:
        if name in scores:
            values = independent(scores[name])
            low, high = t_interval(values) if len(values) > 1 else (None, None)
            points.append(
                {
                    "condition": name,
                    "tokens": tokens[name],
                    "mean_score": mean_of(values),
                    "ci_low": low,
                    "ci_high": high,
                }
            )
    return points
