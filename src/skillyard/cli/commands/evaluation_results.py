"""``eval``: comparisons, reports, baselines and cases."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.commands.evaluation_options import (
    REPORT_FORMATS,
    add_baselines_dir,
    add_cases,
    add_eval_type,
    add_evals_dir,
    add_gate,
    add_results_dir,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import file_path, folder
from skillyard.cli.parser import add_command
from skillyard.cli.source import load

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_eval_compare_command(commands: Commands) -> None:
    """Declare ``eval compare``."""
    parser = add_command(
        commands,
        "compare",
        "compare the latest results with their baselines",
        run=compare,
        about="The exit code is 0 even when results are worse, unless --gate is given.",
        examples=("skillyard eval compare", "skillyard eval compare --gate --format github"),
    )
    add_evals_dir(parser)
    add_results_dir(parser)
    add_baselines_dir(parser)
    add_eval_type(parser)
    add_gate(parser)
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=("text", "md", "junit", "github"),
        default="text",
        help="how to print: text, md, junit or github (default: text)",
    )


def compare(args: Namespace, console: Console) -> int:
    """Print what changed against the baselines; 1 for a regression with ``--gate``."""
    from skillyard.usecases.eval_results import eval_compare, eval_report

    result = eval_compare(
        args.evals_dir,
        results=args.results_dir,
        baselines=args.baselines_dir,
        eval_type=args.eval_type,
    )
    if console.json:
        console.document(result.to_dict())
    elif args.format != "text":
        paths = [each.path for each in result.compared]
        text, _ = eval_report(
            args.evals_dir,
            paths,
            args.format,
            results=args.results_dir,
            baselines=args.baselines_dir,
            out="-",
        )
        if args.format == "github":
            _to_github(text, paths, args, console)
        else:
            console.write(text)
    else:
        from skillyard.cli.eval_views import compared_blocks

        console.print(*compared_blocks(result))
    return NEGATIVE if args.gate and result.regressed else 0


def _to_github(summary: str, paths: list[str], args: Namespace, console: Console) -> None:
    """Print workflow commands; the step's summary goes to the file that GitHub names."""
    import os

    from skillyard.usecases.eval_results import github_warnings

    commands = github_warnings(args.evals_dir, paths, baselines=args.baselines_dir)
    if commands:
        console.write(commands)
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(summary)


def add_eval_report_command(commands: Commands) -> None:
    """Declare ``eval report``."""
    parser = add_command(
        commands,
        "report",
        "write a report of results: one HTML file, or Markdown, JUnit, GitHub",
        run=report,
        examples=("skillyard eval report", "skillyard eval report --format md --out -"),
    )
    parser.add_argument(
        "results",
        metavar="RESULTS",
        nargs="*",
        default=[],
        type=file_path,
        help="results files (default: the latest of each type)",
    )
    add_evals_dir(parser)
    add_results_dir(parser)
    add_baselines_dir(parser)
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=REPORT_FORMATS,
        default="html",
        help="html, md, junit or github (default: html)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=file_path,
        help="the file to write; - is standard output (default: below the reports folder)",
    )


def report(args: Namespace, console: Console) -> int:
    """Write the report, and name it."""
    from skillyard.usecases.eval_results import eval_report

    text, out = eval_report(
        args.evals_dir,
        args.results,
        args.format,
        results=args.results_dir,
        baselines=args.baselines_dir,
        out=args.out,
    )
    if not out:
        console.write(text)
    elif console.json:
        console.document({"schema": "skillyard.eval-report/1", "out": out})
    else:
        from skillyard.cli.blocks import Span, line

        console.print(line(Span(out, "name"), "  written"))
    return 0


def add_eval_validate_rubrics_command(commands: Commands) -> None:
    """Declare ``eval validate-rubrics``."""
    parser = add_command(
        commands,
        "validate-rubrics",
        "check rubrics for errors",
        run=validate_rubrics,
        about="Prints every error with file, line and fix. The exit code is 1 when there is one.",
        examples=("skillyard eval validate-rubrics --root skills",),
    )
    add_evals_dir(parser)
    parser.add_argument(
        "--rubrics-dir",
        metavar="DIR",
        type=folder,
        help="the rubrics (default: rubrics below the evals folder)",
    )


def validate_rubrics(args: Namespace, console: Console) -> int:
    """Print every fault of the rubrics; 1 when one is an error."""
    from skillyard.usecases.eval_results import check_rubrics

    result = check_rubrics(args.evals_dir, args.rubrics_dir, load(args, console))
    from skillyard.cli.eval_views import rubric_blocks

    console.show(result, rubric_blocks)
    return 0 if result.valid else NEGATIVE


def add_eval_baseline_command(commands: Commands) -> None:
    """Declare ``eval baseline``."""
    parser = add_command(
        commands,
        "baseline",
        "save the latest results as baselines, or show the baselines",
        run=baseline,
        about="Refuses results of runs that were stopped, limited, or answered by a stand-in.",
        examples=("skillyard eval baseline save",),
    )
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=("save", "show"),
        help="save or show (default: show)",
    )
    add_evals_dir(parser)
    add_results_dir(parser)
    add_baselines_dir(parser)
    add_eval_type(parser)


def baseline(args: Namespace, console: Console) -> int:
    """Keep baselines, or show them."""
    from skillyard.usecases.eval_results import save_baselines, stored_baselines

    if args.action == "save":
        result = save_baselines(
            args.evals_dir,
            results=args.results_dir,
            baselines=args.baselines_dir,
            eval_type=args.eval_type,
        )
    else:
        result = stored_baselines(
            args.evals_dir, baselines=args.baselines_dir, eval_type=args.eval_type
        )
    from skillyard.cli.eval_views import baseline_blocks

    console.show(result, baseline_blocks)
    return 0


def add_eval_init_command(commands: Commands) -> None:
    """Declare ``eval init``."""
    parser = add_command(
        commands,
        "init",
        "write first cases for a skill, to be edited",
        run=init,
        about=(
            "Writes a rubric, requests that should and should not activate the skill, and a "
            "candidate. Never overwrites a file."
        ),
        examples=("skillyard eval init git-bisect --root skills",),
    )
    parser.add_argument("name", metavar="NAME", help="name, id or slug of the skill")
    add_evals_dir(parser)


def init(args: Namespace, console: Console) -> int:
    """Write the first cases of a skill."""
    from skillyard.evals.cases.scaffolding import scaffold

    catalog = load(args, console)
    done = scaffold(catalog.get(args.name), catalog, args.evals_dir)
    if console.json:
        console.document(
            {
                "schema": "skillyard.eval-init/1",
                "written": list(done.written),
                "kept": list(done.existing),
            }
        )
    else:
        from skillyard.cli.eval_views import scaffold_blocks

        console.print(*scaffold_blocks(done))
    return 0


def add_eval_suggest_command(commands: Commands) -> None:
    """Declare ``eval suggest``."""
    parser = add_command(
        commands,
        "suggest",
        "suggest changes that make a skill activate when it should, and only then",
        run=suggest,
        examples=("skillyard eval suggest git-bisect --root skills",),
    )
    parser.add_argument("name", metavar="NAME", help="name, id or slug of the skill")
    add_cases(parser)
    add_evals_dir(parser)


def suggest(args: Namespace, console: Console) -> int:
    """Print what would change when a skill is activated."""
    from skillyard.usecases.eval_runs import eval_suggest

    result = eval_suggest(load(args, console), args.name, args.evals_dir, tuple(args.path))
    from skillyard.cli.eval_views import suggestion_blocks

    console.show(result, suggestion_blocks)
    return 0
