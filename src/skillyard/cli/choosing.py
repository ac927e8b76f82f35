"""``rank``, ``select``, ``evaluate`` and ``why``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import load, note_unloaded, policy_of, query_of, scorer_of, words_of
from skillyard.errors import SkillNotFound

if TYPE_CHECKING:
    from skillyard.usecases import Evaluated, Ranked, Selected, Why

__all__ = ["evaluate", "rank", "select", "why"]

NEGATIVE = 1


def rank(values: Values, console: Console) -> int:
    """Print a ranking; 1 when no skill has a score."""
    from skillyard.usecases import rank_skills

    query, scorer = query_of(values), scorer_of(values)
    catalog = load(values, console, indexed=scorer.partition("+")[0] == "hybrid")
    found: Ranked = rank_skills(
        catalog, query, scorer=scorer, limit=values.limit, explain=values.explain
    )
    if console.json:
        console.answer(found)
    else:
        from skillyard.cli.views import ranking

        console.print(*ranking(found))
        note_unloaded(found.diagnostics, values, console)
    return 0 if found.total else NEGATIVE


def select(values: Values, console: Console) -> int:
    """Print a choice; 1 when it abstains."""
    from skillyard.usecases import select_skills

    query, scorer, policy = query_of(values), scorer_of(values), policy_of(values)
    catalog = load(values, console, indexed=scorer.partition("+")[0] == "hybrid")
    found: Selected = select_skills(
        catalog, query, policy, scorer=scorer, limit=values.limit, explain=values.explain
    )
    if console.json:
        console.answer(found)
    else:
        from skillyard.cli.views import selection

        console.print(*selection(found))
        note_unloaded(found.diagnostics, values, console)
    return NEGATIVE if found.selection.abstained else 0


def evaluate(values: Values, console: Console) -> int:
    """Print the documented evaluation; 1 when no skill reaches the threshold."""
    from skillyard.usecases import evaluate_skills

    catalog = load(values, console)
    chooser = load(values, console, indexed=True)
    found: Evaluated = evaluate_skills(
        catalog,
        None if values.text is None else words_of([values.text]),
        values.files,
        values.recent,
        threshold=values.threshold,
        limit=values.limit,
        show_details=values.details,
        chooser=chooser,
    )
    if console.json:
        console.document(found.to_dict())
    else:
        console.write(found.message)
    note_unloaded(catalog.diagnostics, values, console)
    return 0 if found.results else NEGATIVE


def why(values: Values, console: Console) -> int:
    """Print why one skill stands where it stands."""
    from skillyard.usecases import why_skill

    query, scorer = query_of(values), scorer_of(values)
    catalog = load(values, console, indexed=scorer.partition("+")[0] == "hybrid")
    if not len(catalog):
        error = SkillNotFound(values.name)
        error.hint = "there are no skills"
        raise error
    found: Why = why_skill(catalog, values.name, query, scorer=scorer, limit=values.limit)
    if console.json:
        console.document(found.to_dict(explain=values.explain))
    else:
        from skillyard.cli.views import reasons

        console.print(*reasons(found, trees=values.explain))
    return 0
