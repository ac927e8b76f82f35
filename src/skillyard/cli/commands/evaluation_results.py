"""``eval``: comparisons, reports, baselines and cases."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.cli.commands.evaluation_options import REPORT_FORMATS, add_options, require_extra
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import file_path, folder
from skillyard.cli.parser import add_command
from skillyard.cli.source import load

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.evals.report.report import Report


def add_eval_compare_command(commands: Commands) -> None:
    """Declare ``eval compare``."""
    parser = add_command(
        commands,
        "compare",
        "compare the latest results with their baselines",
        run=compare,
        about=(
            "The exit code is 0 even when results are worse, unless --gate is given. The latest "
            "whole run of each type counts, not one that was stopped or limited. With --save it "
            "becomes the baseline; results of a stand-in cannot. Two results files are compared "
            "with each other instead."
        ),
        examples=(
            "skillyard eval compare A.json B.json",
            "skillyard eval compare --save",
            "skillyard eval compare --gate --format github",
        ),
    )
    parser.add_argument(
        "--save",
        action="store_true",
        help="compare nothing, and save the latest results as the baselines",
    )
    parser.add_argument(
        "runs",
        metavar="RESULTS",
        nargs="*",
        default=[],
        type=file_path,
        help="two results files of one type: compare the second with the first, not a baseline",
    )
    add_options(parser, "--evals-dir", "--results-dir", "--baselines-dir", "--eval-type", "--gate")
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=("text", "md", "junit", "github"),
        default="text",
        help="how to print: text, md, junit or github (default: text)",
    )


def compare(args: Namespace, console: Console) -> int:
    """Print what changed against the baselines; 1 for a regression with ``--gate``."""
    require_extra()
    if args.save:
        return _save(args, console)
    from skillyard.evals.operations.eval_results import eval_compare, read_report, write_report

    result = eval_compare(
        args.evals_dir,
        results=args.results_dir,
        baselines=args.baselines_dir,
        eval_type=args.eval_type,
        runs=args.runs,
    )
    if console.json:
        console.document(result.to_dict())
    elif args.format != "text":
        for each in result.compared:
            if each.note:
                console.note(each.note)
        source = read_report(
            args.evals_dir,
            [each.path for each in result.compared],
            results=args.results_dir,
            compared=result.compared,
        )
        text, _ = write_report(source, args.format, out="-")
        if args.format == "github":
            _to_github(source.report, text, console)
        else:
            console.write(text)
    else:
        from skillyard.cli.eval_views import compared_blocks

        console.print(*compared_blocks(result))
    if args.gate:
        result.require_pairs()
    return NEGATIVE if args.gate and result.regressed else 0


def _save(args: Namespace, console: Console) -> int:
    """Save the latest results as baselines, and name them."""
    also = getattr(args, "gate", False), getattr(args, "format", "text") != "text"
    if any(also) or getattr(args, "runs", []):
        raise InvalidInput("--save compares nothing: leave out RESULTS, --gate and --format")
    from skillyard.cli.eval_views import baseline_blocks
    from skillyard.evals.operations.eval_results import save_baselines

    result = save_baselines(
        args.evals_dir,
        results=args.results_dir,
        baselines=args.baselines_dir,
        eval_type=args.eval_type,
    )
    for note in result.notes:
        console.note(note)
    console.show(result, baseline_blocks)
    return 0


def add_eval_baseline_command(commands: Commands) -> None:
    """Declare ``eval baseline``, a spelling up to 0.1."""
    parser = add_command(
        commands,
        "baseline",
        "save the latest results as baselines, or show the baselines",
        run=baseline,
        about="The same as `skillyard eval compare --save`; without `save` it names the baselines.",
        examples=("skillyard eval baseline save",),
        hidden=True,
    )
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=("save", "show"),
        help="save or show (default: show)",
    )
    add_options(parser, "--evals-dir", "--results-dir", "--baselines-dir", "--eval-type")


def baseline(args: Namespace, console: Console) -> int:
    """Save baselines, or name them."""
    require_extra()
    if args.action == "save":
        return _save(args, console)
    from skillyard.cli.eval_views import baseline_blocks
    from skillyard.evals.operations.eval_results import stored_baselines

    console.show(stored_baselines(args.evals_dir, args.baselines_dir), baseline_blocks)
    return 0


def add_eval_validate_rubrics_command(commands: Commands) -> None:
    """Declare ``eval validate-rubrics``, a spelling up to 0.1."""
    parser = add_command(
        commands,
        "validate-rubrics",
        "check rubrics for errors",
        run=validate_rubrics,
        about="Prints every error with file, line and fix. The exit code is 1 when there is one.",
        examples=("skillyard eval validate-rubrics --root skills",),
        hidden=True,
    )
    add_options(parser, "--evals-dir")
    parser.add_argument(
        "--rubrics-dir",
        metavar="DIR",
        type=folder,
        help="the rubrics (default: rubrics below the evals folder)",
    )


def validate_rubrics(args: Namespace, console: Console) -> int:
    """Print every fault of the rubrics; 1 when one is an error."""
    require_extra()
    from skillyard.cli.eval_views import rubric_blocks
    from skillyard.evals.operations.eval_runs import check_rubrics

    result = check_rubrics(args.evals_dir, args.rubrics_dir, load(args, console))
    console.show(result, rubric_blocks)
    return 0 if result.valid else NEGATIVE


def _to_github(report: Report, summary: str, console: Console) -> None:
    """Print workflow commands; the step's summary goes to the file that GitHub names."""
    import os

    from skillyard.evals.report.render import workflow_warnings

    commands = workflow_warnings(report)
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
        "show what results say, and write a report of them",
        run=report,
        about=(
            "Prints a line a skill and writes an HTML report, with a page of all cases beside it. "
            "Results of a part of the cases, of a stopped run or of a stand-in server are used "
            "only where there are no others, or by name."
        ),
        examples=(
            "skillyard eval report",
            "skillyard eval report --format text",
            "skillyard eval report --format md --out -",
        ),
    )
    add_options(parser, "results", "--evals-dir", "--results-dir", "--baselines-dir")
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=(*REPORT_FORMATS, "text"),
        default="html",
        help="html, md, junit, github, or text to print it all (default: html)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=file_path,
        help="the file to write; - is standard output (default: below the reports folder)",
    )


