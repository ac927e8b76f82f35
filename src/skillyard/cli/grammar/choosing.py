"""Commands that rank, choose and explain."""

from __future__ import annotations

from skillyard.cli.grammar.common import (
    EXPLAIN,
    FALLBACK,
    FILES,
    MIN_SCORE,
    NOT_TAG,
    QUERY,
    RECENT,
    REFERENCES,
    SCORER,
    TAG,
    WRONG_COST,
    limit,
)
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("rank",),
        "rank the skills for a request",
        "choosing:rank",
        (
            QUERY,
            FILES,
            RECENT,
            SCORER,
            limit("show at most K skills", 10),
            TAG,
            NOT_TAG,
            REFERENCES,
            EXPLAIN,
        ),
        "Shows the ranking as it is, without a floor. Exits with 1 when no skill has a score.",
        ('skillyard rank "review a terraform plan"', "skillyard rank fix the flaky test --explain"),
    ),
    Command(
        ("select",),
        "choose skills for a request, or abstain",
        "choosing:select",
        (
            QUERY,
            FILES,
            RECENT,
            SCORER,
            MIN_SCORE,
            WRONG_COST,
            Option(
                "--top-k", "choose at most K (default: the scorer's own)", metavar="K", type="count"
            ),
            FALLBACK,
            limit("name at most K of the others", None),
            TAG,
            NOT_TAG,
            REFERENCES,
            EXPLAIN,
        ),
        "Exits with 1 when it abstains.",
        ('skillyard select "clean this csv file"', 'skillyard select "hello" --fallback general'),
    ),
    Command(
        ("evaluate",),
        "confidence by file patterns and keywords (skill_evaluate)",
        "choosing:evaluate",
        (
            Option("--text", "the user's words; - reads them from standard input", metavar="T"),
            FILES,
            RECENT,
            Option(
                "--threshold",
                "least confidence, 0 to 1 (default: 0.3)",
                metavar="X",
                type="number",
                default=0.3,
            ),
            limit("at most K results", 10),
            Option("--details", "add the details of the best matches to the message", "flag"),
        ),
        "Exits with 1 when no skill reaches the threshold.",
        ('skillyard evaluate --text "test the login form" --files tests/login.spec.ts',),
    ),
    Command(
        ("why",),
        "why a skill stands where it stands, and what beats it",
        "choosing:why",
        (
            Option("NAME", "name, id or slug of the skill"),
            QUERY,
            FILES,
            RECENT,
            SCORER,
            limit("show at most K skills that rank higher", 5),
            TAG,
            NOT_TAG,
            REFERENCES,
            Option(
                "--explain",
                "show how the score is computed, and those of the skills above it",
                "flag",
            ),
        ),
        examples=('skillyard why git-bisect "find the commit that broke the build"',),
    ),
)
