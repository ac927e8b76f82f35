"""``rank``, ``select``, ``evaluate``, ``why``, ``summary``, ``inject``: a request, and a prompt."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command
from skillyard.cli.source import load, note_unloaded, ranking_inputs, read_text, require_tag

if TYPE_CHECKING:
    from skillyard.engine.operations.skill_explanation import WhyRequest
    from skillyard.hosts.operations.prompts import InjectRequest, SummaryRequest
    from skillyard.hosts.operations.recommendations import EvaluateRequest
    from skillyard.hosts.operations.skill_selection import RankRequest, SelectRequest


@command("rank", request="skillyard.hosts.operations.skill_selection:RankRequest")
def rank(request: RankRequest, args: Namespace, console: Console) -> int:
    """Rank the skills for a request.

    Prints the full ranking, without a minimum score. Exits with 1 when no skill has a score.

        skillyard rank "review a terraform plan"
        skillyard rank fix the flaky test --explain
    """
    from skillyard.hosts.operations.skill_selection import rank_skills

    query, scorer, catalog = ranking_inputs(request, args, console)
    result = rank_skills(
        catalog, query, scorer=scorer, limit=request.limit, explain=request.explain
    )
    if not result.total:
        require_tag(catalog, request.include_tags)
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import ranking

        console.print(*ranking(result))
        note_unloaded(result.diagnostics, args, console)
    return 0 if result.total else NEGATIVE


@command("select", request="skillyard.hosts.operations.skill_selection:SelectRequest")
def select(request: SelectRequest, args: Namespace, console: Console) -> int:
    """Select skills for a request, or abstain.

    Exits with 1 when it abstains.

        skillyard select "clean this csv file"
        skillyard select "hello" --fallback general
    """
    from skillyard.hosts.operations.skill_selection import select_skills

    policy = request.as_policy()
    query, scorer, catalog = ranking_inputs(request, args, console)
    result = select_skills(
        catalog, query, policy, scorer=scorer, limit=request.limit, explain=request.explain
    )
    if result.selection.abstained:
        require_tag(catalog, request.include_tags)
        require_tag(catalog, (request.fallback_tag,) if request.fallback_tag else ())
    if console.json:
        console.document(result.document(result.diagnostics))
    else:
        from skillyard.cli.views import selection

        console.print(*selection(result))
        note_unloaded(result.diagnostics, args, console)
    return NEGATIVE if result.selection.abstained else 0


@command("evaluate", request="skillyard.hosts.operations.recommendations:EvaluateRequest")
def evaluate(request: EvaluateRequest, args: Namespace, console: Console) -> int:
    """Rate skills by file patterns and keywords (skill_evaluate).

    Exits with 1 when no skill reaches the threshold.

        skillyard evaluate --text "test the login form" --files tests/login.spec.ts
    """
    from skillyard.hosts.operations.recommendations import evaluate_skills

    catalog = load(args, console)
    result = evaluate_skills(
        catalog,
        request.text,
        request.files,
        request.recent_activity,
        threshold=request.threshold,
        limit=request.limit,
        show_details=request.show_details,
    )
    console.show_text(result, result.message)
    note_unloaded(catalog.diagnostics, args, console)
    return 0 if result.results else NEGATIVE


@command("why", request="skillyard.engine.operations.skill_explanation:WhyRequest")
def why(request: WhyRequest, args: Namespace, console: Console) -> None:
    """Explain the rank of one skill, and which skills rank higher.

    skillyard why git-bisect "find the commit that broke the build"
    """
    from skillyard.engine.operations.skill_explanation import why_skill

    query, scorer, catalog = ranking_inputs(request, args, console)
    require_tag(catalog, request.include_tags)
    result = why_skill(catalog, request.name, query, scorer=scorer, limit=request.limit)
    if console.json:
        console.document(result.document(explain=request.explain))
    else:
        from skillyard.cli.views import reasons

        console.print(*reasons(result, trees=request.explain))


@command("summary", request="skillyard.hosts.operations.prompts:SummaryRequest")
def summary(request: SummaryRequest, args: Namespace, console: Console) -> None:
    """Print the catalogue of skills for a system prompt.

    skillyard summary --format xml --budget-tokens 800
    skillyard summary --host claude-code
    """
    from skillyard.cli.cards import host_table
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.ranking.registry import default_scorer
    from skillyard.hosts.operations.prompts import host_summary_of, summary_of

    query = None if request.query is None else Query(request.query)
    window, budget, tokens = request.window, request.budget, request.budget_tokens
    if query is None and request.scorer is not None:
        raise InvalidInput("--scorer and --no-encoder are for --query: give a request")
    if request.host is not None and (query is not None or tokens is not None):
        raise InvalidInput("--query and --budget-tokens do not go with --host, which has its rules")
    if request.host is None and (window is not None or budget is not None):
        raise InvalidInput("--window and --budget say more about --host: name the host")
    catalog, form = load(args, console), request.format
    if request.host is not None:
        listing = host_summary_of(catalog, request.host, window=window, budget=budget, format=form)
        if form is None:
            console.show(listing, host_table)
        else:
            console.show_text(listing, listing.text)
    else:
        scorer = request.scorer or default_scorer()
        result = summary_of(
            catalog, format=form or "lines", budget_tokens=tokens, query=query, scorer=scorer
        )
        console.show_text(result, result.text)
        if not result.text:
            fits = "to list" if tokens is None else f"fits into {tokens} tokens"
            console.remark(f"no skill {fits}: skillyard list shows what was found")
    note_unloaded(catalog.diagnostics, args, console)


@command("inject", request="skillyard.hosts.operations.prompts:InjectRequest")
def inject(request: InjectRequest, args: Namespace, console: Console) -> None:
    """Print a prompt with the instructions of the best skill before it.

    When no skill fits, the prompt is printed unchanged, and the exit code is 0.

        skillyard inject "clean this csv file"
        skillyard inject --file prompt.txt
    """
    from skillyard.engine.context.activation import random_fence
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.ranking.registry import default_scorer
    from skillyard.hosts.decisions import with_feedback
    from skillyard.hosts.operations.prompts import inject_prompt

    words = request.query
    if not request.max_chars:
        raise InvalidInput("--max-chars 0 leaves no instructions to put before the prompt")
    if request.file is None and words is None:
        raise InvalidInput("no prompt: give it in words, or with --file (- is standard input)")
    prompt = words or "" if request.file is None else read_text(request.file)
    other = None if words is None or request.file is None else Query(words)
    judged = with_feedback(other or Query(prompt))
    if judged.feedback and not prompt.startswith("[skill:"):
        other = judged
    scorer = request.scorer or default_scorer()
    catalog = load(args, console, scorer)
    result = inject_prompt(
        catalog,
        prompt,
        other,
        request.as_policy(),
        scorer=scorer,
        max_chars=request.max_chars,
        fence=random_fence() if request.fence else None,
        tools=request.tools,
    )
    console.show_text(result, result.prompt)
    if result.match is None:
        why = f"no skill fits ({result.scorer}); " if len(catalog) else ""
        console.note(f"{why}the prompt is unchanged")
    else:
        match = result.match
        console.note(f"injected {match.name} ({result.scorer} {match.score:.2f})")
        if match.unchecked_tools:
            from skillyard.cli.views import unchecked

            console.note(f"it {unchecked(match.unchecked_tools)}")
    note_unloaded(catalog.diagnostics, args, console)
