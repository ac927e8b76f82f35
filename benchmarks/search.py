"""Our index against the engines people use: 100,000 skills, the same pre-tokenised text.

Peers: bm25s with numba (lexical queries, memory of the build), a float32 scan with numpy
(vectors), tantivy (build), SQLite FTS5 (our pure-Python reader), and writing one file safely
(changing one skill). They are installed for this only: ``pip install bm25s numba tantivy numpy``;
what is missing is skipped. ``SKILLYARD_BENCH_SKILLS`` sets another size.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.measure import (
    SOURCE,
    Figure,
    Options,
    Sample,
    against,
    ratios,
    take_turns,
    timed,
)
from benchmarks.pool import DIMENSIONS, Pool, make

# One thread for everybody: idle threads of a matrix library spin on the next one's clock.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SUMMARY = "lexical, semantic and whole queries, build and change, against named engines"
SKILLS = int(os.environ.get("SKILLYARD_BENCH_SKILLS", "100000"))
ROUNDS = 3
ASKED = 7
"""Rounds of queries, which take little; the first one meets pages that nobody has read."""
TOP = 10
LEXICAL = {5: 0.5, 100: 1.0}
SEMANTIC = 0.7
WHOLE = {5: 2.0, 100: 1.5}
PURE = 0.6
BUILD = 1.0
MEMORY = 0.3
CHANGE = 4.0


def run(options: Options) -> Iterator[Figure]:
    rounds = options.rounds or ROUNDS
    from skillyard.engine.index.kernel import KERNEL

    yield Figure("the C kernel", "is used" if KERNEL is not None else "is not built: pure Python")
    pool = make(options.shared, SKILLS)
    gc.collect()
    gc.freeze()  # a collection between two queries would look at a hundred million objects
    with tempfile.TemporaryDirectory() as folder:
        yield from _build(pool, folder)
        yield from _memory(pool)
        yield from _lexical(pool, folder, options.rounds or ASKED)
        yield from _semantic(pool, folder, options.rounds or ASKED)
        yield from _whole(pool, folder, options.rounds or ASKED)
        yield from _pure(pool, folder, rounds)
        yield from _change(pool, folder)


def _write(pool: Pool, folder: str) -> None:
    from skillyard.engine.index.index_writer import IndexWriter

    with IndexWriter(folder, dimensions=DIMENSIONS, settings={}, fresh=True) as writer:
        for document in pool.documents:
            writer.add(document)
        writer.commit()


def _searcher(folder: str) -> Any:
    from skillyard.engine.index.segment_searcher import open_index

    searcher = open_index(folder)
    assert searcher is not None
    return searcher


def _build(pool: Pool, folder: str) -> Iterator[Figure]:
    ours = [timed(lambda: _write(pool, folder))]
    if not find_spec("tantivy"):
        yield Figure("build", "skipped: tantivy is not installed")
        return
    texts = [" ".join(tokens) for tokens in pool.tokens]
    peer = [timed(lambda: _tantivy(texts))]
    yield against(
        f"build, {len(texts):,} skills, after analysis",
        ("postings, forward lists, vectors, keys; synced", ours),
        ("tantivy, one field, the same tokens", peer),
        BUILD,
    )


_PEAK = """
def peak():  # in kilobytes, of this process alone: getrusage counts its parent's pages too
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
"""
_OURS = """
import marshal, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.index.index_writer import IndexWriter
before = peak()
with open(sys.argv[3], "rb") as file, IndexWriter(
    sys.argv[4], dimensions=int(sys.argv[5]), settings={}, fresh=True
) as writer:
    for _ in range(marshal.load(file)):
        writer.add(IndexedDocument(*marshal.load(file)[0]))
    writer.commit()
print(peak() - before)
"""
_PEER = """
import marshal, sys
import bm25s
before = peak()
with open(sys.argv[3], "rb") as file:
    tokens = [marshal.load(file)[1] for _ in range(marshal.load(file))]
