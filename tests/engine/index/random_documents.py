"""Documents for the tests of the index: random ones, and the histories that they go through."""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Iterable
from pathlib import Path

from skillyard.engine.index.index_writer import IndexWriter
from skillyard.engine.index.segment_reader import EXCLUDED, IndexedDocument
from skillyard.engine.index.segment_searcher import SegmentSearcher
from tests.engine.index.memory_searcher import MemorySearcher

__all__ = ["DIMENSIONS", "SOAK", "WORDS", "Asker", "document", "write"]

SOAK = os.environ.get("SKILLYARD_SOAK") == "1"
"""True for the long runs of ``make soak``."""
DIMENSIONS = 8
WORDS = (*(f"w{number}" for number in range(40)), "\x01a phrase", "词", "\ud800")


def document(rng: random.Random, key: str) -> IndexedDocument:
    """Return a random document; some are excluded, some have no vector."""
    terms = tuple(rng.sample(WORDS, rng.randint(0, 14)))
    impacts = tuple(array("f", [rng.uniform(0.001, 0.99) for _ in terms]))
    vector = array("b", [rng.randint(-127, 127) for _ in range(DIMENSIONS)]).tobytes()
    return IndexedDocument(
        key,
        b"record %d" % rng.randint(0, 99),
        EXCLUDED if rng.random() < 0.1 else 0,
        terms,
        impacts,
        b"" if rng.random() < 0.1 else vector,
    )


def write(folder: Path | str, documents: Iterable[IndexedDocument]) -> int:
    """Add the documents to the index in the folder; return the generation."""
    with IndexWriter(str(folder), dimensions=DIMENSIONS, settings={"of": "tests"}) as writer:
        for each in documents:
            writer.add(each)
        return writer.commit()


class Asker:
    """The same questions for two searchers: whatever can be asked, by key."""

    def __init__(self, seed: int, questions: int = 6) -> None:
        rng = random.Random(seed)
        self.questions = [
            (
                [(term, rng.uniform(0.1, 5.0)) for term in rng.sample(WORDS, rng.randint(1, 8))],
                array("b", [rng.randint(-127, 127) for _ in range(DIMENSIONS)]).tobytes(),
                rng.choice((1, 3, 10, 500)),
            )
            for _ in range(questions)
        ]

    def answers(self, searcher: SegmentSearcher | MemorySearcher) -> list[object]:
        """Return every answer of the searcher, comparable with those of another."""
        found: list[object] = [searcher.size]
        for weights, vector, limit in self.questions:
            words = searcher.lexical(weights, limit)
            near = searcher.semantic(vector, limit)
            found.append([(searcher.key(o), score) for o, score in words])
            found.append([(searcher.key(o), dot) for o, dot in near])
            asked = ["nowhere", *(term for term, _ in weights)]
            found.append(searcher.existing_terms(asked))  # before and after they were counted
            found.append([searcher.frequency(term) for term in asked])
            found.append(searcher.existing_terms(asked))
            ordinals = sorted({o for o, _ in (*words, *near)}, key=searcher.key)
            found.append(searcher.exact_scores(weights, ordinals))
            found.append(searcher.matched_weights(weights, ordinals))
            found.append(searcher.dots(vector, ordinals))
            found.append([searcher.impacts(o, [t for t, _ in weights]) for o in ordinals])
            found.append([(searcher.record(o), searcher.flags(o)) for o in ordinals])
        return found


def in_memory(documents: Iterable[IndexedDocument]) -> MemorySearcher:
    """Return the oracle over the documents."""
    return MemorySearcher(documents, DIMENSIONS)
