"""``eval``: runs of the four layers."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from skillyard.cli.commands.evaluation_options import (
    add_cases,
    add_in_skills,
    add_judge_options,
    add_router_options,
    add_run_options,
    add_skill,
)
from skillyard.cli.commands.evaluation_results import (
    add_eval_baseline_command,
    add_eval_compare_command,
    add_eval_init_command,
    add_eval_report_command,
    add_eval_suggest_command,
    add_eval_validate_rubrics_command,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE, UNREACHED
from skillyard.cli.parser import add_command, add_group
from skillyard.cli.source import load

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.evals.layers.runner import EvaluationResult
    from skillyard.usecases.eval_runs import EvalOptions

_ABOUT_RUNS = (
    "Model answers are cached, so a second run, or a run after an interrupt, "
    "requests only what is missing. The exit code is 3 when a budget or an interrupt "
    "stopped the run, 4 when no case has a result."
)
_LISTED = 20
"""Most missing entries that are named outside of JSON."""

_SETTINGS = (
    *("provider", "base_url", "model", "judge_model", "router", "index", "top_k", "min_score"),
    *("runs", "seed", "orders", "limit", "skill", "group", "max_cost", "max_calls", "concurrency"),
)
"""Options that are settings of a run, by the same name."""


def add_eval_activation_command(commands: Commands) -> None:
    """Declare ``eval activation``."""
    parser = add_command(
        commands,
        "activation",
        "does the router pick the right skills, and none where none fits?",
        run=activation,
        about=_ABOUT_RUNS,
        examples=(
            "skillyard eval activation --root skills",
            "skillyard eval activation --router model --model ID --max-cost 1",
        ),
    )
    add_cases(parser)
    add_skill(parser)
    add_in_skills(parser)
    add_router_options(parser)
    add_run_options(parser)


def activation(args: Namespace, console: Console) -> int:
    """Run L3, or plan it."""
    return _layer("activation", args, console)


def add_eval_confusion_command(commands: Commands) -> None:
    """Declare ``eval confusion``."""
    parser = add_command(
        commands,
        "confusion",
        "which skill of a group of similar ones is picked?",
        run=confusion,
        about=_ABOUT_RUNS,
        examples=("skillyard eval confusion --root skills --group reviews",),
    )
    add_cases(parser)
    parser.add_argument("--group", metavar="NAME", help="only this group")
    parser.add_argument(
        "--index",
        metavar="NAME",
        choices=("group", "library"),
        help="show the router the group, or the whole library (default: group)",
    )
    add_router_options(parser)
    add_run_options(parser)


def confusion(args: Namespace, console: Console) -> int:
    """Run L4, or plan it."""
    return _layer("confusion", args, console)


def add_eval_effectiveness_command(commands: Commands) -> None:
    """Declare ``eval effectiveness``."""
    parser = add_command(
        commands,
        "effectiveness",
        "are answers with a skill better than without, by a rubric?",
        run=effectiveness,
        about=_ABOUT_RUNS,
        examples=(
            "skillyard eval effectiveness --root skills --model ID --dry-run",
            "skillyard eval effectiveness --root skills --model ID --max-cost 5 --format html",
        ),
    )
    add_cases(parser)
    add_skill(parser)
    add_in_skills(parser)
    add_judge_options(parser)
    add_run_options(parser)


def effectiveness(args: Namespace, console: Console) -> int:
    """Run L5, or plan it."""
    return _layer("effectiveness", args, console)


def add_eval_size_impact_command(commands: Commands) -> None:
    """Declare ``eval size-impact``."""
    parser = add_command(
        commands,
        "size-impact",
        "is the whole skill better than its summary, and than nothing?",
        run=size_impact,
        about=_ABOUT_RUNS,
        examples=(
            "skillyard eval size-impact --root skills --model ID --dry-run",
            "skillyard eval size-impact --root skills --replay --format html",
        ),
    )
    add_cases(parser)
    add_skill(parser)
    add_judge_options(parser)
    add_run_options(parser)


def size_impact(args: Namespace, console: Console) -> int:
    """Run L6, or plan it."""
    return _layer("size_impact", args, console)


def _layer(eval_type: str, args: Namespace, console: Console) -> int:
    """Run a layer; 3 when it was stopped or entries were missing, 4 when nothing came of it."""
    from skillyard.usecases.eval_runs import eval_plan

    catalog = load(args, console)
    options = _options(args)
    if args.dry_run:
        planned = eval_plan(catalog, eval_type, options)
        from skillyard.cli.eval_views import plan_blocks

        console.show(planned, plan_blocks)
        return 0
    done = _run(eval_type, args, console, catalog, options)
    written = _reports(done, args)
    if console.json:
        console.document({**_head(done), "path": done.path, "reports": written})
    else:
        from skillyard.cli.eval_views import result_blocks

        console.print(*result_blocks(done, written))
    return _code(done, args, console)


def _run(
    eval_type: str, args: Namespace, console: Console, catalog: Any, options: EvalOptions
) -> EvaluationResult:
    from skillyard import __version__
    from skillyard.cli.eval_progress import eval_progress
    from skillyard.cli.interrupts import stop_on_interrupt
    from skillyard.usecases.eval_runs import eval_run

    with stop_on_interrupt() as stop, eval_progress(console) as step:
        return eval_run(
            catalog,
            eval_type,
            options,
            stop=stop,
            on_step=step,
            warn=console.note,
            engine_version=__version__,
        )


def _options(args: Namespace) -> EvalOptions:
    from skillyard.usecases.eval_runs import EvalOptions

    return EvalOptions(
        evals_dir=args.evals_dir,
        paths=tuple(args.path),
        in_skills=getattr(args, "in_skills", False),
        results=args.output_dir,
        given={name: getattr(args, name, None) for name in _SETTINGS},
        resume=args.resume,
        replay=args.replay,
        regenerate=args.regenerate,
        rejudge=getattr(args, "rejudge", False),
        labels=tuple(getattr(args, "labels", ())),
    )


def _reports(done: EvaluationResult, args: Namespace) -> list[str]:
    from skillyard.usecases.eval_results import eval_report

    return [
        eval_report(
            args.evals_dir,
            [done.path],
            format,
            results=args.output_dir,
            baselines=args.baselines_dir,
        )[1]
        for format in dict.fromkeys(args.format)
    ]


def _head(done: EvaluationResult) -> dict[str, Any]:
    envelope = done.envelope
    return {
        "schema": "skillyard.eval-run/1",
        "meta": envelope["meta"],
        "summary": envelope["summary"],
        "cases": len(envelope["cases"]),
        "missing": list(done.missing),
    }


def _code(done: EvaluationResult, args: Namespace, console: Console) -> int:
    meta = done.envelope["meta"]
    if done.missing:
        console.note(f"{len(done.missing):,} kept answers are missing, and nobody was asked:")
        for path in done.missing[:_LISTED]:
            console.note(f"  {path}")
        if len(done.missing) > _LISTED:
            console.note(f"  and {len(done.missing) - _LISTED:,} more; --json lists all of them")
    if meta["aborted"]:
        console.note(f"{meta['stop_message']}; `--resume {meta['run_id']}` goes on with it")
        return INTERRUPTED
    if done.missing:
        return INTERRUPTED
    if not done.usable:
        console.note("no case has a result; the errors stand in the results file")
        return UNREACHED
    return _gate(args, console, meta["eval_type"]) if args.gate else 0


def _gate(args: Namespace, console: Console, eval_type: str | None) -> int:
    from skillyard.usecases.eval_results import eval_compare

    result = eval_compare(
        args.evals_dir,
        results=args.output_dir,
        baselines=args.baselines_dir,
        eval_type=eval_type,
    )
    for each in result.compared:
        if each.refused:
            console.note(f"{each.eval_type}: not compared: {each.refused}")
        for change in each.regressions:
            console.note(f"{each.eval_type}: {change.entity}: {change.message}")
    return NEGATIVE if result.regressed else 0


def add_eval_group(commands: Commands) -> None:
    """Declare ``eval`` and its commands."""
    group = add_group(commands, "eval", "evaluation of skills with a model")
    add_eval_activation_command(group)
    add_eval_confusion_command(group)
    add_eval_effectiveness_command(group)
    add_eval_size_impact_command(group)
    add_eval_compare_command(group)
    add_eval_report_command(group)
    add_eval_validate_rubrics_command(group)
    add_eval_baseline_command(group)
    add_eval_init_command(group)
    add_eval_suggest_command(group)


COMMANDS = {"eval": add_eval_group}
