"""``python -m benchmarks.regression``: does ``hybrid`` rank as well as the stored run says it did?

Ranks the pool for the development queries and for our own long tasks, and compares with
``baseline/hybrid.run.json``, query by query. Exit code 1 when quality dropped: by more than chance
explains, or a mean by more than the tolerance. ``--update`` stores the new run instead.

Beside each figure stands the same one with every skill scored by a table that was made without its
repository, from the run that ``training.left_out`` stored (it takes half an hour of training).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.corpus import corpus_file, shared_folder
from benchmarks.measure import SOURCE

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "baseline" / "hybrid.run.json"
LEFT_OUT = HERE / "baseline" / "left_out.run.json"
LONG_TASKS = HERE.parent / "training" / "data" / "long_tasks.jsonl"
KEPT = 10
"""Skills of the stored run for each query: as many as the measures look at."""
TOLERANCE = "0.01"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", metavar="DIR", help="corpus and queries (SKILLYARD_SHARED)")
    parser.add_argument("--update", action="store_true", help="store the new run")
    parser.add_argument("--report", metavar="FILE", help="write the HTML report too")
    options = parser.parse_args(arguments)
    shared = shared_folder(options.shared)
    if not corpus_file(shared).is_file():
        print(f"skipped: the corpus is absent: {corpus_file(shared)}")
        return 0
    sys.path.insert(0, str(SOURCE))
    from skillyard.cli import main as skillyard

    queries = [str(shared / "bench" / "dev_queries.jsonl"), str(LONG_TASKS)]
    judged = [word for path in queries for word in ("--queries", path)]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "new.run.json")
        queries_file = os.path.join(folder, "queries.jsonl")
        lines = [Path(path).read_text(encoding="utf-8").strip() for path in queries]
        Path(queries_file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        code = skillyard(
            [
                "bench",
                "run",
                "--scorer",
                "hybrid",
                "--skills",
                str(corpus_file(shared)),
                "--queries",
                queries_file,
                "--out",
                out,
            ]
        )
        if code:
            return code
        for path in queries:
            for run, what in ((out, "as bundled"), (str(LEFT_OUT), "each repository left out")):
                print(f"\n{os.path.basename(path)}, {what}")
                skillyard(["bench", "score", "--run", run, "--queries", path])
        print()
        if options.report:
            against = ["--against", str(BASELINE)] if BASELINE.is_file() else []
            skillyard(["bench", "report", "--run", out, "--out", options.report, *judged, *against])
        if options.update:
            _store(Path(out))
            return 0
        words = [str(BASELINE), out, *judged, "--tolerance", TOLERANCE]
        return skillyard(["bench", "compare", *words])


def _store(path: Path) -> None:
    run = json.loads(path.read_text(encoding="utf-8"))
    for entry in run.values():
        entry["results"] = [[key, round(score, 6)] for key, score in entry["results"][:KEPT]]
        entry["confidence"] = round(entry["confidence"], 6)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in run.items())
    BASELINE.parent.mkdir(exist_ok=True)
    BASELINE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"stored: {BASELINE}")


if __name__ == "__main__":
    raise SystemExit(main())
