"""Arguments of ``eval`` commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from skillyard.cli.options import file_path, folder, number, whole_number
from skillyard.cli.parser import CommandParser
from skillyard.evals.layers.registry import LAYERS

__all__ = [
    "LAYER_OPTIONS",
    "add_baselines_dir",
    "add_budget",
    "add_cases",
    "add_eval_type",
    "add_evals_dir",
    "add_gate",
    "add_output_dir",
    "add_results_dir",
    "add_run_options",
    "add_runs",
    "add_seed",
    "add_server",
]

REPORT_FORMATS = ("html", "md", "junit", "github")


def add_cases(parser: CommandParser) -> None:
    """Add the case files."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="*",
        default=[],
        type=file_path,
        help="case files or folders, instead of those in config.yaml",
    )


def _add_skill(parser: CommandParser) -> None:
    parser.add_argument("--skill", metavar="NAME", help="only the cases of this skill")


def _add_group(parser: CommandParser) -> None:
    parser.add_argument("--group", metavar="NAME", help="only this group")


def _add_index(parser: CommandParser) -> None:
    parser.add_argument(
        "--index",
        metavar="NAME",
        choices=("group", "library"),
        help="show the router the group, or the whole library (default: group)",
    )


def _add_in_skills(parser: CommandParser) -> None:
    parser.add_argument(
        "--in-skills",
        action="store_true",
        help="read the cases in the skills' own evals/ folders instead",
    )


def add_evals_dir(parser: CommandParser) -> None:
    """Add ``--evals-dir``."""
    parser.add_argument(
        "--evals-dir",
        metavar="DIR",
        type=folder,
        default="evals",
        help="the folder with config.yaml and the cases (default: evals)",
    )


def add_output_dir(parser: CommandParser) -> None:
    """Add ``--output-dir``."""
    parser.add_argument(
        "--output-dir",
        metavar="DIR",
        type=folder,
        help="folder of results and cached answers (default: results below the evals folder)",
    )


def add_results_dir(parser: CommandParser) -> None:
    """Add ``--results-dir``."""
    parser.add_argument(
        "--results-dir",
        metavar="DIR",
        type=folder,
        help="folder of results (default: results below the evals folder)",
    )


def add_baselines_dir(parser: CommandParser) -> None:
    """Add ``--baselines-dir``."""
    parser.add_argument(
        "--baselines-dir",
        metavar="DIR",
        type=folder,
        help="folder of baselines (default: baselines below the evals folder)",
    )


def add_eval_type(parser: CommandParser) -> None:
    """Add ``--eval-type``."""
    parser.add_argument(
        "--eval-type",
        metavar="NAME",
        choices=tuple(LAYERS),
        help="only this type",
    )


def add_gate(parser: CommandParser) -> None:
    """Add ``--gate``."""
    parser.add_argument(
        "--gate",
        action="store_true",
        help="exit with 1 when a result is worse than its baseline",
    )


def _add_router_options(parser: CommandParser) -> None:
    from skillyard.ranking.registry import BUILT_IN

    parser.add_argument(
        "--router",
        metavar="NAME",
        choices=(*sorted(BUILT_IN), "model"),
        help="what picks the skill: a scorer, or `model` (default: hybrid, which needs no model)",
    )
    parser.add_argument(
        "--top-k",
        metavar="K",
        type=whole_number,
        help="a scorer picks at most K skills (default: 1)",
    )
    parser.add_argument(
        "--min-score",
        metavar="X",
        type=number,
        help="lowest score that a scorer selects (default: its own)",
    )


def _add_judge_options(parser: CommandParser) -> None:
    parser.add_argument("--rejudge", action="store_true", help="judge every pair again")
    parser.add_argument(
        "--allow-scripts",
        action="store_true",
        help="run the scripts that checks of answers name; they run as you",
    )
    parser.add_argument(
        "--orders",
        metavar="NAME",
        choices=("both", "single"),
        help="judge each pair in both orders, or in one chosen at random (default: both)",
    )
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="FILE",
        type=file_path,
        help=(
            "pairs judged by people ({id, winner} a line), to compare the judge with; may repeat"
        ),
    )


def _add_verdict_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="pay for a run although its prompts are too few for any verdict",
    )
    parser.add_argument(
        "--until-decided",
        action="store_true",
        default=None,
        help="look at the results in between, and stop for a skill once its verdict is decided",
    )
    parser.add_argument(
        "--margin",
        metavar="POINTS",
        type=number,
        help="arms that differ by less are equivalent (default: 0.3 of the 1-5 scale)",
    )


LAYER_OPTIONS: Mapping[str, Callable[[CommandParser], None]] = {
    "skill": _add_skill,
    "group": _add_group,
    "index": _add_index,
    "in_skills": _add_in_skills,
    "router": _add_router_options,
    "judge": _add_judge_options,
    "verdict": _add_verdict_options,
}
"""By the name in ``options`` of a layer (:mod:`skillyard.evals.layers.registry`)."""


def add_server(parser: CommandParser) -> None:
    """Add the provider of models and its address."""
    parser.add_argument(
        "--provider",
        metavar="NAME",
        choices=("anthropic", "openai"),
        help="anthropic, or openai for every server of that protocol",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="use this server instead of the provider's own"
    )


def add_runs(parser: CommandParser) -> None:
    """Add ``--runs``."""
    parser.add_argument(
        "--runs", metavar="N", type=whole_number, help="repeat every case N times (default: 1)"
    )


def add_seed(parser: CommandParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number,
        help="seed of samples, slots and intervals (default: 42)",
    )


def add_budget(parser: CommandParser) -> None:
    """Add the limits of a run."""
    parser.add_argument(
        "--max-cost",
        metavar="USD",
        type=number,
        help="stop before spending more (US dollars), over all resumes of the run",
    )
    parser.add_argument(
        "--max-calls",
        metavar="N",
        type=whole_number,
        help="stop before sending more requests, over all resumes of the run",
    )
    parser.add_argument(
        "--concurrency", metavar="N", type=whole_number, help="requests in flight at a time"
    )


def add_run_options(parser: CommandParser) -> None:
    """Add what every run takes."""
    add_evals_dir(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan, what is cached, and the price; send no request",
    )
    parser.add_argument("--model", metavar="ID", help="the model that answers")
    parser.add_argument(
        "--judge-model", metavar="ID", help="the model that judges (default: --model)"
    )
    add_server(parser)
    add_runs(parser)
    add_seed(parser)
    add_output_dir(parser)
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, help="run only N cases, sampled by seed"
    )
    add_budget(parser)
    parser.add_argument("--regenerate", action="store_true", help="request every answer again")
    parser.add_argument(
        "--replay",
        action="store_true",
        help="use only cached answers, no network; with the settings of the last run",
    )
    parser.add_argument(
        "--resume",
        metavar="RUN",
        help="continue this run, with its settings; only limits and --concurrency may differ",
    )
    parser.add_argument(
        "--format",
        action="append",
        default=[],
        metavar="NAME",
        choices=REPORT_FORMATS,
        help="also write a report: html, md, junit or github; may repeat",
    )
    add_gate(parser)
    add_baselines_dir(parser)
