"""Results of all layers as runs write them, made up for the reports: calm ones and hostile ones."""

from __future__ import annotations

from typing import Any

HOSTILE = [
    "<script>alert(1)</script>", "</script><svg onload=alert(3)>", "]]>", "<!--", "--!>",
    "\u202e<b>txet neddih\u2066", "\x1b[31mred\x1b[0m", "\x00\x07", "\ufffe\uffff", "\ud800",
    '"><img src=x onerror=alert(2)>', "' onmouseover='alert(4)", "{{ 7 * 7 }}{% raw %}",
    "</pre></details></main>", "&lt;script&gt;", "a | b `c` **d** [e](http://f.example)",
    "::error::owned%0A::set-output", "@everyone #1 http://x.example/", "<details open>", "-->",
    "a\r\nb\rc", "\u2028line\u2029", "x" * 300,
]  # fmt: skip
SKILLS = {
    "csv-cleaning": (0.91, 0.52, 1.30, "better"),
    "git-bisect": (0.39, -0.13, 0.90, "not enough data"),
    "incident-review": (0.78, -0.49, 2.04, "not enough data"),
    "log-triage": (-0.17, -0.26, -0.09, "worse"),
    "pdf-form-filling": (1.36, 1.24, 1.48, "better"),
    "release-notes": (-0.62, -1.00, -0.24, "worse"),
    "sql-migrations": (0.02, -0.31, 0.36, "equivalent"),
    "unit-test-repair": (0.40, -0.24, 1.05, "not enough data"),
}
"""The difference of each skill to no skill, with its interval and its verdict."""
PROMPTS = (
    "The export from our shop has dates in three formats. Write a script that makes one table.",
    "Something since the tag of May made the start-up slow. How do I find the commit?",
)
REQUESTS = (
    ("Merge these four scans into one PDF and fill in the date on each.", "pdf-form-filling"),
    ("the csv my bank sends has semicolons, make it a clean table", "csv-cleaning"),
    ("since tuesday the tests hang, which commit was it", "git-bisect"),
    ("Which of these 30,000 lines explain why the service restarted?", "log-triage"),
    ("Write up what changed since 4.2 for people who use the app", "release-notes"),
    ("What should I cook with leeks and two eggs?", ""),
    ("Explain how a comma-separated poem could look", ""),
    ("Translate 'form' into French", ""),
    ("Add a column to orders without locking the table", "sql-migrations"),
)
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
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
2. Move shifted rows back where exactly one column is empty.
"""


def meta(eval_type: str, **changes: Any) -> dict[str, Any]:
    """The ``meta`` of a run; ``changes`` replace its entries."""
    whole = {
        "schema": "skillyard.eval/1", "run_id": f"20261120-1405-{eval_type[:4]}",
        "timestamp": "2026-11-20T14:05:00Z", "eval_type": eval_type, "backend": "live",
        "model": "claude-sonnet-4-6", "judge_model": "claude-opus-4-7", "provider": "anthropic",
        "router": None, "seed": 42, "runs": 1, "orders": "both", "limit": None, "skill": None,
        "total_cost": 2.8437, "calls": 288, "run_cost": 2.8437, "run_calls": 288, "lost_calls": 0,
        "lost_cost": 0.0, "cost_of_cached": 0.61, "cache_hits": 61, "unpriced": False,
        "temperature_requested": 0.0, "temperature_sent": None, "aborted": False,
        "stop_reason": None, "degraded": False, "max_cost": 15.0, "max_calls": 500,
        "price_source": "genai-prices 0.2.3 (2026-11-01)", "engine_version": "0.6.0",
        "dataset_sha256": HEX, "sdk": ["anthropic 2.12.0"], "judge_prompt_version": "b1946ac92492",
        "duration_s": 412.3,
    }  # fmt: skip
    return {**whole, **changes}


def effectiveness(*, prompts: int = 2, **changes: Any) -> dict[str, Any]:
    """An L5 envelope over the skills above."""
    return _paired("effectiveness", [("enhanced", "baseline")], prompts, changes)


def size_impact(*, prompts: int = 2, **changes: Any) -> dict[str, Any]:
    """An L6 envelope over the skills above."""
    arms = [("full", "baseline"), ("full", "summary"), ("summary", "baseline")]
    return _paired("size_impact", arms, prompts, changes)


def _paired(
    eval_type: str, arms: list[tuple[str, str]], prompts: int, changes: dict[str, Any]
) -> dict[str, Any]:
    cases = [
        _pair(skill, prompt, *pair, figures[0])
        for skill, figures in SKILLS.items()
        for prompt in range(prompts)
        for pair in arms
    ]
    nothing = dict.fromkeys(("scores", "improvement", "winner", "judge_winner"))
    cases[1].update(nothing, per_criterion_breakdown=[])
    cases[1]["errors"] = [{"kind": "judge_error", "message": "the reply is no JSON object"}]
    cases[1]["orders"][1].update(nothing, error="the reply is no JSON object")
    cases[-1].update(nothing, orders=[], judgements=[], generations={}, skipped="budget")
    names = ["/".join(pair) for pair in arms]
    pooled = {name: _comparison(0.44, 0.08, 0.79, "better", units=8) for name in names}
    return {
        "meta": meta(eval_type, **changes),
        "summary": {
            "_overall": {"comparisons": pooled},
            **{skill: _entity(skill, figures, names) for skill, figures in SKILLS.items()},
        },
        "cases": cases,
        "artifacts": {"trust": TRUST},
    }


TRUST = {
    "trusted": True,
    "sentence": "The judge passes its checks: 3 of 46 pairs won by their place.",
    "checks": [{"check": "place", "count": 3, "of": 46, "what": "pairs won by their place"}],
}


def _comparison(mean: float, low: float, high: float, word: str, *, units: int) -> dict[str, Any]:
    return {
        "wins": 4, "losses": 1, "ties": 1, "mean": mean, "ci_low": low, "ci_high": high,
        "units": units, "word": word,
        "study_units": 24 if word == "not enough data" else None,
        "second_is_enough": word in ("equivalent", "worse"),
    }  # fmt: skip


def _entity(
    skill: str, figures: tuple[float, float, float, str], names: list[str]
) -> dict[str, Any]:
    arms = dict.fromkeys(arm for name in names for arm in name.split("/"))
    tokens = {"enhanced": 1_605, "full": 1_605, "summary": 128, "baseline": 0}
    return {
        "worst_prompts": [{"prompt_index": 1, "prompt": PROMPTS[1], "mean": -0.5}],
        "lost": {},
        "recommended_level": "summary" if skill == "pdf-form-filling" else None,
        "comparisons": {name: _comparison(*figures, units=12) for name in names},
        "conditions": {
            arm: {"tokens_estimated": tokens[arm], "mean_score": 3.2} for arm in arms
        },
        "missing_siblings": ["references/old.md"] if skill == "log-triage" else [],
        "summary_error": None,
    }  # fmt: skip


def _pair(skill: str, prompt: int, one: str, other: str, mean: float) -> dict[str, Any]:
    scores = {one: round(3.2 + mean, 2), other: 3.2}
    slots = {"A": one, "B": other}
    order = {
        "ab_assignment": slots, "scores": scores, "winner": one, "judge_winner": one,
        "attempts": 1, "error": None,
    }  # fmt: skip
    path = f"{skill}/{prompt}"
    return {
        "id": f"{path}/{one}/{other}", "skill_name": skill, "prompt_index": prompt,
        "prompt": PROMPTS[prompt % len(PROMPTS)], "run_index": 0, "comparison": f"{one}/{other}",
        "condition_a": one, "condition_b": other, "scores": scores, "improvement": mean,
        "condition_sizes": {
            one: {"bytes": 6_420, "tokens_estimated": 1_605},
            other: {"bytes": 0, "tokens_estimated": 0},
        },
        "winner": one if mean > 0 else other, "judge_winner": one, "position_consistent": True,
        "per_criterion_breakdown": [
            {
                "name": "correctness", "weight": 0.35, "scores": {one: 4.5, other: 3.0},
                "reasoning": ["Response A names the rows that it changed and why."],
            }
        ],
        "orders": [{**order}, {**order, "ab_assignment": {"A": other, "B": one}}],
        "generations": {arm: f"generations/{path}-{arm}.json" for arm in (one, other)},
        "judgements": [f"judgements/{path}-{one}-{other}-{n}.json" for n in (0, 1)],
        "lengths": {one: 2_140, other: 1_690}, "cost": 0.0214, "errors": [], "skipped": None,
    }  # fmt: skip


def activation(**changes: Any) -> dict[str, Any]:
    """An L3 envelope by one of our scorers."""
    cases = [_routed(place, *each) for place, each in enumerate(REQUESTS)]
    cases[2].update(picked=["unit-test-repair"], passed=False)
    cases[6].update(picked=["csv-cleaning"], passed=False, dropped=["poetry"])
    cases[4].update(picked=[], passed=None)
    cases[4]["errors"] = [{"kind": "timeout", "message": "no answer within 15 s"}]
    rates = {
        "tpr": 0.8, "tpr_low": 0.376, "tpr_high": 0.964, "precision": 0.83, "recall": 0.8,
        "fpr": 0.333, "fpr_low": 0.061, "fpr_high": 0.792, "f1": 0.81, "exact_set_rate": 0.75,
        "positives": 5, "negatives": 3, "errors": 0,
    }  # fmt: skip
    summary: dict[str, Any] = {name: dict(rates) for name in ("_overall", *SKILLS)}
    summary["git-bisect"].update(tpr=0.0, tpr_low=0.0, tpr_high=0.43, f1=0.0)
    summary["pdf-form-filling"].update(tpr=1.0, tpr_low=0.57, tpr_high=1.0, fpr=0.0, fpr_low=0.0)
    summary["release-notes"].update(dict.fromkeys(("tpr", "fpr", "f1")), errors=1)
    ours = {"backend": "none", "router": "hybrid", "model": None, "judge_model": None}
    paid = dict.fromkeys(("total_cost", "calls", "run_cost", "run_calls", "cache_hits"), 0)
    return {
        "meta": meta("activation", **{**ours, **paid, **changes}),
        "summary": summary,
        "cases": cases,
        "artifacts": {
            "index": {"characters": 2_914, "input_tokens": None, "skills": 24},
            "confusion": [
                {"skill": "git-bisect", "picked": "unit-test-repair", "requests": 4, "of": 9,
                 "confused": True},
                {"skill": "csv-cleaning", "picked": "log-triage", "requests": 1, "of": 10,
                 "confused": False},
            ],
        },
    }  # fmt: skip


def _routed(place: int, request: str, skill: str) -> dict[str, Any]:
    expected = [skill] if skill else []
    return {
        "id": f"act-{place:03d}", "run_index": 0, "user_prompt": request,
        "category": "plain" if skill else "near miss", "expected_skills": expected,
        "acceptable_skills": [], "should_activate": bool(skill), "generations": [],
        "picked": expected, "missing": [], "dropped": [], "passed": True, "cost": 0.0,
        "errors": [], "skipped": None,
    }  # fmt: skip


def every(*, prompts: int = 2, **changes: Any) -> list[dict[str, Any]]:
    """One envelope of each layer."""
    judged = [make(prompts=prompts, **changes) for make in (effectiveness, size_impact)]
    return [activation(**changes), *judged]


def text_of(run: object, path: str) -> str | None:
    """The texts that a results folder would hold."""
    if path.startswith("judgements/"):
        return "Sure! Here is my verdict:\nA is better <b>because</b> it is longer.\n"
    return f"{ANSWER}\nI would do this by hand.\n" if "baseline" in path else ANSWER


def hostile(text: str, envelope: Any) -> Any:
    """The envelope with a text in place of every text that a stranger could have written."""
    structural = {
        *("eval_type", "backend", "comparison", "condition_a", "condition_b", "winner"),
    }
    if isinstance(envelope, dict):
        return {
            key: value if key in structural and isinstance(value, str) else hostile(text, value)
            for key, value in envelope.items()
        }
    if isinstance(envelope, list):
        return [hostile(text, each) for each in envelope]
    return text if isinstance(envelope, str) else envelope
