"""``summary`` and ``inject``: what a model reads."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.console import Console
from skillyard.cli.options import command, flag, value, words
from skillyard.cli.source import load, note_unloaded, read_text, scorer_of, words_of

if TYPE_CHECKING:
    from skillyard.engine.ranking.query import Query


@command(
    "summary",
    value(
        "--format",
        "NAME",
        "lines, xml or markdown (default: lines)",
        choices=("lines", "xml", "markdown"),
        default="lines",
    ),
    value("--budget-tokens", "N", "fit into N estimated tokens"),
    value("--query", "Q", "when not all fit, keep those that rank highest for Q"),
    "--scorer",
    value(
        "--host",
        "NAME",
        "show what this host lists, and which descriptions it cuts or drops",
        choices=("claude-code", "codex", "copilot-cli", "vscode"),
    ),
    value(
        "--window", "N", "with --host: the model's context in tokens (default: its usual models')"
    ),
    value("--budget", "N", "with --host: use this budget instead of the host's, in its unit"),
    flag("--fit", "with --host: rewrite the listing to fit, by --query, by --use or by priority"),
    value(
        "--use",
        "FILE",
        "with --host: a decision log, or JSON lines with ids, of the skills that were used",
    ),
)
def summary(args: Namespace, console: Console) -> None:
    """Print the catalogue of skills for a system prompt.

    skillyard summary --format xml --budget-tokens 800
    skillyard summary --host claude-code
    skillyard summary --host codex --fit --use decisions.jsonl
    """
    from skillyard.engine.ranking.query import Query
    from skillyard.hosts.operations.prompts import summary_of

    query = None if args.query is None else Query(words_of([args.query]) or "")
    if query is None and args.scorer is not None:
        raise InvalidInput("--scorer ranks the skills for --query: give a request")
    if args.host is not None:
        return _host_summary(args, console, query)
    for option in ("--window", "--budget", "--fit", "--use"):
        if getattr(args, option.removeprefix("--")) not in (None, False):
            raise InvalidInput(f"{option} says more about --host: name the host")
    catalog = load(args, console)
    result = summary_of(
        catalog,
        format=args.format,
        budget_tokens=args.budget_tokens,
        query=query,
        scorer=scorer_of(args),
    )
    console.show_text(result, result.text)
    if not result.text:
        console.remark("no skill to list: skillyard list shows what was found")
    note_unloaded(catalog.diagnostics, args, console)
    return None


def _host_summary(args: Namespace, console: Console, query: Query | None) -> None:
    """Print what a host lists, or the listing rewritten to fit."""
    from skillyard.cli.cards import host_head, host_table
    from skillyard.hosts.operations.prompts import host_summary_of

    if args.budget_tokens is not None:
        raise InvalidInput("--budget-tokens does not go with --host; --budget replaces its own")
    result = host_summary_of(
        load(args, console),
        args.host,
        window=args.window,
        budget=args.budget,
        fit=args.fit,
        query=query,
        use=args.use,
        scorer=scorer_of(args),
    )
    if args.fit and not console.json:
        console.write(result.listing.text)
        console.note(host_head(result))
    else:
        console.show(result, host_table)
    if result.unknown_uses:
        console.note(f"{plural(result.unknown_uses, 'line')} of {args.use} names no skill here")
    note_unloaded(result.diagnostics, args, console)


@command(
    "inject",
    words(
        "query",
        "QUERY",
        "the prompt; with --file, what to choose the skill by (default: the prompt)",
    ),
    value("--max-chars", "N", "at most N characters of instructions", default=2000),
    value("--file", "PROMPT", "read the prompt from this file; - is standard input"),
    flag(
        "--fence",
        "put a new random word into both lines of the frame, so that no skill can imitate it",
    ),
    *("--scorer", "--min-score", "--wrong-cost", "--fallback", "--tag", "--not-tag", "--tool"),
)
def inject(args: Namespace, console: Console) -> None:
    """Print a prompt with the instructions of the best skill before it.

    When no skill fits, the prompt is printed unchanged, and the exit code is 0.

        skillyard inject "clean this csv file"
        skillyard inject --file prompt.txt
    """
    from skillyard.engine.context.activation import random_fence
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.selection import SelectionPolicy
    from skillyard.hosts.decisions import with_feedback
    from skillyard.hosts.operations.prompts import inject_prompt

    words = words_of(args.query)
    if args.file is None and words is None:
        raise InvalidInput("no prompt: give it in words, or with --file (- is standard input)")
    prompt = words or "" if args.file is None else read_text(args.file)
    other = None if words is None or args.file is None else Query(words)
    judged = with_feedback(other or Query(prompt))
    if judged.feedback and not prompt.startswith("[skill:"):
        other = judged
    scorer = scorer_of(args)
    catalog = load(args, console, scorer)
    result = inject_prompt(
        catalog,
        prompt,
        other,
        SelectionPolicy(
            None,
            args.min_score,
            tuple(args.tag),
            tuple(args.not_tag),
            args.fallback,
            args.wrong_cost,
        ),
        scorer=scorer,
        max_chars=args.max_chars,
        fence=random_fence() if args.fence else None,
        tools=tuple(args.tool),
    )
    console.show_text(result, result.prompt)
    if result.match is None and not len(catalog):
        console.note("the prompt is unchanged")
    elif result.match is None:
        console.note(f"no skill fits ({result.scorer}); the prompt is unchanged")
    else:
        match = result.match
        console.note(f"injected {match.name} ({result.scorer} {match.score:.2f})")
        if match.unchecked_tools:
            from skillyard.cli.views import unchecked

            console.note(f"it {unchecked(match.unchecked_tools)}")
    note_unloaded(catalog.diagnostics, args, console)
