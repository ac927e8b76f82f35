"""Envelopes of all layers, as runs write them: calm ones, broken ones and hostile ones.

Every figure follows from a seeded draw of judge's scores, so means, wins and ties fit together.
Intervals are the mean and twice its standard error: these envelopes test reports, not statistics.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from skillyard.evals.judgement.trust import judge_trust
from skillyard.evals.statistics.pairs import judged_pairs
from tests.evals.report.making_head import (
    CRITERIA,
    HOSTILE,
    PROMPTS,
    SKILLS,
    TIMESTAMP,
    meta,
)
from tests.evals.report.making_routed import activation

__all__ = [
    "ANSWER",
    "CHANGES",
    "HOSTILE",
    "activation",
    "effectiveness",
    "every",
    "hostile",
    "size_impact",
    "small",
    "text_of",
]


def size_impact(*, runs: int = 2, prompts: int = 3, **changes: Any) -> dict[str, Any]:
    """An L6 envelope over the skills above, four arms for every second skill."""
    return _paired("size_impact", runs, prompts, changes)


def effectiveness(*, runs: int = 2, prompts: int = 3, **changes: Any) -> dict[str, Any]:
    """An L5 envelope over the skills above."""
    return _paired("effectiveness", runs, prompts, changes)


def _arms(eval_type: str, place: int) -> list[tuple[str, str]]:
    if eval_type == "effectiveness":
        return [("enhanced", "baseline")]
    three = [("full", "baseline"), ("full", "summary"), ("summary", "baseline")]
    return [*three, ("full_siblings", "full")] if place % 2 else three


def _paired(eval_type: str, runs: int, prompts: int, changes: dict[str, Any]) -> dict[str, Any]:
    draw = random.Random(7)
    cases = []
    for run in range(runs):
        for place, (skill, (size, effect)) in enumerate(SKILLS.items()):
            for prompt in range(prompts):
                for one, other in _arms(eval_type, place):
                    cases.append(
                        _case(draw, eval_type, skill, size, effect, prompt, run, one, other)
                    )
    _break(cases)
    summary = {skill: _summary(skill, cases) for skill in SKILLS}
    overall = {"comparisons": _comparisons(cases, over_skills=True)}
    summary["_overall"] = {**overall, "conditions": _conditions(cases)}
    return {
        "meta": meta(eval_type, runs=runs, **changes),
        "summary": summary,
        "cases": cases,
        "artifacts": _artifacts(cases),
    }


_SHIFT = {"enhanced": 1.0, "full": 1.0, "summary": 0.7, "baseline": 0.0, "full_siblings": 1.05}
_TOKENS = {"enhanced": 1.0, "full": 1.0, "summary": 0.08, "baseline": 0.0, "full_siblings": 1.9}


def _case(
    draw: random.Random, eval_type: str, skill: str, size: int, effect: float, prompt: int,
    run: int, one: str, other: str,
) -> dict[str, Any]:  # fmt: skip
    def rated(arm: str) -> list[int]:
        middle = 3.1 + effect * _SHIFT[arm]
        return [min(5, max(1, round(draw.gauss(middle, 0.7)))) for _ in CRITERIA]

    def orders() -> list[dict[str, list[int]]]:
        first = {one: rated(one), other: rated(other)}
        again = {
            arm: [min(5, max(1, s + draw.choice((0, 0, 0, 1, -1)))) for s in scores]
            for arm, scores in first.items()
        }
        return [first, again]

    judged = orders()
    weights = [weight for _, weight, _ in CRITERIA]

    def weighed(scores: Sequence[float]) -> float:
        return round(sum(w * s for w, s in zip(weights, scores, strict=True)), 4)

    per_order = [{arm: weighed(scores) for arm, scores in each.items()} for each in judged]
    winners = [
        "tie" if each[one] == each[other] else max(each, key=lambda a: each[a])
        for each in per_order
    ]
    scores = {arm: round(mean(each[arm] for each in per_order), 4) for arm in (one, other)}
    agreed = winners[0] == winners[1]
    slots = {"A": one, "B": other} if draw.random() < 0.5 else {"A": other, "B": one}
    key = f"{abs(hash_of(skill, prompt, run)):08x}"
    return {
        "id": f"{skill}/{prompt}/{run}/{one}/{other}",
        "skill_name": skill,
        "prompt_index": prompt,
        "prompt": PROMPTS[prompt % len(PROMPTS)],
        "run_index": run,
        "comparison": f"{one}/{other}",
        "condition_a": one,
        "condition_b": other,
        "size_tier": tier(size),
        "body_bytes": size,
        "condition_sizes": {
            arm: {
                "bytes": round(size * _TOKENS[arm]),
                "tokens_estimated": round(size * _TOKENS[arm] / 4),
                "raw_bytes": round(size * _TOKENS[arm]),
            }
            for arm in (one, other)
        },
        "scores": scores,
        "improvement": round(scores[one] - scores[other], 4),
        "winner": winners[0] if agreed else "tie",
        "judge_winner": winners[0],
        "judge_agrees": draw.random() < 0.93,
        "position_consistent": agreed,
        "per_criterion_breakdown": [
            {
                "name": name,
                "weight": weight,
                "scores": {arm: mean(each[arm][n] for each in judged) for arm in (one, other)},
                "reasoning": [
                    (
                        "Response A names the rows that it changed and why; response B is right "
                        "about the dates but says nothing about the shifted rows."
                    ),
                    "Both would run. The second leaves the file as it was and writes a new one.",
                ],
            }
            for n, (name, weight, _) in enumerate(CRITERIA)
        ],
        "ab_assignment": slots,
        "case_seed": hash_of(skill, prompt, run, one, other),
        "orders": [
            {
                "ab_assignment": slots if place == 0 else {"A": slots["B"], "B": slots["A"]},
                "scores": each,
                "winner": winners[place],
                "judge_winner": winners[place],
                "attempts": 1,
                "error": None,
            }
            for place, each in enumerate(per_order)
        ],
        "generations": {
            arm: f"generations/{skill if arm != 'baseline' else '_without_skill'}/{key}-{arm}.json"
            for arm in (one, other)
        },
        "judgements": [f"judgements/{skill}/{key}-{one}-{other}-{n}.json" for n in (0, 1)],
        "lengths": {one: 2_140 + 37 * prompt, other: 1_690 + 11 * run},
        "model": "claude-sonnet-4-6",
        "judge_model": "claude-opus-4-7",
        "run_id": f"20261120-1405-{eval_type[:4]}",
        "seed": 42,
        "timestamp": TIMESTAMP,
        "cost": 0.0214,
        "judge_attempts": 2,
        "errors": [],
        "skipped": None,
    }


def hash_of(*parts: object) -> int:
    """A number that is the same in every process, unlike ``hash`` of a text."""
    return random.Random("|".join(map(str, parts))).getrandbits(32)


def tier(size: int) -> str:
    return "small" if size < 5_000 else "large" if size > 15_000 else "medium"


def _break(cases: list[dict[str, Any]]) -> None:
    """Give one case a judge's reply that could not be used, and let the budget cut another."""
    nothing = {"scores": None, "improvement": None, "winner": None, "judge_winner": None}
    broken = {**nothing, "judge_agrees": None, "position_consistent": None}
    cases[3].update(broken, per_criterion_breakdown=[])
    cases[3]["errors"] = [{"kind": "judge_error", "message": "the reply is no JSON object"}]
    cases[3]["orders"][1].update(
        scores=None, winner=None, judge_winner=None, attempts=3, error="the reply is no JSON object"
    )
    cases[-2].update(broken, per_criterion_breakdown=[], orders=[], judgements=[], skipped="budget")
    cases[-2].update(generations={}, lengths={}, cost=0.0)


