"""``rank``, ``select``, ``evaluate`` and ``why``: which skills fit a request."""

from __future__ import annotations

from argparse import Namespace

from skillyard.base.errors import SkillNotFound
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, read_request
from skillyard.cli.source import load, note_unloaded, ranking_inputs


@command("rank", request="skillyard.hosts.operations.skill_selection:RankRequest")
def rank(args: Namespace, console: Console) -> int:
    """Rank the skills for a request.

    Prints the full ranking, without a minimum score. Exits with 1 when no skill has a score.

        skillyard rank "review a terraform plan"
        skillyard rank fix the flaky test --explain
    """
    from skillyard.hosts.operations.skill_selection import RankRequest, rank_skills

    request = read_request(args, RankRequest)
    query, scorer, catalog = ranking_inputs(request, args, console)
    result = rank_skills(
        catalog, query, scorer=scorer, limit=request.limit, explain=request.explain
    )
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import ranking

        console.print(*ranking(result))
        note_unloaded(result.diagnostics, args, console)
    return 0 if result.total else NEGATIVE


@command("select", request="skillyard.hosts.operations.skill_selection:SelectRequest")
def select(args: Namespace, console: Console) -> int:
    """Select skills for a request, or abstain.

    Exits with 1 when it abstains.

        skillyard select "clean this csv file"
        skillyard select "hello" --fallback general
    """
    from skillyard.hosts.operations.skill_selection import SelectRequest, select_skills

    request = read_request(args, SelectRequest)
    policy = request.as_policy()
    query, scorer, catalog = ranking_inputs(request, args, console)
    result = select_skills(
        catalog, query, policy, scorer=scorer, limit=request.limit, explain=request.explain
    )
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import selection

        console.print(*selection(result))
        note_unloaded(result.diagnostics, args, console)
    return NEGATIVE if result.selection.abstained else 0


@command("evaluate", request="skillyard.hosts.operations.recommendations:EvaluateRequest")
def evaluate(args: Namespace, console: Console) -> int:
    """Rate skills by file patterns and keywords (skill_evaluate).

    Exits with 1 when no skill reaches the threshold.

        skillyard evaluate --text "test the login form" --files tests/login.spec.ts
    """
    from skillyard.hosts.operations.recommendations import EvaluateRequest, evaluate_skills

    request = read_request(args, EvaluateRequest)
    catalog = load(args, console)
    chooser = load(args, console, "hybrid")
    result = evaluate_skills(
        catalog,
        request.text,
        request.files,
        request.recent_activity,
        threshold=request.threshold,
        limit=request.limit,
        show_details=request.show_details,
        chooser=chooser,
    )
    console.show_text(result, result.message)
    note_unloaded(catalog.diagnostics, args, console)
    return 0 if result.results else NEGATIVE


@command("why", request="skillyard.engine.operations.skill_explanation:WhyRequest")
def why(args: Namespace, console: Console) -> None:
    """Explain the rank of one skill, and which skills rank higher.

    skillyard why git-bisect "find the commit that broke the build"
    """
    from skillyard.engine.operations.skill_explanation import WhyRequest, why_skill

    request = read_request(args, WhyRequest)
    query, scorer, catalog = ranking_inputs(request, args, console)
    if not len(catalog):
        error = SkillNotFound(request.name)
        error.hint = "there are no skills"
        raise error
    result = why_skill(catalog, request.name, query, scorer=scorer, limit=request.limit)
    if console.json:
        console.document(result.document(explain=request.explain))
    else:
        from skillyard.cli.views import reasons

        console.print(*reasons(result, trees=request.explain))
