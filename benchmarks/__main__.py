"""``python -m benchmarks [NAME…]``: print ratios against named peers, and write them as JSON."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.corpus import shared_folder
from benchmarks.measure import SOURCE, Figure, Options, Skipped

NAMES = (
    "scan",
    "techniques",
    "scorers",
    "surfaces",
    "startup",
    "first-answer",
    "hook",
    "retrieval",
    "quality",
    "long_tasks",
    "feedback",
    "search",
    "federated",
    "serving",
    "load",
    "mcp",
    "evals",
    "evals_calls",
    "verdicts",
    "nodes",
    "scale",
)

BY_NAME = ("scale",)
"""Run only when they are named: they take an hour."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for name in options.names:
        if name not in NAMES:
            print(f"no benchmark named {name}; known: {', '.join(NAMES)}", file=sys.stderr)
            return 2
    sys.path.insert(0, str(SOURCE))  # this checkout, whatever is installed
    if options.markdown:
        print("\n".join(_job("choices").table()))
        return 0
    settings = Options(
        shared_folder(options.shared), options.rounds, options.keep, options.importtime
    )
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}")
    print("processor time; ratio: median (lowest–highest) over alternated rounds")
    names = options.names or [name for name in NAMES if name not in BY_NAME]
    written = {name: _run(name, settings) for name in names}
    if options.json:
        document = {"python": platform.python_version(), "jobs": written}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:12} {_job(name).SUMMARY}" for name in NAMES)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Print how our work compares with a named peer in the same run.",
        epilog=f"names (default: all)\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="which benchmarks to run")
    parser.add_argument("--rounds", type=_positive, help="alternated rounds (default: by job)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures as JSON")
    parser.add_argument("--shared", metavar="DIR", help="corpus, queries (SKILLYARD_SHARED)")
    parser.add_argument("--keep", action="store_true", help="keep the skills written out")
    parser.add_argument("--importtime", action="store_true", help="startup: the dearest imports")
    parser.add_argument("--markdown", action="store_true", help="README's table of quality alone")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _job(name: str) -> Any:
    return import_module(f"benchmarks.{name.replace('-', '_')}")


def _run(name: str, options: Options) -> dict[str, Any]:
    """Run one job, print each figure as it comes, and return them for the JSON file."""
    print(f"\n{name}: {_job(name).SUMMARY}")
    figures = []
    try:
        for figure in _job(name).run(options):
            figures.append(figure.to_dict())
            _show(figure)
    except Skipped as reason:
        print(f"  skipped: {reason}")
        return {"skipped": str(reason), "figures": figures}
    return {"figures": figures}


def _show(figure: Figure) -> None:
    head = f"  {figure.what}"
    if figure.ratios is not None:
        head = f"{head:76} {figure.ratios}"
        if figure.target is not None:
            head += f"   limit {figure.target:g}x: {figure.verdict}"
    print(head)
    print(f"      ours  {figure.ours}" if figure.peer else f"      {figure.ours}")
    if figure.peer:
        print(f"      peer  {figure.peer}")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
