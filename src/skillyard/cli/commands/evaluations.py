"""``eval``: cases, plans, runs of the layers, comparisons and reports."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE, STOPPED, UNREACHED
from skillyard.cli.options import Option, command, flag, value, values, view_of, words
from skillyard.cli.source import load
from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.engine.skill import Origin
from skillyard.evals.layers.registry import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.engine.catalog import Catalog
    from skillyard.evals.layers.run import EvaluationResult
    from skillyard.evals.settings import EvalOptions
    from skillyard.evals.statistics.intervals import PromptPlan

_ORDERS, _PROVIDERS = ("both", "single"), ("anthropic", "openai")


def _choice(name: str, help: str, *choices: str, **more: Any) -> Option:
    return value(name, "NAME", help, choices=choices, **more)


_EVALS = value("--evals-dir", "DIR", "the folder with the cases (default: evals)", default="evals")
_BELOW = "below the evals folder"
_RESULTS = value("--results-dir", "DIR", f"folder of results (default: results {_BELOW})")
_BASELINES = value("--baselines-dir", "DIR", f"folder of baselines (default: baselines {_BELOW})")
_TYPE = _choice("--eval-type", f"only this type: {', '.join(LAYERS)}", *LAYERS)
_GATE = flag("--gate", "exit with 1 when a result is worse than its baseline")
_REPORTS = ("html", "md", "junit")

LAYER_OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "skill": (value("--skill", "NAME", "only the cases of this skill"),),
    "in_skills": (flag("--in-skills", "read the cases in the skills' own evals/ folders instead"),),
    "router": (
        _choice(
            "--router",
            "`model`, or a scorer as overlap (default: hybrid)",
            *sorted(BUILT_IN),
            "model",
        ),
        value("--top-k", "K", "a scorer picks at most K skills (default: 1)"),
        value("--min-score", "X", "lowest score that a scorer selects (default: its own)"),
    ),
    "old": (value("--old-version", "REF", "compare with the skill in this commit or folder"),),
    "agent": (
        _choice(
            "--sandbox",
            "an agent with a shell answers, in `docker` or `local`: on this machine",
            "docker",
            "local",
        ),
    ),
    "judge": (
        value("--judge-model", "ID", "the model that judges (default: --model)"),
        flag("--rejudge", "judge every pair again"),
        flag("--allow-scripts", "run the scripts that checks of answers name; they run as you"),
        _choice(
            "--orders", "judge each pair in `both` orders (default) or a `single` one", *_ORDERS
        ),
    ),
    "verdict": (
        flag("--anyway", "pay for a run although its prompts are too few for any verdict"),
        flag("--until-decided", "stop for a skill as soon as it is decided", default=None),
        value("--margin", "POINTS", "a smaller difference is none (default: 0.5 of 1-5)"),
    ),
}
"""By the name in ``options`` of a layer (:mod:`skillyard.evals.layers.registry`).

The destination of an option is a field of ``RunSettings`` or of ``EvalOptions``."""

_RUN_OPTIONS = (
    _EVALS,
    flag("--dry-run", "print the plan, what is cached, and the price; send no request"),
    value("--model", "ID", "the model that answers"),
    _choice("--provider", "anthropic, or openai for every server of that protocol", *_PROVIDERS),
    value("--base-url", "URL", "use this server instead of the provider's own"),
    value("--runs", "N", "repeat every case N times (default: 1)"),
    value("--seed", "N", "seed of samples, slots and intervals (default: 42)"),
    value("--output-dir", "DIR", f"folder of results (default: results {_BELOW})", dest="results"),
    value("--limit", "N", "run only N cases, sampled by seed"),
    value("--max-cost", "USD", "stop before spending more, over all resumes (default: 15)"),
    value("--max-calls", "N", "stop before sending more requests, over all resumes (default: 500)"),
    value("--concurrency", "N", "requests in flight at a time (default: 4)"),
    value("--timeout", "SECONDS", "of a request (default: 15 + 1 per 50 tokens)", dest="timeout_s"),
    flag("--regenerate", "request every answer again"),
    flag("--replay", "use only cached answers, no network; with the settings of the last run"),
    value("--resume", "RUN", "continue this run with its settings, but for limits and concurrency"),
    values("--format", "NAME", "also write html, md or junit; may repeat", choices=_REPORTS),
    _GATE,
    _BASELINES,
)
"""What every run of a layer takes."""


def _require_extra() -> None:
    """Raise InvalidInput where the extra ``eval`` is not installed, which reads all files."""
    if find_spec("pydantic") is None:
        raise InvalidInput(f"evaluations need pydantic: {install_command('eval')}")


def _beside_others(catalog: Catalog, args: Namespace, console: Console) -> Catalog:
    """Return the catalog; with the user's other skills, where --root has one skill alone."""
    if len(catalog) != 1 or args.scope or not args.root:
        return catalog
    from skillyard.evals.layers.activation import with_neighbours

    return with_neighbours(catalog, load(Namespace(root=[], scope=[]), console), console.note)


