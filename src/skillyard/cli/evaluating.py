"""``eval``: runs of the four layers, comparisons, baselines, reports, and the first cases."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.cli.source import load
from skillyard.cli.stopping import stopping
from skillyard.errors import InvalidInput

if TYPE_CHECKING:
    from skillyard.evals.layers.running import Evaluated
    from skillyard.usecases.evaluating import EvalOptions

__all__ = [
    "activation",
    "baseline",
    "compare",
    "confusion",
    "effectiveness",
    "fake_llm",
    "init",
    "report",
    "size_impact",
    "suggest",
    "validate_rubrics",
]

NEGATIVE = 1
STOPPED = 3
NOTHING = 4
_LISTED = 20
"""Most missing entries that are named outside of JSON."""
_SETTINGS = (
    *("provider", "base_url", "model", "judge_model", "router", "index", "top_k", "min_score"),
    *("runs", "seed", "orders", "limit", "skill", "group", "max_cost", "max_calls", "concurrency"),
)
"""Options that are settings of a run, by the same name."""


def activation(values: Values, console: Console) -> int:
    """Run L3, or plan it."""
    return _layer("activation", values, console)


def confusion(values: Values, console: Console) -> int:
    """Run L4, or plan it."""
    return _layer("confusion", values, console)


def effectiveness(values: Values, console: Console) -> int:
    """Run L5, or plan it."""
    return _layer("effectiveness", values, console)


def size_impact(values: Values, console: Console) -> int:
    """Run L6, or plan it."""
    return _layer("size_impact", values, console)


def _layer(eval_type: str, values: Values, console: Console) -> int:
    """Run a layer; 3 when it was stopped or entries were missing, 4 when nothing came of it."""
    from skillyard.usecases.evaluating import eval_plan

    catalog = load(values, console)
    options = _options(values)
    if values.dry_run:
        planned = eval_plan(catalog, eval_type, options)
        if console.json:
            console.document(planned.to_dict())
        else:
            from skillyard.cli.eval_views import plan_blocks

            console.print(*plan_blocks(planned))
        return 0
    done = _run(eval_type, values, console, catalog, options)
    written = _reports(done, values)
    if console.json:
        console.document({**_head(done), "path": done.path, "reports": written})
    else:
        from skillyard.cli.eval_views import result_blocks

        console.print(*result_blocks(done, written))
    return _code(done, values, console)


def _run(
    eval_type: str, values: Values, console: Console, catalog: Any, options: EvalOptions
) -> Evaluated:
    from skillyard import __version__
    from skillyard.cli.eval_progress import eval_progress
    from skillyard.usecases.evaluating import eval_run

    stop = threading.Event()
    with stopping(stop), eval_progress(console) as step:
        return eval_run(
            catalog,
            eval_type,
            options,
            stop=stop,
            on_step=step,
            warn=console.note,
            engine_version=__version__,
        )


def _options(values: Values) -> EvalOptions:
    from skillyard.usecases.evaluating import EvalOptions

    return EvalOptions(
        evals_dir=values.evals_dir,
        paths=tuple(values.path),
        in_skills=getattr(values, "in_skills", False),
        results=values.output_dir,
        given={name: getattr(values, name, None) for name in _SETTINGS},
        resume=values.resume,
        replay=values.replay,
        regenerate=values.regenerate,
        rejudge=getattr(values, "rejudge", False),
        labels=tuple(getattr(values, "labels", ())),
    )


def _reports(done: Evaluated, values: Values) -> list[str]:
    from skillyard.usecases.eval_results import eval_report

    return [
        eval_report(
            values.evals_dir,
            [done.path],
            format,
            results=values.output_dir,
            baselines=values.baselines_dir,
        )[1]
        for format in dict.fromkeys(values.format)
    ]


def _head(done: Evaluated) -> dict[str, Any]:
    envelope = done.envelope
    return {
        "schema": "skillyard.eval-run/1",
        "meta": envelope["meta"],
        "summary": envelope["summary"],
        "cases": len(envelope["cases"]),
        "missing": list(done.missing),
    }


def _code(done: Evaluated, values: Values, console: Console) -> int:
    meta = done.envelope["meta"]
    if done.missing:
        console.note(f"{len(done.missing):,} kept answers are missing, and nobody was asked:")
        for path in done.missing[:_LISTED]:
            console.note(f"  {path}")
        if len(done.missing) > _LISTED:
            console.note(f"  and {len(done.missing) - _LISTED:,} more; --json lists all of them")
    if meta["aborted"]:
        console.note(f"{meta['stop_message']}; `--resume {meta['run_id']}` goes on with it")
        return STOPPED
    if done.missing:
        return STOPPED
    if not done.usable:
        console.note("no case has a result; the errors stand in the results file")
        return NOTHING
    return _gate(values, console, meta["eval_type"]) if values.gate else 0


def _gate(values: Values, console: Console, eval_type: str | None) -> int:
    from skillyard.usecases.eval_results import eval_compare

    found = eval_compare(
        values.evals_dir,
        results=values.output_dir,
        baselines=values.baselines_dir,
        eval_type=eval_type,
    )
    for each in found.compared:
        if each.refused:
            console.note(f"{each.eval_type}: not compared: {each.refused}")
        for change in each.regressions:
            console.note(f"{each.eval_type}: {change.entity}: {change.message}")
    return NEGATIVE if found.regressed else 0


def compare(values: Values, console: Console) -> int:
    """Print what changed against the baselines; 1 for a regression with ``--gate``."""
    from skillyard.usecases.eval_results import eval_compare, eval_report

    found = eval_compare(
        values.evals_dir,
        results=values.results_dir,
        baselines=values.baselines_dir,
        eval_type=values.eval_type,
    )
    if console.json:
        console.document(found.to_dict())
    elif values.format != "text":
        paths = [each.path for each in found.compared]
        text, _ = eval_report(
            values.evals_dir,
            paths,
            values.format,
            results=values.results_dir,
            baselines=values.baselines_dir,
            out="-",
        )
        if values.format == "github":
            _to_github(text, paths, values, console)
        else:
            console.write(text)
    else:
        from skillyard.cli.eval_views import compared_blocks

        console.print(*compared_blocks(found))
    return NEGATIVE if values.gate and found.regressed else 0


def _to_github(summary: str, paths: list[str], values: Values, console: Console) -> None:
    """Print workflow commands; the step's summary goes to the file that GitHub names."""
    import os

    from skillyard.usecases.eval_results import github_warnings

    commands = github_warnings(values.evals_dir, paths, baselines=values.baselines_dir)
    if commands:
        console.write(commands)
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(summary)


