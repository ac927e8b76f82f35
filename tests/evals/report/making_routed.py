"""Results of L3 and L4 as a run writes them, made up for the report."""

from __future__ import annotations

from typing import Any

from tests.evals.report.making_head import SKILLS, meta

REQUESTS = (
    ("Merge these four scans into one PDF and fill in the date on each.", "pdf-form-filling"),
    (
        "the csv my bank sends has semicolons and broken umlauts, make it a clean table",
        "csv-cleaning",
    ),
    ("since tuesday the tests hang, which commit was it", "git-bisect"),
    ("Add a column to orders without locking the table for a minute", "sql-migrations"),
    ("Which of these 30,000 lines explain why the payment service restarted?", "log-triage"),
    ("Write up what changed since 4.2 for people who use the app", "release-notes"),
)
UNRELATED = (
    "What should I cook with leeks and two eggs?",
    "Explain how a comma-separated poem could look",
    "Translate 'form' into French",
)


def activation(**changes: Any) -> dict[str, Any]:
    """An L3 envelope by one of our scorers."""
    cases = [_routed(place, *each) for place, each in enumerate(REQUESTS)]
    cases += [_routed(10 + place, request, None) for place, request in enumerate(UNRELATED)]
    cases[2].update(picked=["unit-test-repair"], passed=False, precision=0.0, recall=0.0, f1=0.0)
    cases[7].update(picked=["csv-cleaning"], passed=False, dropped=["poetry"])
    cases[5].update(
        picked=[], passed=None, precision=None, recall=None, f1=None,
        errors=[{"kind": "timeout", "message": "no answer within 15 s"}],
    )  # fmt: skip
    rates = {
        "tpr": 0.8, "tpr_low": 0.376, "tpr_high": 0.964,
        "fpr": 0.333, "fpr_low": 0.061, "fpr_high": 0.792,
    }  # fmt: skip
    shared = {
        "mean": 0.81, "stddev": 0.12, "n": 8, "precision": 0.83, "recall": 0.8, "f1": 0.81, **rates,
        "accuracy": 0.75, "exact_set_rate": 0.75, "errors": 1,
    }  # fmt: skip
    per_skill: dict[str, Any] = {
        skill: {**shared, "positives": 5, "negatives": 3, "errors": 0} for skill in SKILLS
    }
    per_skill["git-bisect"].update(tpr=0.0, tpr_low=0.0, tpr_high=0.43, f1=0.0)
    per_skill["pdf-form-filling"].update(tpr=1.0, tpr_low=0.57, tpr_high=1.0, fpr=0.0, fpr_low=0.0)
    per_skill["release-notes"].update(dict.fromkeys([*rates, "f1", "mean"], None), errors=1)
    return {
        "meta": {
            **meta("activation", backend="none", router="hybrid", model=None, judge_model=None),
            "total_cost": 0.0, "calls": 0, "cache_hits": 0, "cost_of_cached": 0.0,
            **changes,
        },
        "summary": {"_overall": {**shared, "positives": 5, "negatives": 3}, **per_skill},
        "cases": cases,
        "artifacts": {
            "index": {"characters": 2_914, "input_tokens": None, "skills": 24},
            "categories": {
                "plain": {"n": 5, "accuracy": 0.8, "f1": 0.81},
                "near miss": {"n": 3, "accuracy": 0.6667, "f1": 0.6667},
            },
        },
    }  # fmt: skip


def _routed(place: int, request: str, skill: str | None) -> dict[str, Any]:
    return {
        "id": f"act-{place:03d}",
        "run_index": 0,
        "user_prompt": request,
        "category": "plain" if skill else "near miss",
        "expected_skills": [skill] if skill else [],
        "acceptable_skills": [],
        "required_skills": [],
        "should_activate": skill is not None,
        "about": None,
        "best": skill,
        "exact": True,
        "generations": [],
        "picked": [skill] if skill else [],
        "dropped": [],
        "passed": True,
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "fallback": False,
        "confidence": 0.82,
        "cost": 0.0,
        "errors": [],
        "skipped": None,
    }


def confusion(**changes: Any) -> dict[str, Any]:
    """An L4 envelope with two groups, findings and negatives."""
    data = ("csv-cleaning", "sql-migrations", "log-triage")
    code = ("git-bisect", "unit-test-repair", "release-notes", "incident-review")
    matrices = {
        "data": {
            "skills": list(data), "matrix": [[9, 1, 0], [0, 10, 0], [1, 0, 8]],
            "no_activation": 1, "multi_activation": 2, "out_of_group": 0,
        },
        "work on code": {
            "skills": list(code),
            "matrix": [[5, 4, 0, 0], [1, 9, 0, 0], [0, 0, 10, 0], [0, 0, 3, 6]],
            "no_activation": 2, "multi_activation": 3, "out_of_group": 1,
        },
    }  # fmt: skip
    picks = [
        ("data", "make one table of these exports", "csv-cleaning", "csv-cleaning"),
        ("data", "the new column must not lock the table", "sql-migrations", "sql-migrations"),
        ("work on code", "which change broke the tests", "git-bisect", "unit-test-repair"),
        ("work on code", "sum up the outage for the others", "incident-review", "release-notes"),
    ]
    return {
        "meta": {
            **meta("confusion", backend="replay", total_cost=0.0, calls=0, cache_hits=70),
            **changes,
        },
        "summary": {
            "data": {
                "mean": 0.93, "stddev": 0.02, "n": 30, "accuracy": 0.9333, "low": 0.787,
                "high": 0.982, "errors": 0, "no_activation": 1, "multi_activation": 2,
                "out_of_group": 0,
                "cross_activation": {
                    "csv-cleaning": 0.1, "sql-migrations": 0.0, "log-triage": 0.11,
                },
            },
            "work on code": {
                "mean": 0.77, "stddev": 0.05, "n": 40, "accuracy": 0.7692, "low": 0.617,
                "high": 0.874, "errors": 1, "no_activation": 2, "multi_activation": 3,
                "out_of_group": 1,
                "cross_activation": {
                    "git-bisect": 0.44, "unit-test-repair": 0.1, "release-notes": 0.0,
                    "incident-review": 0.33,
                },
            },
        },
        "cases": [
            {
                "id": f"con-{place:03d}", "group": group, "run_index": place % 2,
                "user_prompt": request, "expected_skill": expected, "acceptable_skills": [],
                "picked": [picked], "predicted": picked, "passed": expected == picked,
                "outside": [], "dropped": [], "generations": [],
                "errors": [], "skipped": None,
            }
            for place, (group, request, expected, picked) in enumerate(picks)
        ],
        "artifacts": {
            "confusion_matrices": matrices,
            "findings": [
                {
                    "group": "work on code", "kind": "pair",
                    "message": "4 of 9 requests for git-bisect (44 %) went to unit-test-repair.",
                    "skills": ["git-bisect", "unit-test-repair"],
                },
                {
                    "group": "work on code", "kind": "pair",
                    "message": "3 of 9 requests for incident-review (33 %) went to release-notes.",
                    "skills": ["incident-review", "release-notes"],
                },
            ],
            "negatives": {"n": 16, "fired": 0.125, "low": 0.035, "high": 0.36},
        },
    }  # fmt: skip