@command(
    "eval init",
    words("name", "NAME", "names, ids or slugs of skills (default: all below --root)"),
    _EVALS,
    value("--model", "ID", "the model of later runs (default: a terminal asks)"),
)
def init(args: Namespace, console: Console) -> None:
    """Write a case file for each skill, with a line for each prompt to write, and name the model.

    Writes <skill>.yaml, with the prompts that the skill ships and a placeholder for each further
    one, and skillyard.toml with the model. A run refuses a file with placeholders. Never overwrites
    a file.

        skillyard eval init git-bisect --root skills
        skillyard eval init git-bisect --root skills --model claude-haiku-4-5
    """
    _require_extra()
    from skillyard.cli.eval_views import case_file_blocks
    from skillyard.evals.cases import scaffolding
    from skillyard.evals.layers.work import diagnostic_line
    from skillyard.evals.models.calls import STAND_IN
    from skillyard.evals.operations.eval_runs import eval_config

    if not (args.name or args.root):
        raise InvalidInput("name a skill: skillyard eval init NAME; or all below a folder: --root")
    catalog = load(args, console)
    own = (each for each in catalog if each.origin != Origin.CONVENTION)
    skills = [*map(catalog.get, args.name)] or [*own]
    catalog = _beside_others(catalog, args, console)
    model, settings = eval_config(args.evals_dir).models.generation, ""
    if args.model or not model:
        by_default = STAND_IN if console.can_confirm else ""
        model = args.model or console.ask(scaffolding.model_question()) or by_default
        settings = scaffolding.write_model(args.evals_dir, model)
    files = [scaffolding.write_case_file(skill, catalog, args.evals_dir) for skill in skills]
    for each in (diagnostic for file in files for diagnostic in file.diagnostics):
        console.note(diagnostic_line(each))
    cases = scaffolding.CaseFiles(files, settings, model)
    console.show(cases, partial(case_file_blocks, options=_places(args)))


def _places(args: Namespace) -> str:
    """Return the options by which a run reads the same cases and the same skills."""
    from shlex import quote

    places = {"--root": args.root, "--scope": dict.fromkeys(args.scope)}
    words = [f" {name} {quote(value)}" for name, values in places.items() for value in values]
    if args.evals_dir != "evals":
        words.append(f" --evals-dir {quote(args.evals_dir)}")
    return "".join(words)


@view_of(
    "skillyard.evals.statistics.intervals:prompts_needed",
    "eval plan",
    value(
        "--effect", "POINTS", "the difference to find, on the judge's scale of 1 to 5", default=0.5
    ),
    value("--skills", "N", "skills that are evaluated together", default=1),
)
def prompts_blocks(needed: PromptPlan) -> Iterator[Block]:
    """How many prompts a verdict needs.

    Needs no model, no key and no library. It takes the standard deviation of the difference between
    prompts for 1 point.

        skillyard eval plan --effect 0.5
        skillyard eval plan --effect 1 --skills 12
    """
    among = f" among {plural(needed.skills, 'skill')}" if needed.skills > 1 else ""
    yield line(f"Prompts of each skill{among}:")
    find = "to find a difference of {} points 4 times in 5"
    equal = "to show that two conditions differ by less than 0.5 points"
    for count, purpose in (
        (needed.least, find.format(2)),
        (needed.to_find, find.format(f"{needed.effect:g}")),
        (needed.for_equivalence, equal),
    ):
        text = "more than 10,000" if count is None else f"{count:,}"
        yield line(Span(text, "name"), f"  {purpose}", indent=2)