peer = bm25s.BM25(backend="numba")
peer.index(tokens, show_progress=False)
print(peak() - before)
"""


def _memory(pool: Pool) -> Iterator[Figure]:
    """What building adds to a process at its peak; both read the same file, skill by skill."""
    if not (find_spec("bm25s") and find_spec("numba")):
        yield Figure("memory of the build", "skipped: bm25s and numba are not installed")
        return
    if not os.path.exists("/proc/self/status"):
        yield Figure("memory of the build", "skipped: this system does not tell it")
        return
    import marshal

    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "skills")
        with open(source, "wb") as file:
            marshal.dump(len(pool.documents), file)
            for document, tokens in zip(pool.documents, pool.tokens, strict=True):
                marshal.dump((tuple(document), tokens), file)
        kilobytes = []
        for code in (_OURS, _PEER):
            arguments = [str(SOURCE), str(SOURCE.parent), source, f"{folder}/index"]
            process = subprocess.run(
                [sys.executable, "-c", _PEAK + code, *arguments, str(DIMENSIONS)],
                capture_output=True,
                text=True,
                check=True,
            )
            kilobytes.append(int(process.stdout))
    ours, theirs = ([Sample(float(value), 0.0)] for value in kilobytes)
    yield Figure(
        f"memory of the build, {len(pool.documents):,} skills",
        f"{kilobytes[0] / 1e3:,.0f} MB: postings, forward lists, vectors, keys",
        f"{kilobytes[1] / 1e3:,.0f} MB: bm25s with its list of tokens, postings alone",
        ratios(ours, theirs),
        MEMORY,
    )


def _tantivy(texts: list[str]) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="whitespace")
    with tempfile.TemporaryDirectory() as folder:
        index = tantivy.Index(builder.build(), path=folder)
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for text in texts:
            writer.add_document(tantivy.Document(text=[text]))
        writer.commit()
        writer.wait_merging_threads()


def _weights(pool: Pool, query: list[str]) -> list[tuple[str, float]]:
    return [(term, pool.rarity[term]) for term in query if term in pool.rarity]


def _lexical(pool: Pool, folder: str, rounds: int) -> Iterator[Figure]:
    if not (find_spec("bm25s") and find_spec("numba")):
        yield Figure("lexical queries", "skipped: bm25s and numba are not installed")
        return
    import bm25s

    searcher = _searcher(folder)
    peer = bm25s.BM25(backend="numba")
    peer.index(pool.tokens, show_progress=False)
    peer.activate_numba_scorer()
    gc.freeze()
    for words, target in LEXICAL.items():
        queries = pool.queries[words]
        ours = [_asks(lambda q: searcher.lexical(_weights(pool, q), TOP), q) for q in queries]
        theirs = [
            _asks(lambda q: peer.retrieve([q], k=TOP, show_progress=False, n_threads=1), q)
            for q in queries
        ]
        samples = take_turns({"ours": ours, "peer": theirs}, rounds)
        yield against(
            f"lexical query, {words} words",
            ("the best ten, rescored exactly", samples["ours"]),
            ("bm25s, numba", samples["peer"]),
            target,
        )


def _asks(ask: Callable[[list[str]], object], query: list[str]) -> Callable[[], object]:
    return lambda: ask(query)


def _semantic(pool: Pool, folder: str, rounds: int) -> Iterator[Figure]:
    if not find_spec("numpy"):
        yield Figure("semantic scan", "skipped: numpy is not installed")
        return
    import numpy as np

    searcher = _searcher(folder)
    matrix = np.frombuffer(pool.vectors, "i1").reshape(-1, DIMENSIONS).astype("f4")
    vectors = [pool.documents[number * 37].vector for number in range(20)]

    def scan(query: bytes) -> object:
        scores = matrix @ np.frombuffer(query, "i1").astype("f4")
        best = np.argpartition(-scores, 100)[:100]
        return best[np.argsort(-scores[best])]

    samples = take_turns(
        {
            "ours": [_near(searcher, query) for query in vectors],
            "peer": [(lambda q=query: scan(q)) for query in vectors],
        },
        rounds,
    )
    yield against(
        "semantic scan, the best hundred",
        (f"{len(matrix):,} vectors of {DIMENSIONS} bytes", samples["ours"]),
        ("numpy, float32, one matrix product", samples["peer"]),
        SEMANTIC,
    )


def _near(searcher: Any, query: bytes) -> Callable[[], object]:
    return lambda: searcher.semantic(query, 100)


def _whole(pool: Pool, folder: str, rounds: int) -> Iterator[Figure]:
    import json

    queries = {words: [" ".join(terms) for terms in pool.queries[words]] for words in WHOLE}
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.whole"],
        input=json.dumps({"folder": folder, "queries": queries, "rounds": rounds}),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(SOURCE.parent)])},
    )
    samples = json.loads(process.stdout)
    for words, target in WHOLE.items():
        ours, peer = (
            [Sample(*each) for each in samples[str(words)][side]] for side in ("ours", "peer")
        )
        yield against(
            f"whole ranking, {words} words",
            ("analysis to the best ten with probabilities", ours),
            ("our lexical query and our scan alone", peer),
            target,
        )


_PURE = """
import json, sys
sys.modules["skillyard.engine.index._kernel"] = None
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import time
from skillyard.engine.index.segment_searcher import open_index
searcher = open_index(sys.argv[3])
taken = []
for weights in json.load(sys.stdin):
    start = time.process_time()
    searcher.lexical([tuple(pair) for pair in weights], 10)
    taken.append(time.process_time() - start)
