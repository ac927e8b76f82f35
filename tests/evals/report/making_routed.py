"""Results of L3 as a run writes them, made up for the report."""

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
            "confusion": [
                {"skill": "git-bisect", "picked": "unit-test-repair", "requests": 4, "of": 9,
                 "confused": True},
                {"skill": "csv-cleaning", "picked": "log-triage", "requests": 1, "of": 10,
                 "confused": False},
            ],
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
        "confidence": 0.82,
        "cost": 0.0,
        "errors": [],
        "skipped": None,
    }
