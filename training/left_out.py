"""How well ``hybrid`` ranks skills whose repository nothing has been fitted to.

    python -m training --without 0 --out fold0.bin    # and 1, and 2: one table for each fold
    python -m training.left_out --tables fold0.bin fold1.bin fold2.bin [--shared DIR] --out RUN

The repositories with skills that the judged queries want are nearly all of the pool, so they
cannot be left out at once. Instead each skill is scored with the table of its own fold: its
directions, weights, emphases and rarities were made without one word or request of its repository
and of those that copy from it. The points of all folds make one list; the probability is that of
the best skill's fold. The dozen numbers of the calibration, the two of the fusion and the
parameters of BM25F stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence

from skillyard.engine.bench.runs import BenchQuery, read_queries, read_skills
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.ranking.hybrid.calibration import (
    best_log_odds,
    log_odds_slope,
    probability,
    query_features,
    skill_features,
)
from skillyard.engine.ranking.hybrid.scorer import HYBRID, BoundHybrid, ScoredHybrid
from skillyard.engine.skill import Skill
from training.calibrate import library_of
from training.folds import FOLDS, fold_of
from training.requests import HERE

KEPT = 50
"""Skills of the run for each query."""


def bound_to(skills: Sequence[Skill], table: TokenTable) -> BoundHybrid:
    """Return ``hybrid`` over the skills, their vectors made with this table."""
    documents = [build_document(skill, table) for skill in skills]
    return BoundHybrid(HYBRID, library_of(skills, documents, table))


def ranked(query: BenchQuery, folds: Sequence[BoundHybrid]) -> list[tuple[str, float]]:
    """Return (skill id, probability), best first: each skill as its own fold has it."""
    hits: list[tuple[float, str, int, int]] = []
    scored = [fold.prepare(query.query) for fold in folds]
    for number, one in enumerate(scored):
        library = folds[number].library
        for ordinal, total in one.totals.items():
            key = library.skill(ordinal).id
            if total > 0.0 and fold_of(key) == number:
                hits.append((total, key, number, ordinal))
    hits.sort(key=lambda entry: (-entry[0], entry[1]))
    if not hits:
        return []
    most, _, number, ordinal = hits[0]
    odds = _log_odds(scored[number], folds[number], ordinal)
    gap = log_odds_slope(odds, HYBRID.calibration)
    return [(key, probability(odds - gap * (most - total))) for total, key, _, _ in hits[:KEPT]]


def _log_odds(scored: ScoredHybrid, bound: BoundHybrid, best: int) -> float:
    """Return the log-odds that this skill fits, as if it were the best of its fold's list."""
    library = bound.library
    _, evidence = scored.evidence_of(library.skill(best))
    seen = skill_features(
        best, evidence, scored.candidates, scored.analysed, library.searcher, library.table
    )
    where, blank = query_features(scored.analysed, library.searcher), not scored.analysed.terms
    talk = scored.analysed.is_small_talk
    return best_log_odds(seen, where, evidence, HYBRID.calibration, blank=blank, is_small_talk=talk)


def run(
    queries: Sequence[BenchQuery], folds: Sequence[BoundHybrid]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each query's entry of a run file."""
    for query in queries:
        listed = ranked(query, folds)
        confidence = listed[0][1] if listed else 0.0
        results = [[key, round(score, 6)] for key, score in listed]
        yield query.id, {"results": results, "confidence": round(confidence, 6)}


def main() -> None:
    """Write the run over the development queries and the long tasks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--tables", nargs=len(FOLDS) + 1, required=True, metavar="FILE")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    skills = read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz"))
    folds = []
    for path in options.tables:
        with open(path, "rb") as file:
            folds.append(bound_to(skills, TokenTable(file.read(), path)))
    queries = [
        *read_queries(os.path.join(options.shared, "bench", "dev_queries.jsonl")),
        *read_queries(os.path.join(HERE, "data", "long_tasks.jsonl")),
    ]
    lines = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in run(queries, folds)]
    beside = f"{options.out}.tmp"
    with open(beside, "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, options.out)


if __name__ == "__main__":
    main()