def run_layer(eval_type: str, args: Namespace, console: Console) -> int:
    """Run a layer; 3 when it was stopped or entries were missing, 4 when nothing came of it."""
    _require_extra()
    from skillyard.base.io.platforms import stop_on_interrupt
    from skillyard.cli.eval_views import plan_blocks, result_blocks
    from skillyard.evals.operations.eval_runs import eval_plan, eval_run

    catalog, options = load(args, console), _options(args)
    if LAYERS[eval_type].routes:
        catalog = _beside_others(catalog, args, console)
    if args.dry_run:
        console.show(eval_plan(catalog, eval_type, options, warn=console.note), plan_blocks)
        return 0
    with stop_on_interrupt() as stop, console.progress("evaluating") as bar:

        def show(done: int, total: int, calls: int, cost: float) -> None:
            if bar is not None:
                paid = f", ${cost:.2f}" if cost else ""
                bar(done, total, f"{plural(calls, 'request')}{paid}" if calls else "")

        result = eval_run(catalog, eval_type, options, stop=stop, on_step=show, warn=console.note)
    reports: list[str] = []
    if args.format:
        from skillyard.evals.operations.eval_results import read_report, write_report

        source = read_report(
            args.evals_dir, [result.path], results=args.results, baselines=args.baselines_dir
        )
        reports = [write_report(source, format)[1] for format in dict.fromkeys(args.format)]
    if console.json:
        document = {name: result.envelope[name] for name in ("meta", "summary")}
        document |= {"cases": len(result.envelope["cases"]), "missing": list(result.missing)}
        files = {"path": result.path, "reports": reports}
        console.document({"schema": "skillyard.eval-run/1", **document, **files})
    else:
        console.print(*result_blocks(result, reports))
    return _code(result, args, console)


def run_confusion(args: Namespace, console: Console) -> int:
    """Run activation, which has the figures of this layer up to 0.1 as a table."""
    former = os.path.join(args.evals_dir, "datasets", "confusion")
    if not args.paths and os.path.isdir(former):
        args.paths = [former]
    return run_layer("activation", args, console)


def _declare_runs() -> None:
    about = (
        "Model answers are cached, so a second run, or a run after an interrupt, "
        "requests only what is missing. The exit code is 3 when a budget or an interrupt "
        "stopped the run, 4 when no case has a result."
    )
    paths = words("paths", "PATH", "case files or folders (default: those below the evals folder)")
    for layer in LAYERS.values():
        own = [option for group in layer.options for option in LAYER_OPTIONS[group]]
        doc = "\n\n".join((layer.question, about, "\n".join(layer.examples)))
        options = (paths, *own, *_RUN_OPTIONS)
        command(f"eval run {layer.command}", *options, doc=doc)(partial(run_layer, layer.name))
        if layer.name == "activation":
            command("eval run confusion", *options, doc=doc, hidden=True)(run_confusion)


_declare_runs()


def _options(args: Namespace) -> EvalOptions:
    from skillyard.evals.settings import EvalOptions, RunSettings

    arguments = vars(args)
    return EvalOptions(
        overrides={each.name: arguments.get(each.name) for each in fields(RunSettings)},
        **{
            each.name: arguments[each.name]
            for each in fields(EvalOptions)
            if each.name in arguments
        },
    )


def _code(result: EvaluationResult, args: Namespace, console: Console) -> int:
    meta = result.envelope["meta"]
    if result.missing:
        count, first = f"{len(result.missing):,} kept answers", result.missing[0]
        console.note(f"{count} are missing, and nobody was asked: {first} …; --json lists them")
    if meta["aborted"]:
        console.note(f"{meta['stop_message']}; `--resume {meta['run_id']}` goes on with it")
    if meta["aborted"] or result.missing:
        return STOPPED
    if not result.usable:
        console.note(
            "not measured: too few cases have a result; the errors are in the results file"
        )
        return UNREACHED
    return _gate(result, args, console) if args.gate else 0


def _gate(result: EvaluationResult, args: Namespace, console: Console) -> int:
    from skillyard.evals.operations.eval_results import eval_compare

    comparison = eval_compare(args.evals_dir, baselines=args.baselines_dir, path=result.path)
    for each in comparison.compared:
        for note in each.warnings():
            console.note(f"{each.eval_type}: {note}")
    comparison.require_pairs()
    return NEGATIVE if comparison.regressed else 0


@command(
    "eval report",
    words("results", "RESULTS", "results files (default: the latest of each type)"),
    _EVALS,
    _RESULTS,
    _BASELINES,
    _choice(
        "--format", "html (default), md, junit; text prints it", *_REPORTS, "text", default="html"
    ),
    value("--out", "FILE", "the file; - is standard output (default: below the reports folder)"),
)
def report(args: Namespace, console: Console) -> None:
    """Show what results say, and write a report of them.

    Prints a line a skill and writes an HTML report, with a page of all cases beside it. Results of
    a part of the cases, of a stopped run or of a stand-in server are used only where there are no
    others, or by name.

        skillyard eval report
        skillyard eval report --format text
        skillyard eval report --format md --out -
    """
    _require_extra()
    from skillyard.cli.eval_views import report_blocks
    from skillyard.evals.operations.eval_results import cases_page, read_report, write_report

    if args.format == "text" and (console.json or args.out not in (None, "-")):
        raise InvalidInput("--format text prints the report; --json and --out do not go with it")
    source = read_report(
        args.evals_dir, args.results, results=args.results_dir, baselines=args.baselines_dir
    )
    for note in source.notes:
        console.note(note)
    if args.format == "text":
        console.print(*report_blocks(source.report))
        return
    text, out = write_report(source, args.format, out=args.out)
    if not out:
        console.write(text)
    elif console.json:
        cases = cases_page(out) if args.format == "html" else None
        console.document({"schema": "skillyard.eval-report/1", "out": out, "cases": cases})
    else:
        blocks = report_blocks(source.report, whole=False)
        console.print(*blocks, line(Span(out, "name"), "  written"))


