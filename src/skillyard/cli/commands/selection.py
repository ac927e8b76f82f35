"""``rank``, ``select``, ``evaluate`` and ``why``: which skills fit a request."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import SkillNotFound
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import (
    add_limit,
    add_options,
    add_scorer,
    number,
    whole_number,
)
from skillyard.cli.parser import add_command
from skillyard.cli.source import (
    load,
    load_to_rank,
    note_unloaded,
    policy_of,
    query_of,
    scorer_of,
    words_of,
)

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.engine.operations.skill_explanation import Why
    from skillyard.hosts.operations.skill_selection import Ranked, Selected


def add_rank_command(commands: Commands) -> None:
    """Declare ``rank``."""
    parser = add_command(
        commands,
        "rank",
        "rank the skills for a request",
        run=rank,
        about=(
            "Prints the full ranking, without a minimum score. Exits with 1 when no skill "
            "has a score."
        ),
        examples=(
            'skillyard rank "review a terraform plan"',
            "skillyard rank fix the flaky test --explain",
        ),
    )
    add_options(parser, "query", "--files", "--package-scope", "--recent")
    add_scorer(parser)
    add_limit(parser, "show at most K skills", 10)
    add_options(parser, "--tag", "--not-tag", "--references", "--tool", "--explain")


def rank(args: Namespace, console: Console) -> int:
    """Print a ranking; 1 when no skill has a score."""
    from skillyard.hosts.operations.skill_selection import rank_skills

    query, scorer = query_of(args), scorer_of(args)
    catalog = load_to_rank(args, console, scorer)
    result: Ranked = rank_skills(
        catalog, query, scorer=scorer, limit=args.limit, explain=args.explain
    )
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import ranking

        console.print(*ranking(result))
        note_unloaded(result.diagnostics, args, console)
    return 0 if result.total else NEGATIVE


def add_select_command(commands: Commands) -> None:
    """Declare ``select``."""
    parser = add_command(
        commands,
        "select",
        "select skills for a request, or abstain",
        run=select,
        about="Exits with 1 when it abstains.",
        examples=(
            'skillyard select "clean this csv file"',
            'skillyard select "hello" --fallback general',
        ),
    )
    add_options(parser, "query", "--files", "--package-scope", "--recent")
    add_scorer(parser)
    add_options(parser, "--min-score", "--wrong-cost")
    parser.add_argument(
        "--top-k",
        metavar="K",
        type=whole_number,
        help="select at most K skills (default: the scorer's own)",
    )
    add_options(parser, "--fallback")
    add_limit(parser, "list at most K of the rejected skills", None)
    add_options(parser, "--tag", "--not-tag", "--references", "--tool", "--explain")


def select(args: Namespace, console: Console) -> int:
    """Print a choice; 1 when it abstains."""
    from skillyard.hosts.operations.skill_selection import select_skills

    query, scorer, policy = query_of(args), scorer_of(args), policy_of(args)
    catalog = load_to_rank(args, console, scorer)
    result: Selected = select_skills(
        catalog, query, policy, scorer=scorer, limit=args.limit, explain=args.explain
    )
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import selection

        console.print(*selection(result))
        note_unloaded(result.diagnostics, args, console)
    return NEGATIVE if result.selection.abstained else 0


def add_evaluate_command(commands: Commands) -> None:
    """Declare ``evaluate``."""
    parser = add_command(
        commands,
        "evaluate",
        "rate skills by file patterns and keywords (skill_evaluate)",
        run=evaluate,
        about="Exits with 1 when no skill reaches the threshold.",
        examples=('skillyard evaluate --text "test the login form" --files tests/login.spec.ts',),
    )
    parser.add_argument(
        "--text", metavar="T", help="the user's words; - reads them from standard input"
    )
    add_options(parser, "--files", "--recent")
    parser.add_argument(
        "--threshold",
        metavar="X",
        type=number,
        default=0.3,
        help="minimum confidence, 0 to 1 (default: 0.3)",
    )
    add_limit(parser, "at most K results", 10)
    parser.add_argument(
        "--details", action="store_true", help="add the details of the best matches to the message"
    )


def evaluate(args: Namespace, console: Console) -> int:
    """Print the documented evaluation; 1 when no skill reaches the threshold."""
    from skillyard.hosts.operations.recommendations import evaluate_skills

    catalog = load(args, console)
    chooser = load(args, console, indexed=True)
    result = evaluate_skills(
        catalog,
        None if args.text is None else words_of([args.text]),
        args.files,
        args.recent,
        threshold=args.threshold,
        limit=args.limit,
        show_details=args.details,
        chooser=chooser,
    )
    console.show_text(result, result.message)
    note_unloaded(catalog.diagnostics, args, console)
    return 0 if result.results else NEGATIVE


def add_why_command(commands: Commands) -> None:
    """Declare ``why``."""
    parser = add_command(
        commands,
        "why",
        "explain the rank of one skill, and which skills rank higher",
        run=why,
        examples=('skillyard why git-bisect "find the commit that broke the build"',),
    )
    parser.add_argument("name", metavar="NAME", help="name, id or slug of the skill")
    add_options(parser, "query", "--files", "--package-scope", "--recent")
    add_scorer(parser)
    add_limit(parser, "show at most K skills that rank higher", 5)
    add_options(parser, "--tag", "--not-tag", "--references", "--tool")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show how the score is computed, also of the skills that rank higher",
    )


def why(args: Namespace, console: Console) -> int:
    """Print why one skill stands where it stands."""
    from skillyard.engine.operations.skill_explanation import why_skill

    query, scorer = query_of(args), scorer_of(args)
    catalog = load_to_rank(args, console, scorer)
    if not len(catalog):
        error = SkillNotFound(args.name)
        error.hint = "there are no skills"
        raise error
    result: Why = why_skill(catalog, args.name, query, scorer=scorer, limit=args.limit)
    if console.json:
        console.document(result.document(explain=args.explain))
    else:
        from skillyard.cli.views import reasons

        console.print(*reasons(result, trees=args.explain))
    return 0


COMMANDS = {
    "rank": add_rank_command,
    "select": add_select_command,
    "evaluate": add_evaluate_command,
    "why": add_why_command,
}
