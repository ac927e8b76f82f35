"""A figure whose values are all equal is said in words: its interval would look like certainty."""

from __future__ import annotations

import re
from typing import Any

from skillyard import Query
from skillyard.base.shapes.benchmarks import BenchScore
from skillyard.cli.commands.benchmarks import compare_blocks, score_blocks
from skillyard.cli.eval_views import report_blocks
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
    summary, artifacts = analyse_pairs(cases)
    meta = run_meta("effectiveness", runs=1)
    return {"meta": meta, "summary": summary, "cases": cases, "artifacts": artifacts}


@for_each("difference", [0.0, 1.0])
def test_an_interval_of_equal_differences_has_a_width_in_every_format(difference: float) -> None:
    """It allows for prompts that are too rare to have been among these."""
    report = build_report([equal_run(difference)])
    for text in (plain(report_blocks(report)), markdown(report), html(report)):
        assert not NO_WIDTH.search(" ".join(text.split()))


def test_ends_that_only_round_to_one_figure_are_not_printed_twice() -> None:
    assert between(0.201, 0.204) == "about +0.20"
    assert between(0.2, 0.2) == "all equal"


def test_retrieval_says_it_in_the_terminal() -> None:
    queries = [BenchQuery(f"q{n}", Query("find it"), {"a": 3}, "easy") for n in range(9)]
    run = {query.id: RankedAnswer(("a",), 0.9) for query in queries}
    measures = compare(queries, run, run)
    compared = plain(compare_blocks(BenchCompare("a", "b", tuple(measures), 0.0, 0.02)))
    score = BenchScore(run="a", all={"hit@1": 1.0}, by_kind={}, intervals={"hit@1": (1.0, 1.0)})
    for text in (compared, plain(score_blocks(score))):
        assert "–: all queries are equal, so there is no interval; others may differ" in text
        assert "+0.0000  +0.0000  +0.0000" not in text
