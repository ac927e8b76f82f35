"""Findings over a whole run about its judge and its arms: order, length, strength, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.evals.statistics.agreement import Agreement, share
from skillyard.evals.statistics.bradley_terry import bradley_terry
from skillyard.evals.statistics.comparison import HEADLINES
from skillyard.evals.statistics.intervals import mean_interval
from skillyard.evals.statistics.length import Lengths, length_model
from skillyard.evals.statistics.multiple import benjamini_hochberg
from skillyard.evals.statistics.order import BOTH, fisher_p, order_effect
from skillyard.evals.statistics.pairs import TIE, Judgement, Pair, Unit, work_of

__all__ = ["findings", "scores_by_arm"]


def findings(
    cases: Sequence[Mapping[str, object]],
    pairs: Sequence[Pair],
    tokens: Mapping[str, float | None],
    seed: int,
) -> dict[str, Any]:
    """Return the artifacts of a run: order, length, bradley_terry, agreement, judge, frontier.

    ``pairs`` are the judged ones of ``cases``; ``tokens`` the mean estimated tokens of each arm,
    in the order in which the frontier lists them.
    """
    return {
        "order": _order(pairs),
        "length": _length(pairs, seed),
        "bradley_terry": _bradley_terry(pairs, seed),
        "agreement": {"own_verdict": _own_verdict(pairs)},
        "judge": _judge(cases),
        "frontier": _frontier(pairs, tokens, seed),
    }


def scores_by_arm(pairs: Sequence[Pair]) -> dict[str, dict[Unit, list[float]]]:
    """Return the scores, 1..5, of each condition by prompt, all comparisons together."""
    scores: dict[str, dict[Unit, list[float]]] = {}
    for pair in pairs:
        for condition, score in zip((pair.first, pair.second), pair.scores, strict=True):
            scores.setdefault(condition, {}).setdefault(pair.unit, []).append(score)
    return scores


def _order(pairs: Sequence[Pair]) -> dict[str, Any]:
    effect = order_effect(pairs)
    # In both orders the two rows of a table hold the same pairs, so they are not compared.
    single = effect.test != BOTH and effect.p is not None
    ps = [fisher_p(table) for table in effect.by_comparison.values()] if single else []
    adjusted = benjamini_hochberg(ps)
    return {
        "slot_a_wins": effect.slot_a_wins,
        "slot_b_wins": effect.slot_b_wins,
        "ties": effect.ties,
        "share_a": effect.share_a,
        "p": effect.p,
        "test": effect.test,
        "word": effect.word,
        "consistent": effect.consistent.agree,
        "pairs": effect.consistent.of,
        "consistency_rate": effect.consistent.rate,
        "by_comparison": {
            name: {
                **table._asdict(),
                "p": ps[place] if single else None,
                "p_adjusted": adjusted[place] if single else None,
            }
            for place, (name, table) in enumerate(effect.by_comparison.items())
        },
    }


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


def _bradley_terry(pairs: Sequence[Pair], seed: int) -> dict[str, Any]:
    by_unit: dict[Unit, list[Judgement]] = {}
    for pair in pairs:
        by_unit.setdefault(pair.unit, []).extend(pair.orders)
    arms = {side for pair in pairs for side in (pair.first, pair.second)}
    if len(arms) < 3:
        return {
            "arms": {},
            "order_term": None,
            "note": "not fitted: of two arms the win rate says it all",
        }
    strengths = bradley_terry(by_unit, seed)
    order = strengths.order
    return {
        "arms": {
            name: {"ability": arm.value, "ci_low": arm.low, "ci_high": arm.high}
            for name, arm in strengths.arms.items()
        },
        "order_term": order.value if order else None,
        "order_low": order.low if order else None,
        "order_high": order.high if order else None,
        "units": strengths.units,
        "judgements": strengths.judgements,
        "note": "log-odds that add up to 0; weak prior, ties half wins",
    }


def _own_verdict(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return how often the winner that the judge names is the winner of its scores."""
    verdicts = [pair.judge_agrees for pair in pairs if pair.judge_agrees is not None]
    agreement: Agreement = share(sum(verdicts), len(verdicts))
    return agreement._asdict()


def _judge(cases: Sequence[Mapping[str, object]]) -> dict[str, int]:
    work = [work_of(case) for case in cases]
    return {
        "calls": sum(one.calls for one in work),
        "retries": sum(one.retries for one in work),
        "errors": sum(one.errors for one in work),
    }


def _frontier(
    pairs: Sequence[Pair], tokens: Mapping[str, float | None], seed: int
) -> list[dict[str, Any]]:
    scores = scores_by_arm(pairs)
    points = []
    for name in tokens:
        if name in scores:
            interval = mean_interval(scores[name], seed)
            points.append(
                {
                    "condition": name,
                    "tokens": tokens[name],
                    "mean_score": interval.mean,
                    "ci_low": interval.low,
                    "ci_high": interval.high,
                }
            )
    return points
