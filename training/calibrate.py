"""Fit the probability of ``hybrid``: which facts tell that some skill fits.

    python -m training.calibrate --table FILE [--shared DIR]

Requests with a fitting skill (training requests of skills that the table at hand was not trained
on: make it with ``--held-out``) and without one (near misses and far ones) are
asked of libraries of several sizes, drawn from the pool with a fixed seed; a request whose skill
was not drawn, and any near copy of it, is not used. The facts are those that the scorer itself
works out. Prints the constants for ``skillyard/ranking/hybrid/constants.py``.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Sequence
from hashlib import md5
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skillyard.evals.retrieval.measures import read_skills
from skillyard.index.building import document_of
from skillyard.index.document import IndexedDocument
from skillyard.index.in_memory import segments_of
from skillyard.index.memory_library import MemoryLibrary
from skillyard.index.table import Table
from skillyard.ranking.hybrid.calibration import Facts
from skillyard.ranking.hybrid.scorer import HYBRID, BoundHybrid
from skillyard.ranking.query import Query
from skillyard.skill import Skill
from training.pool import held_out, read_rows

SEED = 20261121
SIZES = (300, 2_000, 10_476)
REQUESTS_EACH = 2_000
"""Answerable requests asked of each library, or as many as there are; all that fit none are asked
of every one."""
STRENGTH = 10.0
"""Weight of the squared coefficients (of standardised facts): the data are few."""
SECOND_BEST = 0.85
"""How well an answerable request is answered when another skill than the one that it was written
for is first: often that one fits too."""
WEIGHTS = {"fits": 0.5, "none_far": 0.2, "none_near": 0.3}
"""What all requests of a kind count together."""
HERE = os.path.dirname(os.path.abspath(__file__))


Numbers = npt.NDArray[Any]


class Asked(NamedTuple):
    """One request of one library."""

    facts: Facts
    kind: str
    """``fits``, or the kind of a request that nothing fits."""
    size: int
    """Skills of the library."""
    text: str
    right: bool
    """The best skill is the right one, or has its name."""
    gaps: list[tuple[float, bool]]
    """(points behind the best, right) of the first ten."""


def library_of(
    skills: Sequence[Skill], documents: Sequence[IndexedDocument], table: Table
) -> MemoryLibrary:
    """Return a library of the skills whose documents were made with that table."""
    made = MemoryLibrary(())
    made.table = table
    made.skills = tuple(skills)
    made.searcher = segments_of(documents, table.dimensions)
    ordinals = tuple(made.searcher.ordinals())
    made._ordinals = ordinals
    made._places = {id(skill): o for o, skill in zip(ordinals, skills, strict=True)}
    made._place_of = {ordinal: place for place, ordinal in enumerate(ordinals)}
    return made


def _ask(bound: BoundHybrid, text: str, kind: str, right: str | None) -> Asked | None:
    scored = bound.prepare(Query(text))
    if scored.best is None or scored.facts is None:
        return None
    library = bound.library
    best = scored.totals[scored.best]
    order = sorted(scored.totals.items(), key=lambda item: -item[1])[:10]
    gaps = [(best - total, _same(library.skill(o), right)) for o, total in order]
    first = _same(library.skill(scored.best), right)
    return Asked(scored.facts, kind, len(library.skills), text, first, gaps)


def _same(skill: Skill, right: str | None) -> bool:
    return right is not None and skill.id.split("/")[-1] == right.split("/")[-1]


def samples(shared: str, table: Table) -> Iterator[Asked]:
    """Yield the answers of libraries of all sizes to the requests that are used."""
    rng = random.Random(SEED)
    bench = os.path.join(shared, "bench")
    skills = read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))
    documents = {skill.id: document_of(skill, table) for skill in skills}
    requests = read_rows(f"{bench}/train_requests.tsv", f"{HERE}/data/requests.tsv")
    requests = [r for r in requests if r[0] in documents and held_out(r[0])]
    nothing = read_rows(f"{bench}/none_requests.tsv", f"{HERE}/data/none_requests.tsv")
    by_id = {skill.id: skill for skill in skills}
    for size in SIZES:
        chosen = rng.sample(requests, min(REQUESTS_EACH, len(requests)))
        wanted = {request[0] for request in chosen}
        drawn = rng.sample(skills, min(size, len(skills)))
        # A small library holds the skills of a few of the requests; the others are left out.
        kept = sorted(wanted)[: max(1, size // 2)] if size < len(skills) else sorted(wanted)
        pool = {skill.id for skill in drawn[: max(0, size - len(kept))]} | set(kept)
        listed = [by_id[key] for key in sorted(pool)]
        bound = BoundHybrid(HYBRID, library_of(listed, [documents[s.id] for s in listed], table))
        for key, _, text in chosen:
            if key in pool and (found := _ask(bound, text, "fits", key)) is not None:
                yield found
        for kind, text in nothing:
            if (found := _ask(bound, text, kind, None)) is not None:
                yield found


def fit(rows: Numbers, labels: Numbers, weights: Numbers) -> Numbers:
    """Return bias and coefficients of a ridge logistic regression, by Newton's method."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    x = np.hstack([np.ones((len(rows), 1)), (rows - mean) / spread])
    beta = np.zeros(x.shape[1])
    ridge = np.full(x.shape[1], STRENGTH)
    ridge[0] = 0.0
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (weights * (p - labels)) + ridge * beta
        curvature = (x * (weights * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:
            break
    slopes = beta[1:] / spread
    return np.concatenate([[beta[0] - slopes @ mean], slopes])


def auroc(scores: Numbers, labels: Numbers) -> float:
    """Return the chance that a request with an answer scores above one without."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = labels.sum()
    wins = ranks[labels].sum() - positive * (positive + 1) / 2
    return float(wins / (positive * (~labels).sum()))


def _crossed(rows: Numbers, labels: Numbers, weights: Numbers, texts: Sequence[str]) -> Numbers:
    """Return log-odds, each from a fit that has not seen the request: five folds by its text."""
    fold = np.array([md5(text.encode()).digest()[0] % 5 for text in texts])
    found = np.zeros(len(rows))
    for number in range(5):
        seen = fold != number
        beta = fit(rows[seen], labels[seen], weights[seen])
        found[~seen] = beta[0] + rows[~seen] @ beta[1:]
    return found


def _report(asked: Sequence[Asked], odds: Numbers) -> None:
    kinds = np.array([a.kind for a in asked])
    sizes = np.array([a.size for a in asked])
    for size in sorted(set(sizes.tolist())):
        for kind in ("none_far", "none_near"):
            here = (sizes == size) & ((kinds == "fits") | (kinds == kind))
            fits = kinds[here] == "fits"
            least = np.quantile(odds[here][fits], 0.05)
            fires = float((odds[here][~fits] >= least).mean())
            print(
                f"# {size} skills, {kind}: AUROC {auroc(odds[here], fits):.3f}, "
                f"false fires at 95 % kept {fires:.2f}, at even odds "
                f"{(odds[here][~fits] >= 0).mean():.2f}; kept at even odds "
                f"{(odds[here][fits] >= 0).mean():.2f}"
            )


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--table", required=True, help="made by python -m training --held-out")
    given = parser.parse_args()
    with open(given.table, "rb") as file:
        table = Table(file.read(), given.table)
    asked = list(samples(given.shared, table))
    rows = np.array([list(a.facts) for a in asked])
    kinds = np.array([a.kind for a in asked])
    # An answerable request whose best skill is another one is half an answer: the label is soft.
    sure = np.where([a.right for a in asked], 1.0, SECOND_BEST)
    labels = np.where(kinds == "fits", sure, 0.0)
    weights = sum(np.where(kinds == k, w / (kinds == k).mean(), 0.0) for k, w in WEIGHTS.items())
    print(f"# {len(asked)} questions; cross-validated:")
    _report(asked, _crossed(rows, labels, weights, [a.text for a in asked]))
    found = fit(rows, labels, weights)
    for name, value in zip(("bias", *Facts._fields), found, strict=True):
        print(f"    {name}: float = {value:.4f}")
    pairs = [pair for a in asked if a.kind == "fits" for pair in a.gaps]
    gaps = np.array([[gap] for gap, _ in pairs])
    right = np.array([1.0 if hit else 0.0 for _, hit in pairs])
    print(f"    gap: float = {-fit(gaps, right, np.ones(len(pairs)))[1]:.4f}")


if __name__ == "__main__":
    main()
