"""A first answer: making an index from files against tantivy, and the first and second question.

Building is whole processes, from the start of the interpreter to what is committed: ``skillyard
index build`` with nothing kept before, and a script that gives the same files to tantivy (one
writer thread, English stems). Questions are asked of the command line and of Python, each in a
process of its own: the first where nothing is kept, the second after it.

tantivy is installed for this only: ``pip install tantivy``, or ``SKILLYARD_BENCH_PYTHON`` names a
Python that has it; without it that part is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.corpus import COUNT, Library, records, require_corpus, written_out
from benchmarks.measure import (
    Figure,
    Options,
    Ratios,
    Sample,
    Skipped,
    against,
    alternate,
    child_environment,
    run_child,
    shown,
)

SUMMARY = "an index from files, against tantivy; the first and second question"
ROUNDS = 3
SAMPLE = 1_048
FEW = 300
BUILD_TARGET = 1.5
FIRST_S = {FEW: 1.0, COUNT: 15.0}
"""Seconds of processor time of a first question, by skills."""
SECOND_TARGET = 8.0
QUERY = "turn a scanned contract into a clean spreadsheet and check the totals"

_PASS = (sys.executable, "-c", "pass")
_PEER = """
import os, sys, tempfile
import tantivy
schema = tantivy.SchemaBuilder()
schema.add_text_field("path", stored=True, tokenizer_name="raw")
schema.add_text_field("text", stored=False, tokenizer_name="en_stem")
with tempfile.TemporaryDirectory() as folder:
    index = tantivy.Index(schema.build(), path=folder)
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for place, _, files in os.walk(sys.argv[1]):
        for name in files:
            path = os.path.join(place, name)
            with open(path, encoding="utf-8") as file:
                writer.add_document(tantivy.Document(path=[path], text=[file.read()]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    if not index.searcher().num_docs:
        sys.exit(3)
"""
_PYTHON = """
import sys
import skillyard
catalog = skillyard.load_catalog(sys.argv[1])
selection = skillyard.select(catalog, sys.argv[2])
print(len(catalog), selection.abstained)
"""


def run(options: Options) -> Iterator[Figure]:
    require_corpus(options.shared)
    rounds = options.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as bytecode:
        environment = child_environment(bytecode)
        for name in ("SKILLYARD_CONFIG", "SKILLYARD_CACHE"):
            environment.pop(name, None)
        for count in (FEW, SAMPLE, COUNT):
            chosen = records(options.shared, count, COUNT // count)
            with written_out(chosen, keep=options.keep) as library:
                library.settle()
                if count != FEW:
                    yield from _build(library, environment, rounds)
                if count in FIRST_S:
                    yield from _questions(library, environment, rounds, FIRST_S[count])


def _build(library: Library, environment: Mapping[str, str], rounds: int) -> Iterator[Figure]:
    what = f"index of {library.files:,} files ({library.megabytes:.0f} MB), processes and all"
    peer = os.environ.get("SKILLYARD_BENCH_PYTHON") or sys.executable
    if subprocess.run([peer, "-c", "import tantivy"], capture_output=True, check=False).returncode:
        yield Figure(what, "skipped: tantivy is not installed")
        return
    command = (*_SKILLYARD, "index", "build", str(library.root))
    samples = _contest(
        {
            "ours": lambda: _afresh(command, environment),
            "peer": lambda: run_child((peer, "-c", _PEER, str(library.root)), environment),
        },
        rounds,
    )
    ours = ("skillyard index build: read, checked, weighed, synced", samples["ours"])
    yield against(what, ours, ("tantivy, one thread, en_stem", samples["peer"]), BUILD_TARGET)


_SKILLYARD = (sys.executable, "-m", "skillyard")


def _questions(
    library: Library, environment: Mapping[str, str], rounds: int, first_s: float
) -> Iterator[Figure]:
    root = str(library.root)
    for label, command in (
        ("skillyard select", (*_SKILLYARD, "select", QUERY, "--json", "--root", root)),
        ("load_catalog and select in Python", (sys.executable, "-c", _PYTHON, root, QUERY)),
    ):
        with tempfile.TemporaryDirectory() as cache:
            variables = {**environment, "XDG_CACHE_HOME": cache}
            _check(command, variables)
            contestants = {
                "first": _starter(_afresh, command, environment),
                "pass": _starter(run_child, _PASS, environment),
                "second": _starter(run_child, command, variables),
            }
            samples = _contest(contestants, rounds)
        first = samples["first"]
        yield Figure(
            f"first question of {library.files:,} skills: {label}",
            shown(first),
            f"the goal: {first_s:g} s of processor time",
            Ratios(tuple(sample.cpu_s / first_s for sample in first)),
            1.0,
        )
        yield against(
            f"second question of {library.files:,} skills: {label}",
            ("in a process of its own", samples["second"]),
            ("python -c pass", samples["pass"]),
            SECOND_TARGET,
        )


def _check(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Stop here when the question is not answered: its speed would mean nothing."""
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if (
        process.stderr or not process.stdout
    ):  # 1 is the answer that nothing fits, and Python's failure
        raise Skipped(f"no answer (exit {process.returncode}): {process.stderr[-300:]}")


def _starter(
    start: Callable[[Sequence[str], Mapping[str, str]], Sample],
    command: Sequence[str],
    environment: Mapping[str, str],
) -> Callable[[], Sample]:
    return lambda: start(command, environment)


def _afresh(command: Sequence[str], environment: Mapping[str, str]) -> Sample:
    """Run a command where nothing is kept from before. Stop where it keeps nothing either."""
    with tempfile.TemporaryDirectory() as cache:
        sample = run_child(command, {**environment, "XDG_CACHE_HOME": cache})
        if not any(Path(cache).rglob("*.seg")):
            raise RuntimeError(f"{' '.join(command)} kept no index")
    return sample


def _contest(
    contestants: Mapping[str, Callable[[], Sample]], rounds: int
) -> dict[str, list[Sample]]:
    alternate(contestants, 1)  # fills the bytecode folder, the page cache and what is kept
    return alternate(contestants, rounds)
