"""Reading 10,000 skills: scan, guard, hash and parse, against the least that could be done.

Ours: ``read_catalog``, everything included (walk, safe open, SHA-256, guarded YAML, fields,
diagnostics, collisions, order). The peer: the same walk with ``os.scandir``, the same bytes read
and hashed, the block between the fences given to ``yaml.load(block, CSafeLoader)``, results kept.
Each measurement is a fresh process, so that neither inherits the other's memory; only the work
inside is timed, not the start. The files are in the page cache for both.

    python -m benchmarks.scan {ours,peer} DIR

runs one of the two once and prints its figures as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.corpus import Library, records, require_corpus, written_out
from benchmarks.measure import (
    Figure,
    Options,
    Sample,
    against,
    alternate,
    child_environment,
    peak_memory_mb,
)

SUMMARY = "scan, guard, hash and parse 10,000 files; scan again with nothing changed"
ROUNDS = 5
FULL_TARGET = 2.5
RESCAN_TARGET = 0.25


def run(options: Options) -> Iterator[Figure]:
    require_corpus(options.shared)
    with (
        tempfile.TemporaryDirectory() as bytecode,
        written_out(records(options.shared), keep=options.keep) as library,
    ):
        library.settle()
        yield from _contest(library, child_environment(bytecode), options.rounds or ROUNDS)
        if options.keep:
            yield Figure("kept", f"the {library.files:,} skills are in {library.root}")


def _contest(library: Library, environment: Mapping[str, str], rounds: int) -> Iterator[Figure]:
    for contestant in ("peer", "ours"):  # fills the page cache and the bytecode
        _once(contestant, library, environment)
    results: dict[str, list[dict[str, Any]]] = {"peer": [], "ours": []}

    def contest(contestant: str) -> Callable[[], Sample]:
        def once() -> Sample:
            results[contestant].append(_once(contestant, library, environment))
            return Sample(*results[contestant][-1]["full"])

        return once

    samples = alternate({name: contest(name) for name in results}, rounds)
    rescans = [Sample(*answer["rescan"]) for answer in results["ours"]]
    last = results["ours"][-1]
    yield against(
        f"full scan of {library.files:,} files ({library.megabytes:.0f} MB)",
        ("read_catalog", samples["ours"]),
        ("walk, read, SHA-256, yaml.load with CSafeLoader", samples["peer"]),
        FULL_TARGET,
    )
    yield against(
        "rescan, nothing changed",
        ("catalog.reload()", rescans),
        ("the full scan", samples["ours"]),
        RESCAN_TARGET,
    )
    yield Figure("found", f"{last['skills']:,} skills, {last['diagnostics']:,} diagnostics")
    yield Figure(
        "peak memory of the process",
        f"{last['memory_mb']:.0f} MB, all bodies kept",
        f"{results['peer'][-1]['memory_mb']:.0f} MB, no body kept",
    )


def _once(contestant: str, library: Library, environment: Mapping[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scan", contestant, str(library.root)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{contestant} ended with {process.returncode}: {process.stderr[-500:]}")
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


def _clocks() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _since(start: tuple[float, float]) -> tuple[float, float]:
    now = _clocks()
    return now[0] - start[0], now[1] - start[1]


def _ours(root: str) -> dict[str, Any]:
    from skillyard.engine.catalog import read_catalog

    start = _clocks()
    catalog = read_catalog(root)
    full = _since(start)
    memory = peak_memory_mb()
    start = _clocks()
    difference = catalog.reload()
    rescan = _since(start)
    if difference:
        raise RuntimeError("the rescan found changes where there are none")
    return {
        "full": full,
        "rescan": rescan,
        "memory_mb": memory,
        "skills": len(catalog),
        "diagnostics": len(catalog.diagnostics),
    }


def _peer(root: str) -> dict[str, Any]:
    import yaml

    start = _clocks()
    digests = []
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name == "SKILL.md":
                    with open(entry.path, "rb") as file:
                        data = file.read()
                    digest = hashlib.sha256(data).hexdigest()
                    text = data.decode("utf-8")
                    block = text[4 : text.index("\n---\n", 4)]
                    digests.append((entry.path, digest, yaml.load(block, yaml.CSafeLoader)))
    full = _since(start)
    return {"full": full, "memory_mb": peak_memory_mb(), "skills": len(digests)}


if __name__ == "__main__":
    print(json.dumps({"ours": _ours, "peer": _peer}[sys.argv[1]](sys.argv[2])))
