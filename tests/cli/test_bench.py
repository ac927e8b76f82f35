"""``bench run`` and ``bench score``: reading, writing, and measures that agree with the scorer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillyard import Query
from skillyard.engine.bench import runs
from skillyard.engine.bench.measures import measures
from skillyard.engine.bench.runs import BenchQuery, RankedAnswer
from skillyard.engine.ranking.match import score_query
from tests.cli.conftest import Answer, Run
from tests.cli.making import BENCH_QUERIES, BENCH_SKILLS, write
from tests.configuration import configure
from tests.engine.embedding.letters import Letters, install
from tests.requirements import requirement


def lines(records: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"s.jsonl": lines(BENCH_SKILLS), "q.jsonl": lines(BENCH_QUERIES)})


def bench(run: Run, *options: str, skills: str = "s.jsonl", queries: str = "q.jsonl") -> Answer:
    names = ("--skills", skills, "--queries", queries, "--out", "run.json")
    return run("bench", "run", *names, "--scorer", "overlap", *options)


@requirement("cli:bench-run")
def test_a_run_says_what_it_was_made_of(run: Run) -> None:
    answer = bench(run, "--json")
    assert answer.json == {
        "schema": "skillyard.bench-run/1",
        "scorer": "overlap",
        "skills": 3,
        "queries": 3,
        "answered": 2,
        "out": "run.json",
        "complete": True,
    }
    assert "3 skills, 2 of 3 queries answered; by overlap" in bench(run).out


@requirement("cli:bench-run")
def test_a_run_names_the_scorer_that_the_variable_sets(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    install(monkeypatch, Letters())
    names = ("--skills", "s.jsonl", "--queries", "q.jsonl")
    answer = run("bench", "run", *names, "--out", "run.json", "--json")
    assert answer.json["scorer"] == "hybrid+letters"
    assert "hybrid+letters" in run("bench", "run", *names, "--out", "run.json").out
    help_text = " ".join(run("bench", "run", "--help").out.split())
    assert "Without --scorer the scorer that skillyard.toml names ranks" in help_text


def test_the_run_is_the_same_whatever_the_order_of_the_skills(run: Run, tmp_path: Path) -> None:
    bench(run)
    first = Path("run.json").read_bytes()
    write(tmp_path, {"turned.jsonl": lines(BENCH_SKILLS[::-1])})
    assert bench(run, skills="turned.jsonl").code == 0
    assert Path("run.json").read_bytes() == first


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "x"', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"id": "x", "name": "x", "description": "x"}', "text must be text"),
        ('{"id": 7, "name": "x", "description": "x", "text": "x"}', "id must be text"),
        ('{"id": "x", "name": "x", "description": "x", "text": "x", "tags": [1]}', "tags"),
        (json.dumps(BENCH_SKILLS[0]), "twice"),
    ],
)
def test_a_bad_skill_is_an_error_with_its_line(
    run: Run, tmp_path: Path, line: str, said: str
) -> None:
    write(tmp_path, {"bad.jsonl": f"{lines(BENCH_SKILLS)}\n{line}\n"})
    answer = bench(run, skills="bad.jsonl")
    assert (answer.code, answer.out) == (2, "")
    assert "bad.jsonl:5: " in answer.err
    assert said in answer.err
    assert not Path("run.json").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "q9"}', "query must be text"),
        ('{"id": "q9", "query": "x", "files": "a.py"}', "files must be a list"),
        ('{"id": "q9", "query": "x", "relevant": {"a": true}}', "relevant"),
        ('{"id": "q9", "request": 1}', "request must be text"),
        ('{"id": "q9", "request": "x", "query": "x"}', "query and request say the same"),
        ('{"id": "q9", "request": "x", "expect": "o/a"}', "expect must be a list of skill ids"),
        (
            '{"id": "q9", "request": "x", "expect": [], "relevant": {}}',
            "relevant and expect say the same",
        ),
        ('{"id": "q1", "query": "x"}', "twice"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_bad_query_is_an_error_with_its_line(
    run: Run, tmp_path: Path, line: str | bytes, said: str
) -> None:
    content = lines(BENCH_QUERIES).encode() + (line if isinstance(line, bytes) else line.encode())
    write(tmp_path, {"bad.jsonl": content})
    answer = bench(run, queries="bad.jsonl")
    assert answer.code == 2
    assert "bad.jsonl:4: " in answer.err
    assert said in answer.err


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"{}\n" * 50, mtime=0)[:-9]])
def test_a_damaged_archive_is_an_error(run: Run, tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {"s.jsonl.gz": content})
    answer = bench(run, skills="s.jsonl.gz")
    assert answer.code == 2
    assert "s.jsonl.gz" in answer.err


def test_an_interrupted_run_keeps_what_was_done_beside_the_target(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def once(*arguments: Any) -> Any:
        asked.append(arguments)
        if len(asked) > 1:
            raise KeyboardInterrupt
        return score_query(*arguments)

    monkeypatch.setattr(runs, "score_query", once)
    answer = bench(run, "--json")
    assert answer.code == 3
    assert (answer.json["complete"], answer.json["out"]) == (False, "run.json.partial")
    assert not Path("run.json").exists()
    assert list(json.loads(Path("run.json.partial").read_text())) == ["q1"]
    assert "interrupted" in answer.err


def judged(rows: Mapping[str, Mapping[str, int]]) -> list[BenchQuery]:
    return [BenchQuery(key, Query(key), relevant) for key, relevant in rows.items()]


def test_the_measures_of_a_run_worked_out_by_hand() -> None:
    queries = judged({"a": {"x": 3, "y": 2, "z": 1}, "b": {"x": 2}, "n": {}, "m": {}})
    run = {
        "a": RankedAnswer(("z", "x", "w"), 5.0),
        "b": RankedAnswer(("x",), 1.0),
        "n": RankedAnswer(("x",), 2.0),
        "m": RankedAnswer((), float("-inf")),
    }
    found = measures(queries, run)
    assert (found["queries"], found["unanswerable"]) == (2, 2)
    assert found["hit@1"] == 0.5
    assert found["mrr@10"] == 0.75
    gained = (1 + 7 / 1.5849625007211562) / (7 + 3 / 1.5849625007211562 + 1 / 2)
    assert found["ndcg@10"] == pytest.approx((gained + 1) / 2)
    assert found["recall@10"] == 0.75
    assert found["auroc"] == 0.75
    assert found["false_fire@95"] == 0.5


def test_a_score_is_printed_for_all_queries_and_by_kind(run: Run) -> None:
    bench(run)
    shown = run("bench", "score", "--run", "run.json", "--queries", "q.jsonl", "--json").json
    assert shown["schema"] == "skillyard.bench-score/1"
    assert shown["all"]["hit@1"] == 1.0
    assert list(shown["by_kind"]) == ["kw", "plain"]
    text = run("bench", "score", "--run", "run.json", "--queries", "q.jsonl").out
    assert text.splitlines()[0].split()[-1] == "FALSE_FIRE@95"


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"q": 1}', '{"q": [["a"]]}', '{"q": {"results": [["a", "b"]]}}']
)
def test_a_file_that_is_no_run_is_refused(run: Run, tmp_path: Path, content: str) -> None:
    write(tmp_path, {"no.json": content})
    answer = run("bench", "score", "--run", "no.json", "--queries", "q.jsonl")
    assert (answer.code, answer.out) == (2, "")
    assert "no.json" in answer.err


def test_a_query_in_two_files_is_refused(run: Run) -> None:
    bench(run)
    twice = ("--queries", "q.jsonl", "--queries", "q.jsonl")
    assert run("bench", "score", "--run", "run.json", *twice).code == 2


def test_more_measures_are_added_by_name(run: Run) -> None:
    bench(run)
    words = ("bench", "score", "--run", "run.json", "--queries", "q.jsonl", "--json")
    shown = run(*words, "--measure", "P@2", "--measure", "nDCG@3").json
    assert {"p@2", "ndcg@3"} <= set(shown["all"])
    assert shown["intervals"]["hit@1"] == [1.0, 1.0]
    wrong = run(*words, "--measure", "MAP")
    assert (wrong.code, wrong.out) == (2, "")
    assert "nDCG@10" in wrong.err


@pytest.mark.parametrize(
    ("queries", "losses", "verdict", "code"),
    [
        (1, 1, "cannot tell", 0),
        (7, 7, "cannot tell", 0),
        (8, 8, "worse", 1),
        (40, 0, "no difference shown", 0),
    ],
)
def test_a_verdict_follows_from_p_and_from_the_margin(
    queries: int, losses: int, verdict: str, code: int, run: Run, tmp_path: Path
) -> None:
    judged = [{"id": f"q{n}", "query": "x", "relevant": {"right": 3}} for n in range(queries)]
    best = {f"q{n}": {"results": [["right", 1.0]]} for n in range(queries)}
    after = {f"q{n}": best[f"q{n}"] for n in range(losses, queries)}
    write(
        tmp_path,
        {
            "judged.jsonl": "".join(json.dumps(each) + "\n" for each in judged),
            "before.json": json.dumps(best),
            "after.json": json.dumps(after),
        },
    )
    words = ("bench", "compare", "before.json", "after.json", "--queries", "judged.jsonl", "--json")
    done = run(*words)
    assert (done.json["verdict"], done.code) == (verdict, code)
    assert {one["verdict"] for one in done.json["measures"]} == {verdict}
    refused = run(*words, "--margin", "-1")
    assert (refused.code, "margin" in refused.err) == (2, True)


def test_a_worse_run_is_a_negative_answer(run: Run, tmp_path: Path) -> None:
    bench(run)
    write(tmp_path, {"worse.json": "{}"})
    words = ("--queries", "q.jsonl")
    same = run("bench", "compare", "run.json", "run.json", *words)
    assert same.code == 0
    assert "run.json, compared with run.json: cannot tell" in same.out
    assert "too few judged queries: 2, at least 8 are needed" in same.err
    worse = run("bench", "compare", "run.json", "worse.json", *words, "--tolerance", "0.01")
    assert worse.code == 1
    assert "worse.json, compared with run.json: worse" in worse.out
    shape = run("bench", "compare", "worse.json", "run.json", *words, "--json").json
    assert shape["regressed"] is False
    assert all(one["difference"] > 0 for one in shape["measures"])
    missing = run("bench", "compare", "no.json", "run.json", *words)
    assert (missing.code, "no.json" in missing.err) == (2, True)


def test_a_run_of_ones_own_library(run: Run, tmp_path: Path) -> None:
    body = "---\nname: csv-cleaning\ndescription: Repairs messy CSV files.\n---\nFix.\n"
    query = {"id": "own", "query": "repair messy csv", "relevant": {"csv-cleaning": 3}}
    write(tmp_path, {"lib/csv-cleaning/SKILL.md": body, "own.jsonl": lines([query])})
    done = run("bench", "run", "--root", "lib", "--queries", "own.jsonl", "--out", "own.json")
    assert done.code == 0
    shown = run("bench", "score", "--run", "own.json", "--queries", "own.jsonl", "--json").json
    assert shown["all"]["hit@1"] == 1.0


def test_a_folder_without_skills_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    given = ("--skills", str(tmp_path / "empty"), "--queries", "q.jsonl", "--out", "o")
    answer = run("bench", "run", *given)
    assert answer.code == 2
    assert "no skills below" in answer.err


def test_an_interval_without_a_width_is_not_printed_as_certainty(run: Run, tmp_path: Path) -> None:
    bench(run)
    words = ("--queries", "q.jsonl")
    for answer in (
        run("bench", "score", "--run", "run.json", *words),
        run("bench", "compare", "run.json", "run.json", *words),
    ):
        assert "–" in answer.out
        assert "+0.0000  +0.0000  +0.0000" not in answer.out