@command(
    "eval compare",
    flag("--save", "compare nothing, and save the latest results as the baselines"),
    words("runs", "RESULTS", "two results files of one type: compare the second with the first"),
    _EVALS,
    _RESULTS,
    _BASELINES,
    _TYPE,
    _GATE,
    _choice("--format", "text (default), md or junit", "text", "md", "junit", default="text"),
)
def compare(args: Namespace, console: Console) -> int:
    """Compare the latest results with their baselines.

    The exit code is 0 even when results are worse, unless --gate is given. The latest whole run of
    each type counts, not one that was stopped or limited. With --save it becomes the baseline;
    results of a stand-in cannot. Two results files are compared with each other instead.

        skillyard eval compare A.json B.json
        skillyard eval compare --save
        skillyard eval compare --gate --format md
    """
    _require_extra()
    from skillyard.cli.eval_views import changed_blocks
    from skillyard.evals.operations.eval_results import eval_compare, read_report, write_report

    if args.save:
        if args.gate or args.runs or args.format != "text":
            raise InvalidInput("--save compares nothing: leave out RESULTS, --gate and --format")
        return baseline(args, console)
    result = eval_compare(
        args.evals_dir,
        results=args.results_dir,
        baselines=args.baselines_dir,
        eval_type=args.eval_type,
        runs=args.runs,
    )
    if console.json:
        console.document(result.to_dict())
    else:
        for note in (each.note for each in result.compared if each.note):
            console.note(note)
        source = read_report(
            args.evals_dir,
            [each.path for each in result.compared],
            results=args.results_dir,
            compared=result.compared,
        )
        if args.format == "text":
            console.print(*changed_blocks(source.report))
        else:
            console.write(write_report(source, args.format, out="-")[0])
    if args.gate:
        result.require_pairs()
    return NEGATIVE if args.gate and result.regressed else 0


@command(
    "eval baseline",
    value("action", "ACTION", "save", choices=("save",)),
    _EVALS,
    _RESULTS,
    _BASELINES,
    _TYPE,
    hidden=True,
)
def baseline(args: Namespace, console: Console) -> int:
    """Save the latest results as baselines.

    The spelling up to 0.1 of `skillyard eval compare --save`.

        skillyard eval baseline save
    """
    _require_extra()
    from skillyard.evals.operations.eval_results import save_baselines

    result = save_baselines(
        args.evals_dir,
        results=args.results_dir,
        baselines=args.baselines_dir,
        eval_type=args.eval_type,
    )
    for note in result.notes:
        console.note(note)
    console.show(result, lambda saved: (line(Span(path, "name")) for path in saved.baselines))
    return 0


@command(
    "eval validate-rubrics",
    _EVALS,
    value("--rubrics-dir", "DIR", "the rubrics (default: rubrics below the evals folder)"),
    hidden=True,
)
def validate_rubrics(args: Namespace, console: Console) -> int:
    """Check rubrics for errors, a spelling up to 0.1.

    Prints every error with file, line and fix. The exit code is 1 when there is one.

        skillyard eval validate-rubrics --root skills
    """
    _require_extra()
    from skillyard.evals.layers.work import diagnostic_line
    from skillyard.evals.operations.eval_runs import read_rubrics

    data = read_rubrics(args.evals_dir, args.rubrics_dir, load(args, console))
    if console.json:
        valid = {"rubrics": len(data.cases), "valid": not data.errors}
        faults = [each.to_dict() for each in data.diagnostics]
        console.document({"schema": "skillyard.eval-rubrics/1", **valid, "diagnostics": faults})
    else:
        lines = (line(f"{each.severity}  {diagnostic_line(each)}") for each in data.diagnostics)
        console.print(*lines, line(plural(len(data.cases), "valid rubric")))
    return NEGATIVE if data.errors else 0
