"""Options of ``eval`` commands: a table of them, and those that a layer adds to its command."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.cli.options import file_path, folder, number, whole_number
from skillyard.cli.parser import CommandParser
from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.evals.layers.registry import LAYERS

REPORT_FORMATS = ("html", "md", "junit", "github")


def _flag(help: str, **more: Any) -> dict[str, Any]:
    return {"action": "store_true", "help": help, **more}


def _value(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    """Return an option that takes a value, as argparse takes it."""
    return {"metavar": metavar, "help": help, **more}


def _folder(help: str, **more: Any) -> dict[str, Any]:
    return _value("DIR", help, type=folder, **more)


def _choice(help: str, *choices: str, **more: Any) -> dict[str, Any]:
    return _value("NAME", help, choices=choices, **more)


def _list(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    return _value(metavar, help, nargs="*", default=[], **more)


OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "path": _list(
        "PATH", "case files or folders, instead of those in skillyard.toml", type=file_path
    ),
    "results": _list("RESULTS", "results files (default: the latest of each type)", type=file_path),
    "--evals-dir": _folder("the folder with the cases (default: evals)", default="evals"),
    "--output-dir": _folder(
        "folder of results and cached answers (default: results below the evals folder)"
    ),
    "--results-dir": _folder("folder of results (default: results below the evals folder)"),
    "--baselines-dir": _folder("folder of baselines (default: baselines below the evals folder)"),
    "--eval-type": _choice("only this type", *LAYERS),
    "--gate": _flag("exit with 1 when a result is worse than its baseline"),
    "--skill": _value("NAME", "only the cases of this skill"),
    "--in-skills": _flag("read the cases in the skills' own evals/ folders instead"),
    "--router": _choice(
        "what picks the skill: a scorer, or `model` (default: hybrid, which needs no model)",
        *sorted(BUILT_IN),
        "model",
    ),
    "--top-k": _value("K", "a scorer picks at most K skills (default: 1)", type=whole_number),
    "--min-score": _value(
        "X", "lowest score that a scorer selects (default: its own)", type=number
    ),
    "--rejudge": _flag("judge every pair again"),
    "--allow-scripts": _flag("run the scripts that checks of answers name; they run as you"),
    "--orders": _choice(
        "judge each pair in both orders, or in one chosen at random (default: both)",
        "both",
        "single",
    ),
    "--labels": _value(
        "FILE",
        "pairs judged by people ({id, winner} a line), to compare the judge with; may repeat",
        action="append",
        default=[],
        type=file_path,
    ),
    "--anyway": _flag("pay for a run although its prompts are too few for any verdict"),
    "--until-decided": _flag(
        "look at the results in between, and stop for a skill once its verdict is decided",
        default=None,
    ),
    "--margin": _value(
        "POINTS",
        "arms that differ by less are equivalent (default: 0.5 of the 1-5 scale)",
        type=number,
    ),
    "--dry-run": _flag("print the plan, what is cached, and the price; send no request"),
    "--model": _value("ID", "the model that answers"),
    "--judge-model": _value("ID", "the model that judges (default: --model)"),
    "--provider": _choice(
        "anthropic, or openai for every server of that protocol", "anthropic", "openai"
    ),
    "--base-url": _value("URL", "use this server instead of the provider's own"),
    "--runs": _value("N", "repeat every case N times (default: 1)", type=whole_number),
    "--seed": _value("N", "seed of samples, slots and intervals (default: 42)", type=whole_number),
    "--limit": _value("N", "run only N cases, sampled by seed", type=whole_number),
    "--max-cost": _value(
        "USD", "stop before spending more (US dollars), over all resumes of the run", type=number
    ),
    "--max-calls": _value(
        "N", "stop before sending more requests, over all resumes of the run", type=whole_number
    ),
    "--concurrency": _value("N", "requests in flight at a time", type=whole_number),
    "--regenerate": _flag("request every answer again"),
    "--replay": _flag("use only cached answers, no network; with the settings of the last run"),
    "--resume": _value(
        "RUN", "continue this run, with its settings; only limits and --concurrency may differ"
    ),
    "--format": _choice(
        "also write a report: html, md, junit or github; may repeat",
        *REPORT_FORMATS,
        action="append",
        default=[],
    ),
}
"""Arguments that are the same in every command that has them, as argparse takes them."""

LAYER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "skill": ("--skill",),
    "in_skills": ("--in-skills",),
    "router": ("--router", "--top-k", "--min-score"),
    "judge": ("--judge-model", "--rejudge", "--allow-scripts", "--orders", "--labels"),
    "verdict": ("--anyway", "--until-decided", "--margin"),
}
"""By the name in ``options`` of a layer (:mod:`skillyard.evals.layers.registry`)."""

RUN_OPTIONS = (
    *("--evals-dir", "--dry-run", "--model", "--provider", "--base-url"),
    *("--runs", "--seed", "--output-dir", "--limit", "--max-cost", "--max-calls"),
    *("--concurrency", "--regenerate", "--replay", "--resume", "--format", "--gate"),
    "--baselines-dir",
)
"""What every run of a layer takes."""


def require_extra() -> None:
    """Raise InvalidInput where the extra ``eval`` is not installed, which reads all files."""
    if find_spec("pydantic") is None:
        raise InvalidInput(f"evaluations need pydantic: {install_command('eval')}")


def add_options(parser: CommandParser, *names: str) -> None:
    """Add arguments of :data:`OPTIONS`, in this order."""
    for name in names:
        parser.add_argument(name, **OPTIONS[name])