def _comparisons(
    cases: Sequence[Mapping[str, Any]], *, over_skills: bool = False
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in dict.fromkeys(case["comparison"] for case in cases):
        judged = [c for c in cases if c["comparison"] == name and c["improvement"] is not None]
        units: dict[tuple[str, int], list[float]] = {}
        for case in judged:
            unit = (case["skill_name"], 0 if over_skills else case["prompt_index"])
            units.setdefault(unit, []).append(case["improvement"])
        values = [mean(each) for each in units.values()]
        middle, spread = mean(values), stdev(values) if len(values) > 1 else 0.0
        half = 2 * spread / max(1, len(values)) ** 0.5 if len(values) > 1 else 1.4
        one, other = name.split("/")
        word = "equivalent" if half < 0.5 else "not enough data"
        if middle - half > 0:
            word = "better"
        elif middle + half < 0:
            word = "worse"
        result[name] = {
            "wins": sum(case["winner"] == one for case in judged),
            "losses": sum(case["winner"] == other for case in judged),
            "ties": sum(case["winner"] == "tie" for case in judged),
            "win_rate": 0.5,
            "mean": round(middle, 6),
            "stddev": round(spread, 6),
            "n": len(judged),
            "units": len(values),
            "ci_low": round(middle - half, 6),
            "ci_high": round(middle + half, 6),
            "ci_method": "t",
            "word": word if len(values) > 1 else "not enough data",
            "study_units": 24 if word == "not enough data" else None,
            "second_is_enough": word in ("equivalent", "worse"),
            "smallest_detectable": round(1.4 * half, 6),
        }
    return result


def _summary(skill: str, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [case for case in cases if case["skill_name"] == skill]
    comparisons = _comparisons(own)
    headline = comparisons.get("full/baseline") or comparisons["enhanced/baseline"]
    conditions = _conditions(own)
    recommended = (
        "baseline" if headline["mean"] < 0.1 else "summary" if "summary" in conditions else None
    )
    richer = "full skill" if "full" in conditions else "skill"
    verdicts = {
        "better": f"The {richer} makes answers better by {headline['mean']:.2f} points",
        "worse": f"The {richer} makes answers worse by {-headline['mean']:.2f} points",
    }
    verdict = verdicts.get(
        headline["word"], "No difference between the skill and no skill is shown"
    )
    enough = (
        "; the summary does as well for a twelfth of the tokens."
        if recommended == "summary"
        else "."
    )
    return {
        **{key: headline[key] for key in ("mean", "stddev", "n")},
        "size_tier": own[0]["size_tier"],
        "body_bytes": own[0]["body_bytes"],
        "scale": "detailed",
        "errors": sum(bool(case["errors"]) for case in own),
        "skipped": sum(case["skipped"] is not None for case in own),
        "verdict": verdict + enough,
        "worst_prompts": [{"prompt_index": 2, "prompt": own[0]["prompt"], "mean": -0.5}],
        "lost": {},
        "recommended_level": recommended,
        "comparisons": comparisons,
        "conditions": conditions,
        "missing_siblings": ["references/old.md"] if skill == "log-triage" else [],
        "summary_error": None,
    }


def _conditions(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores: dict[str, list[float]] = {}
    sizes: dict[str, Any] = {}
    for case in cases:
        for arm, score in (case["scores"] or {}).items():
            scores.setdefault(arm, []).append(score)
        sizes.update(case["condition_sizes"])
    return {
        arm: {
            "bytes": sizes[arm]["bytes"],
            "tokens_estimated": sizes[arm]["tokens_estimated"],
            "mean_score": round(mean(values), 4),
            "n": len(values),
        }
        for arm, values in scores.items()
    }


def _artifacts(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    trust = judge_trust(cases, judged_pairs(cases))
    return {"trust": trust, "cost": {"generation": 0.83, "judging": 2.01}, "plan": {}}


def every(*, runs: int = 2, **changes: Any) -> list[dict[str, Any]]:
    """One envelope of each layer."""
    return [
        activation(**changes),
        effectiveness(runs=runs, **changes),
        size_impact(runs=runs, **changes),
    ]


def small(**changes: Any) -> list[dict[str, Any]]:
    """One envelope of each layer, of six cases and two skills, for tests that read many pages."""
    envelopes = [activation(**changes)]
    envelopes += [make(prompts=1, **changes) for make in (effectiveness, size_impact)]
    for envelope in envelopes:
        del envelope["cases"][6:]
        summary = envelope["summary"]
        names = [name for name in summary if name != "_overall"]
        for name in names[2:]:
            del summary[name]
    return envelopes


CHANGES = [
    {
        "eval_type": "size_impact", "entity": "release-notes", "status": "regression",
        "message": "The mean fell from +0.31 to −0.45 (threshold 0.50).",
    },
    {
        "eval_type": "activation", "entity": "_overall", "status": "unchanged",
        "message": "Recall 80 % as before.",
    },
    {
        "eval_type": "effectiveness", "entity": "log-triage", "status": "new",
        "message": "Not in the baseline.",
    },
]  # fmt: skip

ANSWER = """# A plan for the export

1. **Look first.** Read every row as text, and count how many columns each has.
2. Parse the dates by the three patterns that occur, and refuse what fits none.
3. Move shifted rows back where exactly one column is empty.

```python
from datetime import datetime

PATTERNS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y")

def parsed(text: str) -> datetime:
    for pattern in PATTERNS:
        try:
            return datetime.strptime(text, pattern)
        except ValueError:
            continue
    raise ValueError(f"no known date: {text!r}")
```

Write the changed rows to `changes.csv`, so that somebody can look at each.
"""


def text_of(path: str) -> str | None:
    """The texts that a results folder would hold."""
    if path.startswith("judgements/"):
        return "Sure! Here is my verdict:\nA is better <b>because</b> it is longer.\n"
    if "baseline" in path:
        return ANSWER.split("```")[0] + "\nI would do this by hand for the first file.\n"
    return ANSWER


def hostile(text: str, envelope: Any) -> Any:
    """The envelope with a text in place of every text that a stranger could have written."""
    structural = {
        "eval_type",
        "backend",
        "comparison",
        "condition_a",
        "condition_b",
        "orders",
        "winner",
    }
    if isinstance(envelope, dict):
        return {
            key: value if key in structural and isinstance(value, str) else hostile(text, value)
            for key, value in envelope.items()
        }
    if isinstance(envelope, list):
        return [hostile(text, each) for each in envelope]
    return text if isinstance(envelope, str) else envelope
