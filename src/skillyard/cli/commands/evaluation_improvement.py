"""``eval improve``: a better description for a skill, judged before it is written."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.commands.evaluation_options import BUDGET_OPTIONS, LAYER_OPTIONS, add_options
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import whole_number
from skillyard.cli.parser import add_command
from skillyard.cli.source import load

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.usecases.improvement import ImproveOptions

_SETTINGS = (
    *("provider", "base_url", "model", "router", "top_k", "min_score", "runs", "seed"),
    *("max_cost", "max_calls", "concurrency"),
)
"""Options that are settings of a run, by the same name."""
_MODEL_PROPOSALS = 3


def add_eval_improve_command(commands: Commands) -> None:
    """Declare ``eval improve``."""
    parser = add_command(
        commands,
        "improve",
        "propose a better description, and test it on cases that it was not made from",
        run=improve,
        about=(
            "Splits the activation cases into two halves. Proposals are made from the first half, "
            "and the best one is chosen there. Only this one is judged on the held-out half, so "
            "the verdict is not about the cases from which the proposal was made. The verdict is "
            "better, worse or cannot tell; the two statements together err in at most 5 % of the "
            "runs. Without --model and --router model no model is asked. The exit code is 1 when "
            "--write wrote nothing."
        ),
        examples=(
            "skillyard eval improve git-bisect --root skills",
            "skillyard eval improve git-bisect --root skills --write",
        ),
    )
    parser.add_argument("name", metavar="NAME", help="name, id or slug of the skill")
    add_options(parser, "path", "--in-skills", "--evals-dir")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the halves, the proposals and the price; send no request",
    )
    add_options(parser, *LAYER_OPTIONS["router"])
    parser.add_argument(
        "--model",
        metavar="ID",
        help="also let this model write proposals; with --router model it picks the skills too",
    )
    parser.add_argument(
        "--proposals",
        metavar="N",
        type=whole_number,
        default=_MODEL_PROPOSALS,
        help=f"the most descriptions that --model writes (default: {_MODEL_PROPOSALS})",
    )
    add_options(parser, "--provider", "--base-url", "--runs", "--seed", "--output-dir")
    add_options(parser, *BUDGET_OPTIONS, "--regenerate")
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the description to SKILL.md if the verdict is better",
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="with --write: write the proposal although the verdict is not better",
    )


def improve(args: Namespace, console: Console) -> int:
    """Print a proposal with its verdict; 1 when it was to be written and was not."""
    from skillyard.cli.improvement_views import improvement_blocks, improvement_plan_blocks
    from skillyard.cli.interrupts import stop_on_interrupt
    from skillyard.evals.models.protocol import RunStopped
    from skillyard.usecases import improvement

    catalog = load(args, console)
    options = _options(args)
    if args.dry_run:
        planned = improvement.plan_improvement(catalog, args.name, options, warn=console.note)
        console.show(planned, improvement_plan_blocks)
        return 0
    try:
        with stop_on_interrupt() as stop:
            result = improvement.improve(catalog, args.name, options, stop=stop, warn=console.note)
    except RunStopped as stopped:
        console.note(f"{stopped}; answers are cached, so another run goes on from here")
        return INTERRUPTED
    console.show(result, improvement_blocks)
    return NEGATIVE if args.write and not result.written else 0


def _options(args: Namespace) -> ImproveOptions:
    from skillyard.usecases.eval_runs import EvalOptions
    from skillyard.usecases.improvement import ImproveOptions

    run = EvalOptions(
        evals_dir=args.evals_dir,
        paths=tuple(args.path),
        in_skills=args.in_skills,
        results=args.output_dir,
        overrides={name: getattr(args, name) for name in _SETTINGS},
        regenerate=args.regenerate,
    )
    proposals = args.proposals if args.model is not None else 0
    return ImproveOptions(run, proposals, args.write, args.anyway)