def report(values: Values, console: Console) -> int:
    """Write the report, and name it."""
    from skillyard.usecases.eval_results import eval_report

    text, out = eval_report(
        values.evals_dir,
        values.results,
        values.format,
        results=values.results_dir,
        baselines=values.baselines_dir,
        out=values.out,
    )
    if not out:
        console.write(text)
    elif console.json:
        console.document({"schema": "skillyard.eval-report/1", "out": out})
    else:
        from skillyard.cli.blocks import Span, line

        console.print(line(Span(out, "name"), "  written"))
    return 0


def validate_rubrics(values: Values, console: Console) -> int:
    """Print every fault of the rubrics; 1 when one is an error."""
    from skillyard.usecases.eval_results import check_rubrics

    found = check_rubrics(values.evals_dir, values.rubrics_dir, load(values, console))
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.eval_views import rubric_blocks

        console.print(*rubric_blocks(found))
    return 0 if found.valid else NEGATIVE


def baseline(values: Values, console: Console) -> int:
    """Keep baselines, or show them."""
    from skillyard.usecases.eval_results import baselines_kept, baselines_saved

    if values.action == "save":
        found = baselines_saved(
            values.evals_dir,
            results=values.results_dir,
            baselines=values.baselines_dir,
            eval_type=values.eval_type,
        )
    else:
        found = baselines_kept(
            values.evals_dir, baselines=values.baselines_dir, eval_type=values.eval_type
        )
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.eval_views import baseline_blocks

        console.print(*baseline_blocks(found))
    return 0


def init(values: Values, console: Console) -> int:
    """Write the first cases of a skill."""
    from skillyard.evals.cases.scaffolding import scaffold

    catalog = load(values, console)
    done = scaffold(catalog.get(values.name), catalog, values.evals_dir)
    if console.json:
        console.document(
            {
                "schema": "skillyard.eval-init/1",
                "written": list(done.written),
                "kept": list(done.kept),
            }
        )
    else:
        from skillyard.cli.eval_views import scaffold_blocks

        console.print(*scaffold_blocks(done))
    return 0


def suggest(values: Values, console: Console) -> int:
    """Print what would change when a skill is activated."""
    from skillyard.usecases.evaluating import eval_suggest

    found = eval_suggest(load(values, console), values.name, values.evals_dir, tuple(values.path))
    if console.json:
        console.document(found.to_dict())
    else:
        from skillyard.cli.eval_views import suggestion_blocks

        console.print(*suggestion_blocks(found))
    return 0


def fake_llm(values: Values, console: Console) -> int:
    """Serve until interrupted or terminated. Raises InvalidInput without the testkit."""
    import sys

    if find_spec("skillyard_testkit") is None:
        raise InvalidInput(
            "fake-llm is part of skillyard-testkit, which is not installed:"
            " pip install skillyard-testkit"
        )
    from skillyard_testkit.fake_llm.__main__ import serve

    arguments = ["--behaviour", values.behaviour]
    if values.latency_ms is not None:
        arguments += ["--latency-ms", str(values.latency_ms)]
    for fault in values.fault:
        arguments += ["--fault", fault]
    stop = threading.Event()
    with stopping(stop):
        try:
            return serve(arguments, sys.stdout, sys.stderr, stop, prog="skillyard fake-llm")
        except KeyboardInterrupt:
            return 0
