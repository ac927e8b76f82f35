"""The whole ranking in turns with its own parts, in a process that holds the index and no more.

``python -m benchmarks.whole`` reads what to ask from standard input and prints the samples, both
as JSON. Beside the hundred million objects of the pool every look into a dictionary would miss
the processor's memory of addresses, which no service has to live with.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.measure import Sample, take_turns
from skillyard.engine.index.library import Library
from skillyard.engine.index.segment_searcher import SegmentSearcher, open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.ranking.hybrid.query_analysis import analyse_query
from skillyard.engine.ranking.hybrid.scorer import BoundHybrid
from skillyard.engine.ranking.query import Query
from skillyard.engine.skill import Skill

TOP = 10
PARTS = 100
"""Of each part, the best so many: what the ranking asks for."""


class _StandIns(Library):
    """A library over the benchmark's index: skills are stand-ins, kept as real libraries do."""

    def __init__(self, searcher: SegmentSearcher) -> None:
        self.searcher = searcher
        self.table = bundled_table()
        self.skills = ()
        self._skills: dict[int, Skill] = {}

    def skill(self, ordinal: int) -> Skill:
        skill = self._skills.get(ordinal)
        if skill is None:
            skill = Skill(self.searcher.key(ordinal), "", "", hash="0" * 64)
            self._skills[ordinal] = skill
        return skill

    def hidden(self) -> list[tuple[int, Skill]]:
        return []

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        return {}


def samples(bound: BoundHybrid, queries: list[str], rounds: int) -> dict[str, list[Sample]]:
    """Return the samples of the ranking and of its parts alone."""
    searcher = bound.library.searcher
    ours: list[Callable[[], object]] = []
    parts: list[Callable[[], object]] = []
    for text in queries:
        query = Query(text)
        analysed = analyse_query(query, bound.vocabulary)
        ours.append(lambda q=query: bound.prepare(q).scores()[:TOP])
        parts.append(
            lambda a=analysed: (
                searcher.lexical(a.weights, PARTS),
                searcher.semantic(a.vector, PARTS) if a.vector else [],
            )
        )
    # Neither asks what the other has just asked, or the second finds its memory warm.
    half = len(parts) // 2
    return take_turns({"ours": ours, "peer": parts[half:] + parts[:half]}, rounds)


def main() -> None:
    """Ask what standard input says."""
    request: dict[str, Any] = json.load(sys.stdin)
    searcher = open_index(request["folder"])
    assert searcher is not None
    bound = BoundHybrid(HYBRID, _StandIns(searcher))
    gc.collect()
    gc.freeze()
    queries = request["queries"].items()
    json.dump(
        {words: samples(bound, texts, request["rounds"]) for words, texts in queries}, sys.stdout
    )


if __name__ == "__main__":
    main()
