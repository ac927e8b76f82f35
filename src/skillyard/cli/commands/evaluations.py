"""``eval``: runs of the layers, plans, and the group of all commands."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.commands.evaluation_options import (
    LAYER_OPTIONS,
    RUN_OPTIONS,
    add_options,
    require_extra,
)
from skillyard.cli.commands.evaluation_results import (
    add_eval_baseline_command,
    add_eval_compare_command,
    add_eval_init_command,
    add_eval_report_command,
    add_eval_validate_rubrics_command,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE, UNREACHED
from skillyard.cli.options import number, whole_number
from skillyard.cli.parser import add_command, add_group
from skillyard.cli.source import load
from skillyard.evals.layers.registry import LAYERS, LayerEntry

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.evals.layers.runner import EvaluationResult, RunStep
    from skillyard.evals.operations.eval_runs import EvalOptions

_ABOUT_RUNS = (
    "Model answers are cached, so a second run, or a run after an interrupt, "
    "requests only what is missing. The exit code is 3 when a budget or an interrupt "
    "stopped the run, 4 when no case has a result."
)
_LISTED = 20
"""Most missing entries that are named outside of JSON."""

_LARGEST_EFFECT = 4
"""The largest difference on the judge's scale of 1 to 5."""

_SETTINGS = (
    *("provider", "base_url", "model", "judge_model", "router", "top_k", "min_score"),
    *("runs", "seed", "orders", "limit", "skill", "max_cost", "max_calls", "concurrency"),
    *("margin", "until_decided"),
)
"""Options that are settings of a run, by the same name."""


def add_layer_command(commands: Commands, layer: LayerEntry, *, hidden: bool = False) -> None:
    """Declare the command that runs a layer of evaluations."""
    parser = add_command(
        commands,
        layer.command,
        layer.about,
        run=run_confusion if layer.name == "confusion" else partial(run_layer, layer.name),
        about=_ABOUT_RUNS,
        examples=layer.examples,
        hidden=hidden,
    )
    own = [name for option in layer.options for name in LAYER_OPTIONS[option]]
    add_options(parser, "path", *own, *RUN_OPTIONS)


def run_layer(eval_type: str, args: Namespace, console: Console) -> int:
    """Run a layer; 3 when it was stopped or entries were missing, 4 when nothing came of it."""
    require_extra()
    from skillyard.evals.operations.eval_runs import eval_plan

    catalog = load(args, console)
    options = _options(args)
    if args.dry_run:
        planned = eval_plan(catalog, eval_type, options, warn=console.note)
        from skillyard.cli.eval_views import plan_blocks

        console.show(planned, plan_blocks)
        return 0
    result = _run(eval_type, args, console, catalog, options)
    written = _reports(result, args)
    if console.json:
        console.document({**_head(result), "path": result.path, "reports": written})
    else:
        from skillyard.cli.eval_views import result_blocks

        console.print(*result_blocks(result, written))
    return _code(result, args, console)


def run_confusion(args: Namespace, console: Console) -> int:
    """Run activation, which has the figures of this layer up to 0.1 as a table."""
    former = os.path.join(args.evals_dir, "datasets", "confusion")
    if not args.path and os.path.isdir(former):
        args.path = [former]
    return run_layer("activation", args, console)


def _run(
    eval_type: str, args: Namespace, console: Console, catalog: Any, options: EvalOptions
) -> EvaluationResult:
    from skillyard.base.version import __version__
    from skillyard.cli.progress import progress, stop_on_interrupt
    from skillyard.evals.operations.eval_runs import eval_run

    with stop_on_interrupt() as stop, progress("evaluating", console) as bar:

        def show(step: RunStep) -> None:
            if bar is not None:
                spent = f"{plural(step.calls, 'request')}, ${step.cost:.2f}" if step.calls else ""
                bar(step.done, step.total, spent)

        return eval_run(
            catalog,
            eval_type,
            options,
            stop=stop,
            on_step=show,
            warn=console.note,
            engine_version=__version__,
        )


def _options(args: Namespace) -> EvalOptions:
    from skillyard.evals.operations.eval_runs import EvalOptions

    return EvalOptions(
        evals_dir=args.evals_dir,
        paths=tuple(args.path),
        in_skills=getattr(args, "in_skills", False),
        results=args.output_dir,
        overrides={name: getattr(args, name, None) for name in _SETTINGS},
        resume=args.resume,
        replay=args.replay,
        regenerate=args.regenerate,
        rejudge=getattr(args, "rejudge", False),
        allow_scripts=getattr(args, "allow_scripts", False),
        labels=tuple(getattr(args, "labels", ())),
        anyway=getattr(args, "anyway", False),
    )


