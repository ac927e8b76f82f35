"""What made-up results share: skills, prompts, criteria, hostile texts, a run's head."""

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
    "csv-cleaning": (6_420, 1.05),
    "git-bisect": (3_980, 0.35),
    "incident-review": (17_900, 0.6),
    "log-triage": (9_240, 0.02),
    "pdf-form-filling": (12_300, 1.4),
    "release-notes": (4_310, -0.45),
    "sql-migrations": (15_800, 0.9),
    "unit-test-repair": (7_150, 0.28),
}
PROMPTS = (
    (
        "The export from our shop has dates in three formats and some rows shifted by a column. "
        "Write a script that makes one clean table of it and tells me what it changed."
    ),
    (
        "Something between the tag of May and yesterday made the start-up twice as slow. How do I "
        "find the commit without testing all 400 of them?"
    ),
    (
        "We had an outage of 40 minutes last night. Turn these notes into a review that nobody "
        "feels blamed by, with actions that will really be done."
    ),
)
CRITERIA = (
    ("correctness", 0.35, "What it says and does is right for the request."),
    ("completeness", 0.25, "Every part of the request is answered."),
    ("practice", 0.2, "It follows what experienced people do."),
    ("clarity", 0.2, "It can be followed and used at once."),
)
TIMESTAMP = "2026-11-20T14:05:00Z"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def meta(eval_type: str, **changes: Any) -> dict[str, Any]:
    """The ``meta`` of a run; ``changes`` replace its entries."""
    whole = {
        "schema": "skillyard.eval/1",
        "run_id": f"20261120-1405-{eval_type[:4]}",
        "timestamp": TIMESTAMP,
        "eval_type": eval_type,
        "model": "claude-sonnet-4-6",
        "judge_model": "claude-opus-4-7",
        "provider": "anthropic",
        "router": "model",
        "seed": 42,
        "runs": 2,
        "orders": "both",
        "limit": None,
        "skill": None,
        "group": None,
        "total_cost": 2.8437,
        "cost_of_cached": 0.61,
        "calls": 288,
        "cache_hits": 61,
        "backend": "live",
        "temperature_requested": 0.0,
        "temperature_sent": None,
        "aborted": False,
        "fail_fast_reason": None,
        "stop_reason": None,
        "degraded": False,
        "price_source": "genai-prices 0.2.3 (2026-11-01)",
        "engine_version": "0.6.0",
        "dataset_sha256": HEX,
        "skill_sha256s": dict.fromkeys(SKILLS, HEX),
        "sdk": ["anthropic 2.12.0"],
        "judge_prompt_version": "b1946ac92492",
        "max_cost": 15.0,
        "max_calls": 500,
        "duration_s": 412.3,
    }
    return {**whole, **changes}
