"""``bench run``: a run file over skills and queries given as JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.running import Command

SCORERS = ["overlap", "triggers", "confidence", "relevance"]


BENCH: list[dict[str, object]] = [
    {"id": "o/deploy", "name": "deploy-app", "description": "Deploy the app.", "text": "Ship."},
    {"id": "o/query", "name": "query-db", "description": "Query a database.", "text": "Read."},
    {"id": "o/bread", "name": "bread", "description": "Bake.", "tags": ["food"], "text": "Knead."},
    # The corpus gives tags as one text, separated by commas.
    {"id": "o/soup", "name": "soup", "description": "Cook.", "tags": "pot, stove", "text": "Stir."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "query": "deploy the app with a database"},
    {"id": "q2", "query": "xylophone"},
    {"id": "q3", "query": "food", "files": ["a.py"]},
    {"id": "q4", "query": "stove"},
]


def lines(records: Sequence[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@requirement("cli:bench-run")
@for_each(("scorer", "packed"), [*((scorer, False) for scorer in SCORERS), ("overlap", True)])
def test_bench_run_writes_results_and_confidence_of_every_query(
    run: Command, tmp_path: Path, scorer: str, packed: bool
) -> None:
    skills = tmp_path / ("skills.jsonl.gz" if packed else "skills.jsonl")
    skills.write_bytes(gzip.compress(lines(BENCH)) if packed else lines(BENCH))
    write_tree(tmp_path, {"queries.jsonl": lines(QUERIES)})
    out = tmp_path / "run.json"
    queries = str(tmp_path / "queries.jsonl")
    answer = run.bare(
        *("bench", "run", "--skills", str(skills), "--queries", queries),
        *("--scorer", scorer, "--out", str(out)),
    )
    assert answer.code == 0, answer.err
    written = json.loads(out.read_text(encoding="utf-8"))
    assert list(written) == ["q1", "q2", "q3", "q4"]
    for record in written.values():
        assert set(record) == {"results", "confidence"}
        scores = [score for _, score in record["results"]]
        assert all(score > 0 for score in scores)
        assert scores == sorted(scores, reverse=True)
        assert record["confidence"] == (scores[0] if scores else 0)
    if scorer in {"overlap", "confidence"}:
        assert written["q1"]["results"][0][0] == "o/deploy"
        assert written["q2"]["results"] == []
        assert [one for one, _ in written["q3"]["results"]] == ["o/bread"]
        assert [one for one, _ in written["q4"]["results"]] == ["o/soup"]


@requirement("cli:bench-run")
@for_each(
    ("skills", "queries"),
    [
        (lines(BENCH), b""),
        (lines(BENCH), b'{"id": "q1", "query": \n'),
        (lines(BENCH), b'{"query": "no id"}\n'),
        (b"[1, 2]\n", lines(QUERIES)),
        (b"\xff\xfe", lines(QUERIES)),
    ],
)
def test_bench_run_without_a_usable_case_answers_two_and_writes_nothing(
    run: Command, tmp_path: Path, skills: bytes, queries: bytes
) -> None:
    write_tree(tmp_path, {"s.jsonl": skills, "q.jsonl": queries})
    out = tmp_path / "run.json"
    files = ("--skills", str(tmp_path / "s.jsonl"), "--queries", str(tmp_path / "q.jsonl"))
    answer = run.bare("bench", "run", *files, "--scorer", "overlap", "--out", str(out))
    assert (answer.code, out.exists()) == (2, False)
    assert answer.err.strip()
    assert "Traceback" not in answer.err
