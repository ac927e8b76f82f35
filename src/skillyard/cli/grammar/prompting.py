"""Commands that write what a model reads."""

from __future__ import annotations

from skillyard.cli.grammar.common import FALLBACK, MIN_SCORE, NOT_TAG, SCORER, TAG, WRONG_COST
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("summary",),
        "the catalogue of skills for a system prompt",
        "prompting:summary",
        (
            Option(
                "--format",
                "lines, xml or markdown (default: lines)",
                metavar="NAME",
                choices=("lines", "xml", "markdown"),
                default="lines",
            ),
            Option("--budget-tokens", "fit into N estimated tokens", metavar="N", type="count"),
            Option("--query", "when not all fit, keep those that rank first for Q", metavar="Q"),
            SCORER,
            Option(
                "--host",
                "show what this host lists, and which descriptions it cuts or drops",
                metavar="NAME",
                choices=("claude-code", "codex", "copilot-cli", "vscode"),
            ),
            Option(
                "--window",
                "with --host: the model's context in tokens (default: its usual models')",
                metavar="N",
                type="count",
            ),
            Option(
                "--budget",
                "with --host: another budget than its own, in its unit",
                metavar="N",
                type="count",
            ),
            Option(
                "--fit",
                "with --host: rewrite the listing to fit, by --query, by --use or by priority",
                "flag",
            ),
            Option(
                "--use",
                "with --host: a decision log, or JSON lines with ids, that says what was used",
                metavar="FILE",
                type="path",
            ),
        ),
        examples=(
            "skillyard summary --format xml --budget-tokens 800",
            "skillyard summary --host claude-code",
            "skillyard summary --host codex --fit --use decisions.jsonl",
        ),
    ),
    Command(
        ("inject",),
        "the prompt with the best skill's instructions before it",
        "prompting:inject",
        (
            Option(
                "QUERY",
                "the prompt; with --file, what to choose the skill by (default: the prompt)",
                "words",
            ),
            Option(
                "--max-chars",
                "at most N characters of instructions (default: 2000)",
                metavar="N",
                type="count",
                default=2_000,
            ),
            Option(
                "--file",
                "read the prompt from this file; - is standard input",
                metavar="PROMPT",
                type="path",
            ),
            Option(
                "--fence",
                "put a new random word into both lines of the frame, which no skill can know",
                "flag",
            ),
            SCORER,
            MIN_SCORE,
            WRONG_COST,
            FALLBACK,
            TAG,
            NOT_TAG,
        ),
        "When no skill fits, the prompt is printed as it is, and the exit code is 0.",
        ('skillyard inject "clean this csv file"', "skillyard inject --file prompt.txt"),
    ),
)