print(json.dumps(taken))
"""


def _pure(pool: Pool, folder: str, rounds: int) -> Iterator[Figure]:
    import json

    database = sqlite3.connect(":memory:")
    database.execute(
        "create virtual table t using fts5(text, tokenize=\"unicode61 tokenchars '+#'\")"
    )
    database.executemany("insert into t values (?)", ((" ".join(t),) for t in pool.tokens))
    database.commit()
    gc.freeze()
    for words in LEXICAL:
        queries = pool.queries[words][:12]
        queries_json = json.dumps([_weights(pool, query) for query in queries])
        ours, theirs = [], []
        for _ in range(rounds):
            process = subprocess.run(
                [sys.executable, "-c", _PURE, str(SOURCE), str(SOURCE.parent), folder],
                input=queries_json,
                capture_output=True,
                text=True,
                check=True,
            )
            seconds = json.loads(process.stdout)
            ours.append(Sample(sum(seconds) / len(seconds), 0.0))
            samples = [timed(lambda q=query: _fts(database, q)) for query in queries]
            theirs.append(Sample(sum(s.cpu_s for s in samples) / len(samples), 0.0))
        yield against(
            f"pure Python, {words} words",
            ("without the kernel", ours),
            ("SQLite FTS5, bm25, the same terms or-ed", theirs),
            PURE,
        )


def _fts(database: sqlite3.Connection, query: list[str]) -> object:
    words = " OR ".join('"' + term.replace('"', '""') + '"' for term in query)
    sql = "select rowid from t where t match ? order by bm25(t) limit 10"
    return database.execute(sql, (words,)).fetchall()


def _change(pool: Pool, folder: str) -> Iterator[Figure]:
    """Wall time: both wait for the disk."""
    from skillyard.engine.index.index_writer import IndexWriter

    document = pool.documents[5]
    ours, theirs = [], []
    for number in range(15):
        changed = document._replace(record=b"%d" % number)

        def change(new: Any = changed) -> None:
            with IndexWriter(folder, dimensions=DIMENSIONS, settings={}) as writer:
                writer.add(new)
                writer.commit()

        ours.append(timed(change))
        theirs.append(timed(lambda n=number: _safely(Path(folder) / "peer", b"%d" % n * 1000)))
    as_cpu = [[Sample(s.wall_s, s.wall_s) for s in each] for each in (ours, theirs)]
    yield against(
        f"changing one of {len(pool.documents):,} skills (wall)",
        ("open, add, commit", as_cpu[0]),
        ("write, fsync, rename of one small file", as_cpu[1]),
        CHANGE,
    )


def _safely(path: Path, data: bytes) -> None:
    beside = path.with_suffix(".tmp")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