def report(args: Namespace, console: Console) -> int:
    """Print what the results say, write the report, and name it."""
    require_extra()
    from skillyard.cli.blocks import Span, line
    from skillyard.cli.report_views import answer_blocks, report_blocks
    from skillyard.evals.operations.eval_results import cases_page, read_report, write_report

    if args.format == "text" and (console.json or args.out not in (None, "-")):
        raise InvalidInput("--format text prints the report; --json and --out do not go with it")
    source = read_report(
        args.evals_dir,
        args.results,
        results=args.results_dir,
        baselines=args.baselines_dir,
    )
    for note in source.notes:
        console.note(note)
    if args.format == "text":
        console.print(*report_blocks(source.report))
        return 0
    text, out = write_report(source, args.format, out=args.out)
    if not out:
        console.write(text)
    elif console.json:
        cases = cases_page(out) if args.format == "html" else None
        console.document({"schema": "skillyard.eval-report/1", "out": out, "cases": cases})
    else:
        console.print(*answer_blocks(source.report), line(Span(out, "name"), "  written"))
    return 0


def add_eval_init_command(commands: Commands) -> None:
    """Declare ``eval init``."""
    parser = add_command(
        commands,
        "init",
        "write a case file for each skill, with a line for each prompt to write",
        run=init,
        about=(
            "Writes <skill>.yaml, with the prompts that the skill ships and a placeholder for "
            "each further one. A run refuses a file with placeholders. Never overwrites a file."
        ),
        examples=("skillyard eval init git-bisect --root skills", "skillyard eval init"),
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="*",
        default=[],
        help="names, ids or slugs of skills (default: all skills)",
    )
    add_options(parser, "--evals-dir")


def init(args: Namespace, console: Console) -> int:
    """Write a case file for each skill."""
    require_extra()
    from skillyard.evals.cases.scaffolding import init_skills, write_case_file
    from skillyard.evals.layers.work import diagnostic_line

    catalog = load(args, console)
    skills = init_skills(catalog, args.name)
    files = [write_case_file(skill, catalog, args.evals_dir) for skill in skills]
    for each in (diagnostic for file in files for diagnostic in file.diagnostics):
        console.note(diagnostic_line(each))
    if console.json:
        console.document(
            {
                "schema": "skillyard.eval-init/1",
                "written": [file.path for file in files if file.is_new],
                "kept": [file.path for file in files if not file.is_new],
                "files": [file.to_dict() for file in files if file.is_new],
            }
        )
    else:
        from skillyard.cli.eval_views import case_file_blocks

        console.print(*case_file_blocks(files, _run_command(args)))
    return 0


def _run_command(args: Namespace) -> str:
    """Return the command that runs the cases of the same folder with the same skills."""
    from shlex import quote

    profile = [args.library_profile] if args.library_profile else []
    places = {"--root": args.root, "--scope": dict.fromkeys(args.scope), "--profile": profile}
    words = ["skillyard eval run activation"]
    words += [f"{name} {quote(value)}" for name, values in places.items() for value in values]
    if args.evals_dir != "evals":
        words.append(f"--evals-dir {quote(args.evals_dir)}")
    return " ".join(words)
