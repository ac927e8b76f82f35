"""How well long task prompts find the right skills, against plain BM25F over the same corpus.

For information. Plain BM25F is that of spec/retrieval.md §4: the fields of our index with their
weights, ``(1 + log(count)) * rarity`` for every term of the whole prompt, the rarity from the
corpus alone; nothing is learned, excluded or left out. ``hybrid`` and ``hybrid+encoder`` are asked
in the same run. Each gain is over BM25F, with its 95 % interval of paired draws.
``training/README.md`` says where the prompts come from, and which of them something was chosen on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import require_corpus
from benchmarks.measure import Figure, Options
from benchmarks.quality import DATA, RequestSet, set_figures

if TYPE_CHECKING:
    from skillyard.engine.index.library import Library
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.skill import Skill

SUMMARY = "long task prompts: nDCG@10 and hit@1 of hybrid, with the encoder, and of plain BM25F"
CHOOSING = "choosing"
DEPTH = 10


class PlainBm25f:
    """BM25F over a library, asked as a bound scorer is."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.ranked: list[tuple[Skill, float]] = []

    def prepare(self, query: Query) -> PlainBm25f:
        """Rank the best ten."""
        from skillyard.engine.analysis import STANDARD

        searcher, weights = self.library.searcher, []
        for term, count in STANDARD.counts(query.text).items():
            held = searcher.frequency(term)
            rarity = log(1.0 + (searcher.size - held + 0.5) / (held + 0.5))
            weights.append((term, (1.0 + log(count)) * rarity if held else 0.0))
        hits = searcher.lexical([pair for pair in weights if pair[1]], DEPTH)
        self.ranked = [(self.library.skill(ordinal), score) for ordinal, score in hits]
        return self

    def scores(self) -> Sequence[tuple[Skill, float]]:
        """Return the best ten skills with their scores."""
        return self.ranked


def run(options: Options) -> Iterator[Figure]:
    """Yield the figures for ``python -m benchmarks``."""
    from skillyard.engine.bench.runs import read_skills
    from skillyard.engine.embedding.protocol import embedder_names
    from skillyard.engine.ranking.hybrid.scorer import HYBRID

    skills = read_skills(str(require_corpus(options.shared)))
    hybrid = HYBRID.bind(skills)
    systems: dict[str, Any] = {"BM25F": PlainBm25f(hybrid.library), "hybrid": hybrid}
    if "encoder" in embedder_names():
        systems["hybrid+encoder"] = HYBRID.with_embedder("encoder").bind(skills)
    for judged in task_sets():
        yield from set_figures(judged, systems)


def task_sets() -> list[RequestSet]:
    """Return the prompts from public tasks, whole and by half, and those of our own."""
    from skillyard.engine.bench.runs import read_queries

    public, tuning, thirty = (
        read_queries(str(DATA / f"{name}_tasks.jsonl")) for name in ("public", "tuning", "long")
    )
    return [
        RequestSet("public tasks", public),
        RequestSet("public tasks, untouched half", [t for t in public if t.kind != CHOOSING]),
        RequestSet("public tasks, half for choosing", [t for t in public if t.kind == CHOOSING]),
        RequestSet("36 tasks for choosing", tuning),
        RequestSet("thirty long tasks", thirty),
    ]
