"""``summary`` and ``inject``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import load, note_unloaded, policy_of, read_text, scorer_of, words_of
from skillyard.errors import InvalidInput

if TYPE_CHECKING:
    from skillyard.ranking.query import Query

__all__ = ["inject", "summary"]


def summary(values: Values, console: Console) -> int:
    """Print the catalogue for a system prompt, or what a host makes of it."""
    from skillyard.ranking.query import Query
    from skillyard.usecases import summary_of

    query = None if values.query is None else Query(words_of([values.query]) or "")
    if values.host is not None:
        return _host_summary(values, console, query)
    for option in ("--budget", "--fit", "--use"):
        if getattr(values, option.removeprefix("--")) not in (None, False):
            raise InvalidInput(f"{option} says more about --host: name the host")
    catalog = load(values, console)
    found = summary_of(
        catalog,
        format=values.format,
        budget_tokens=values.budget_tokens,
        query=query,
        scorer=scorer_of(values),
    )
    if console.json:
        console.document(found.to_dict())
    elif found.text:
        console.write(found.text)
    else:
        console.note("no skill to list: skillyard list shows what was found")
    note_unloaded(found.diagnostics, values, console)
    return 0


def _host_summary(values: Values, console: Console, query: Query | None) -> int:
    """Print what a host lists, or the listing rewritten to fit."""
    from skillyard.cli.listing_views import host_head, host_table
    from skillyard.text import plural
    from skillyard.usecases import host_summary_of

    if values.budget_tokens is not None:
        raise InvalidInput("--budget-tokens does not go with --host; --budget replaces its own")
    found = host_summary_of(
        load(values, console),
        values.host,
        window=values.window,
        budget=values.budget,
        fit=values.fit,
        query=query,
        use=values.use,
        scorer=scorer_of(values),
    )
    if console.json:
        console.document(found.to_dict())
    elif values.fit:
        console.write(found.listing.text)
        console.note(host_head(found))
    else:
        console.print(*host_table(found))
    if found.unknown_uses:
        console.note(f"{plural(found.unknown_uses, 'line')} of {values.use} names no skill here")
    note_unloaded(found.diagnostics, values, console)
    return 0


def inject(values: Values, console: Console) -> int:
    """Print the prompt with the block of the best skill before it, or as it is."""
    from skillyard.context.fence import random_fence
    from skillyard.ranking.query import Query
    from skillyard.usecases import inject_prompt

    words = words_of(values.query)
    if values.file is None and words is None:
        raise InvalidInput("no prompt: give it in words, or with --file (- is standard input)")
    prompt = words or "" if values.file is None else read_text(values.file)
    other = None if words is None or values.file is None else Query(words)
    scorer = scorer_of(values)
    catalog = load(values, console, indexed=scorer.partition("+")[0] == "hybrid")
    found = inject_prompt(
        catalog,
        prompt,
        other,
        policy_of(values, tags=True),
        scorer=scorer,
        max_chars=values.max_chars,
        fence=random_fence() if values.fence else None,
    )
    if console.json:
        console.document(found.to_dict())
    else:
        console.write(found.prompt)
    if found.match is None and not len(catalog):
        console.note("the prompt is unchanged")
    elif found.match is None:
        console.note(f"no skill fits ({found.scorer}); the prompt is unchanged")
    else:
        match = found.match
        console.note(f"injected {match.skill.name} ({found.scorer} {match.score:.2f})")
    note_unloaded(found.diagnostics, values, console)
    return 0