def _reports(result: EvaluationResult, args: Namespace) -> list[str]:
    from skillyard.evals.operations.eval_results import read_report, write_report

    if not args.format:
        return []
    source = read_report(
        args.evals_dir, [result.path], results=args.output_dir, baselines=args.baselines_dir
    )
    return [write_report(source, format)[1] for format in dict.fromkeys(args.format)]


def _head(result: EvaluationResult) -> dict[str, Any]:
    envelope = result.envelope
    return {
        "schema": "skillyard.eval-run/1",
        "meta": envelope["meta"],
        "summary": envelope["summary"],
        "cases": len(envelope["cases"]),
        "missing": list(result.missing),
    }


def _code(result: EvaluationResult, args: Namespace, console: Console) -> int:
    meta = result.envelope["meta"]
    if result.missing:
        console.note(f"{len(result.missing):,} kept answers are missing, and nobody was asked:")
        for path in result.missing[:_LISTED]:
            console.note(f"  {path}")
        if len(result.missing) > _LISTED:
            console.note(f"  and {len(result.missing) - _LISTED:,} more; --json lists all of them")
    if meta["aborted"]:
        console.note(f"{meta['stop_message']}; `--resume {meta['run_id']}` goes on with it")
        return INTERRUPTED
    if result.missing:
        return INTERRUPTED
    if not result.usable:
        console.note("no case has a result; the errors stand in the results file")
        return UNREACHED
    return _gate(result, args, console) if args.gate else 0


def _gate(result: EvaluationResult, args: Namespace, console: Console) -> int:
    from skillyard.evals.operations.eval_results import eval_compare

    comparison = eval_compare(args.evals_dir, baselines=args.baselines_dir, path=result.path)
    for each in comparison.compared:
        if each.refused:
            console.note(f"{each.eval_type}: not compared: {each.refused}")
        elif each.note:
            console.note(f"{each.eval_type}: {each.note}")
        if each.unclear:
            figures = plural(len(each.unclear), "figure")
            console.note(f"{each.eval_type}: warning: cannot tell for {figures}: too few cases")
        for change in each.regressions:
            console.note(f"{each.eval_type}: {change.entity}: {change.message}")
    comparison.require_pairs()
    return NEGATIVE if comparison.regressed else 0


def add_eval_plan_command(commands: Commands) -> None:
    """Declare ``eval plan``."""
    parser = add_command(
        commands,
        "plan",
        "how many prompts a verdict needs",
        run=plan,
        about=(
            "Needs no model, no key and no library. The spread is the standard deviation of the "
            "difference between prompts; before anything is measured, 1 point is a good guess."
        ),
        examples=(
            "skillyard eval plan --effect 0.5",
            "skillyard eval plan --effect 1 --skills 12",
        ),
    )
    parser.add_argument(
        "--effect",
        metavar="POINTS",
        type=number,
        default=0.5,
        help="the difference to find, on the judge's scale of 1 to 5 (default: 0.5)",
    )
    parser.add_argument(
        "--skills",
        metavar="N",
        type=whole_number,
        help="skills that are evaluated together (default: 1)",
    )
    parser.add_argument(
        "--spread",
        metavar="POINTS",
        type=number,
        help="standard deviation of the difference between prompts (default: 1)",
    )
    parser.add_argument(
        "--margin",
        metavar="POINTS",
        type=number,
        help="conditions that differ by less are equivalent (default: 0.5)",
    )


def plan(args: Namespace, console: Console) -> int:
    """Print how many prompts a skill needs."""
    from skillyard.cli.eval_views import prompts_blocks
    from skillyard.evals.statistics.planning import prompts_needed

    if args.effect > _LARGEST_EFFECT:
        raise InvalidInput(
            f"--effect {args.effect:g}: on a scale of 1 to 5 no difference is larger than"
            f" {_LARGEST_EFFECT}"
        )
    given = {name: getattr(args, name) for name in ("skills", "spread", "margin")}
    values = {name: value for name, value in given.items() if value is not None}
    console.show(prompts_needed(args.effect, **values), prompts_blocks)
    return 0


def add_eval_group(commands: Commands) -> None:
    """Declare ``eval`` and its commands."""
    group = add_group(commands, "eval", "evaluation of skills with a model")
    add_eval_init_command(group)
    add_eval_plan_command(group)
    runs = add_group(group, "run", "run one layer of questions", "LAYER")
    add_eval_report_command(group)
    add_eval_compare_command(group)
    for layer in LAYERS.values():
        add_layer_command(runs, layer)
        add_layer_command(group, layer, hidden=True)  # its spelling up to 0.1
    for place in (runs, group):
        add_layer_command(place, replace(LAYERS["activation"], name="confusion"), hidden=True)
    add_eval_validate_rubrics_command(group)
    add_eval_baseline_command(group)


COMMANDS = {"eval": add_eval_group}
