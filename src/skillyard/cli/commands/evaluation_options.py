"""Arguments of ``eval`` commands."""

from __future__ import annotations

from skillyard.cli.options import file_path, folder, number, whole_number
from skillyard.cli.parser import CommandParser

__all__ = [
    "add_baselines_dir",
    "add_cases",
    "add_eval_type",
    "add_evals_dir",
    "add_gate",
    "add_in_skills",
    "add_judge_options",
    "add_results_dir",
    "add_router_options",
    "add_run_options",
    "add_skill",
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


def add_skill(parser: CommandParser) -> None:
    """Add ``--skill``."""
    parser.add_argument("--skill", metavar="NAME", help="only the cases of this skill")


def add_in_skills(parser: CommandParser) -> None:
    """Add ``--in-skills``."""
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


def _add_output_dir(parser: CommandParser) -> None:
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
        choices=("activation", "confusion", "effectiveness", "size_impact"),
        help="only this type",
    )


def add_gate(parser: CommandParser) -> None:
    """Add ``--gate``."""
    parser.add_argument(
        "--gate",
        action="store_true",
        help="exit with 1 when a result is worse than its baseline",
    )


def add_router_options(parser: CommandParser) -> None:
    """Add what says how a skill is picked."""
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


def add_judge_options(parser: CommandParser) -> None:
    """Add what says how answers are judged."""
    parser.add_argument("--rejudge", action="store_true", help="judge every pair again")
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
    parser.add_argument(
        "--provider",
        metavar="NAME",
        choices=("anthropic", "openai"),
        help="anthropic, or openai for every server of that protocol",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="use this server instead of the provider's own"
    )
    parser.add_argument(
        "--runs", metavar="N", type=whole_number, help="repeat every case N times (default: 1)"
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number,
        help="seed of samples, slots and intervals (default: 42)",
    )
    _add_output_dir(parser)
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, help="run only N cases, sampled by seed"
    )
    parser.add_argument(
        "--max-cost", metavar="USD", type=number, help="stop before spending more (US dollars)"
    )
    parser.add_argument(
        "--max-calls", metavar="N", type=whole_number, help="stop before sending more requests"
    )
    parser.add_argument(
        "--concurrency", metavar="N", type=whole_number, help="requests in flight at a time"
    )
    parser.add_argument("--regenerate", action="store_true", help="request every answer again")
    parser.add_argument("--replay", action="store_true", help="use only cached answers, no network")
    parser.add_argument("--resume", metavar="RUN", help="continue this run, with its settings")
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
