"""A figure whose values are all equal is said in words: its interval would look like certainty."""

from __future__ import annotations

import re
from typing import Any

from skillyard import Query
from skillyard.base.shapes.benchmarks import BenchScore
from skillyard.cli.commands.benchmarks import compare_blocks, score_blocks
from skillyard.cli.report_views import report_blocks
from skillyard.evals.operations.benchmarks import BenchCompare
from skillyard.evals.report.render import html, markdown
from skillyard.evals.report.report import build_report
from skillyard.evals.report.words import between
from skillyard.evals.retrieval.comparison import compare
from skillyard.evals.retrieval.measures import BenchQuery, RankedAnswer
from skillyard.evals.statistics.analysis import analyse_pairs
from tests.evals.report.making_head import meta as run_meta
from tests.evals.report.test_terminal import plain
from tests.evals.statistics.planting import case
from tests.tables import for_each

ARMS = ("enhanced", "baseline")
NO_WIDTH = re.compile(r"([+−-]?\d[\d.]*) (?:to|–) \1(?!\d)")


def equal_run(difference: float, prompts: int = 8) -> dict[str, Any]:
    """Results in which every prompt of two skills has the same difference."""
    cases = [
        case(skill, prompt, 0, ARMS, [("enhanced", 3.0 + difference, 3.0)])
        for skill in ("letter", "poster")
        for prompt in range(prompts)
    ]
    summary, artifacts = analyse_pairs(cases, seed=1)
    meta = run_meta("effectiveness", runs=1)
    return {"meta": meta, "summary": summary, "cases": cases, "artifacts": artifacts}


@for_each("difference", [0.0, 1.0])
def test_every_format_says_that_the_values_were_equal(difference: float) -> None:
    report = build_report([equal_run(difference)])
    for text in (
        plain(report_blocks(report)),
        markdown(report),
        html(report),
    ):
        words = " ".join(text.split())
        assert "all equal" in words
        assert "Others can still give another value." in words
        assert not NO_WIDTH.search(words)


def test_the_verdict_names_what_equal_differences_leave_open() -> None:
    run = equal_run(0.0)
    verdict = run["summary"]["letter"]["verdict"]
    comparison = run["summary"]["letter"]["comparisons"]["enhanced/baseline"]
    low, high = comparison["bounded_low"], comparison["bounded_high"]
    assert low < -1 < 1 < high, "eight prompts may have missed a rare one with a large difference"
    possible = f"with others, {low:+.2f} to {high:+.2f} is still possible"
    assert f"every prompt gave the same difference; {possible}" in verdict
    assert comparison["word"] == "not enough data"
    assert comparison["ci_method"].endswith("all of them equal, so without a width")
    better = equal_run(1.0)["summary"]["letter"]["verdict"]
    assert "every prompt gave the same difference; others may differ): better" in better
    small = equal_run(0.2)["summary"]["letter"]["verdict"]
    assert "others may differ): better" in small, "what is possible would contradict the verdict"


def test_ends_that_only_round_to_one_figure_are_not_printed_twice() -> None:
    assert between(0.201, 0.204) == "about +0.20"
    assert between(0.2, 0.2) == "all equal"
    cases = [
        case("letter", prompt, 0, ARMS, [("enhanced", 3.001 + prompt / 10_000, 3.0)])
        for prompt in range(8)
    ]
    verdict = analyse_pairs(cases, seed=1)[0]["letter"]["verdict"]
    assert "(95 % interval about +0.00)" in verdict


def test_retrieval_says_it_in_the_terminal() -> None:
    queries = [BenchQuery(f"q{n}", Query("find it"), {"a": 3}, "easy") for n in range(9)]
    run = {query.id: RankedAnswer(("a",), 0.9) for query in queries}
    measures = compare(queries, run, run)
    compared = plain(compare_blocks(BenchCompare("a", "b", tuple(measures), 0.0, 0.02)))
    score = BenchScore(run="a", all={"hit@1": 1.0}, by_kind={}, intervals={"hit@1": (1.0, 1.0)})
    for text in (compared, plain(score_blocks(score))):
        assert "–: all queries are equal, so there is no interval; others may differ" in text
        assert "+0.0000  +0.0000  +0.0000" not in text
