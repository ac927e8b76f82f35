"""How well each scorer finds the judged skills: ``skillyard bench run``, scored by score.py.

For information: quality is not a ratio and has no peer here. Every scorer answers the shared
development queries over the whole shared corpus; ``score.py`` beside them judges the runs.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.corpus import corpus_file
from benchmarks.measure import Figure, Options, Skipped, child_environment, duration, run_child

SUMMARY = "nDCG@10, hit@1 and recall@10 of every scorer on the development queries"
MEASURES = ("ndcg@10", "hit@1", "recall@10")


def run(options: Options) -> Iterator[Figure]:
    from skillyard.engine.ranking.registry import scorer_names

    queries = options.shared / "bench" / "dev_queries.jsonl"
    judge = options.shared / "bench" / "score.py"
    for needed in (corpus_file(options.shared), queries, judge):
        if not needed.is_file():
            raise Skipped(f"{needed} is absent")
    if importlib.util.find_spec("skillyard.__main__") is None:
        raise Skipped("there is no command line to run: skillyard.__main__ is absent")
    score = _load(judge)
    judged = score.load_queries([str(queries)])
    with tempfile.TemporaryDirectory() as folder:
        environment = child_environment(str(Path(folder, "bytecode")))
        for name in scorer_names():
            out = Path(folder, f"{name}.json")
            yield _scored(
                name, corpus_file(options.shared), queries, out, environment, score, judged
            )


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("shared_score", path)
    if spec is None or spec.loader is None:
        raise Skipped(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _scored(
    name: str,
    skills: Path,
    queries: Path,
    out: Path,
    environment: Mapping[str, str],
    score: ModuleType,
    judged: Mapping[str, Any],
) -> Figure:
    command = [sys.executable, "-m", "skillyard", "bench", "run", "--skills", str(skills)]
    command += ["--queries", str(queries), "--scorer", name, "--out", str(out)]
    try:
        took = run_child(command, environment)
    except RuntimeError as error:
        return Figure(name, f"no run: {error}")
    answered = json.loads(out.read_text("utf-8"))
    summary = score.summary(*score.evaluate(judged, answered))
    low, high = summary["ndcg@10_ci95"]
    figures = ", ".join(f"{measure} {summary[measure]:.3f}" for measure in MEASURES)
    return Figure(
        name,
        f"{figures}; 95% of nDCG {low:.3f}–{high:.3f}; {summary['n']} queries, "
        f"{duration(took.cpu_s)} of processor time in all",
    )
