"""Fit what coverage, nearness and length count in a long request.

    python -m training.coverage --table FILE [--shared DIR]

Long English requests (more than fifty terms) for skills that the table at hand was not trained on
(make it with ``--held-out``), and that neither the tuning tasks nor the thirty judge, are asked of
the whole pool. A listwise logistic regression over the best sixty skills of each has four slopes:
the points as they are, the share of the request that the skill covers, its cosine, and the
logarithm of its length; the last three are divided by the first. Prints how well that does on
skills that the fit has not seen, and on the tuning tasks, and the constants for
``skillyard/engine/ranking/hybrid/constants.py``. Nothing is drawn by chance but the intervals.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from hashlib import md5
from typing import Any, NamedTuple

import numpy as np

from skillyard.engine.bench.runs import read_queries, read_skills
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.token_table import UNIT, TokenTable
from skillyard.engine.ranking.hybrid.constants import FUSION
from skillyard.engine.ranking.hybrid.fusion import top_by_points
from skillyard.engine.ranking.hybrid.scorer import BoundHybrid, Hybrid
from skillyard.engine.ranking.query import Query
from training.calibrate import library_of
from training.requests import HERE, held_out, read_rows

CANDIDATES = 60
STRENGTH = 0.05
"""Weight of the squared slopes, of standardised features."""
COPY = 0.9
"""Cosine from which a skill may be a copy of the right one: neither right nor wrong."""
FOLDS = 5
DRAWS = 2_000
SEED = 20261121


class Listed(NamedTuple):
    """The best skills of one request."""

    name: str
    """What names its skill: requests for one skill stand in one fold."""
    features: Any
    """Candidates x slopes, the points first: points, share, cosine, length."""
    grades: Any
    counted: Any
    """True where the skill is known to be right or wrong."""
    ideal: tuple[int, ...]
    """The grades of all right skills, best first."""


def listed(bound: BoundHybrid, text: str, relevant: dict[str, int], name: str) -> Listed | None:
    """Return the best skills of a request; None where it is not long, or not in English."""
    scored = bound.prepare(Query(text))
    covers, searcher, library = scored.candidates.coverage, bound.library.searcher, bound.library
    if not covers:
        return None
    best = top_by_points(scored.totals, searcher, CANDIDATES)
    rows = [
        [total, covers[o].share, covers[o].cosine, covers[o].length]
        for o, total in best
        if o in covers
    ]
    grades = np.array([relevant.get(library.skill(o).id, 0) for o, _ in best])
    vectors = np.array([np.frombuffer(searcher.vector(o), "i1") for o, _ in best], "f4") / UNIT
    near = (vectors @ vectors[grades > 0].T > COPY).any(1)
    counted = (grades > 0) | ~near
    ideal = tuple(sorted(relevant.values(), reverse=True)[:10])
    return Listed(name, np.array(rows), grades, counted, ideal)


def fit(lists: Sequence[Listed]) -> Any:
    """Return the slopes that make the right skills likeliest (listwise cross-entropy)."""
    from scipy.optimize import minimize

    used = [one for one in lists if (one.grades > 0).any()]
    rows = np.concatenate([one.features for one in used])
    mean, spread = rows.mean(0), rows.std(0)

    def loss(slopes: Any) -> tuple[float, Any]:
        lost, gradient = STRENGTH * (slopes**2).sum(), 2 * STRENGTH * slopes
        for one in used:
            x = ((one.features - mean) / spread)[one.counted]
            gain = np.where(one.grades > 0, 2.0**one.grades - 1, 0.0)[one.counted]
            right = gain / gain.sum() / len(used)
            scores = x @ slopes - (x @ slopes).max()
            logs = scores - np.log(np.exp(scores).sum())
            lost -= right @ logs
            gradient = gradient - x.T @ (right - np.exp(logs) / len(used))
        return lost, gradient

    return minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x / spread


def quality(one: Listed, slopes: Any) -> tuple[float, float]:
    """Return (nDCG@10, Hit@1), the best :attr:`Fusion.covered` in the order of the slopes."""
    scores = one.features[:, 1:] @ (slopes[1:] / slopes[0])
    scores = np.where(
        np.arange(len(scores)) < FUSION.covered, scores - scores[: FUSION.covered].min(), 0.0
    )
    order = np.argsort(-(one.features[:, 0] + scores), kind="stable")
    seen = one.grades[order][:10]
    discounts = np.log2(np.arange(2, 12))
    ideal = ((2.0 ** np.array(one.ideal) - 1) / discounts[: len(one.ideal)]).sum()
    return float(((2.0**seen - 1) / discounts[: len(seen)]).sum() / ideal), float(seen[0] >= 2)


def crossed(lists: Sequence[Listed]) -> list[tuple[float, float]]:
    """Return the quality of each list by slopes that have seen no request for its skill."""
    fold = [int.from_bytes(md5(one.name.encode()).digest()[:4], "big") % FOLDS for one in lists]
    fits = [
        fit([one for one, own in zip(lists, fold, strict=True) if own != number])
        for number in range(FOLDS)
    ]
    return [quality(one, fits[own]) for one, own in zip(lists, fold, strict=True)]


def report(what: str, before: Sequence[Any], after: Sequence[Any]) -> None:
    """Print both measures, and what was gained with its 95 % interval of paired draws."""
    old, new = np.array(before), np.array(after)
    drawn = np.random.default_rng(SEED).integers(0, len(old), (DRAWS, len(old)))
    low, high = np.quantile((new - old)[drawn].mean(1), [0.025, 0.975], axis=0)
    for place, name in enumerate(("nDCG@10", "Hit@1")):
        one, other = old[:, place].mean(), new[:, place].mean()
        print(
            f"# {what}, {len(old)}: {name} {one:.3f} to {other:.3f},"
            f" {other - one:+.4f} [{low[place]:+.4f}, {high[place]:+.4f}]"
        )


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--table", required=True, help="made by python -m training --held-out")
    options = parser.parse_args()
    with open(options.table, "rb") as file:
        table = TokenTable(file.read(), options.table)
    skills = read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz"))
    documents = [build_document(skill, table) for skill in skills]
    # Looked at, and worth nothing yet.
    plain = Hybrid(FUSION._replace(covered=CANDIDATES, coverage=0.0, nearness=0.0, length=0.0))
    bound = BoundHybrid(plain, library_of(skills, documents, table))
    names = {skill.id: skill.name.lower() for skill in skills}
    copies: dict[str, dict[str, int]] = {}
    for key, name in names.items():
        copies.setdefault(name, {})[key] = 3
    rows = read_rows(
        os.path.join(options.shared, "bench", "train_requests.tsv"),
        os.path.join(HERE, "data", "requests.tsv"),
        os.path.join(HERE, "data", "more_requests.tsv"),
    )
    tasks, others = (
        read_queries(os.path.join(HERE, "data", f"{what}_tasks.jsonl"))
        for what in ("tuning", "long")
    )
    judges = {names[key] for task in (*tasks, *others) for key in task.relevant if key in names}
    pairs = [
        (text, names[key])
        for key, _, text in rows
        if key in names and held_out(key) and names[key] not in judges
    ]
    candidates = [listed(bound, text, copies[name], name) for text, name in pairs]
    lists = [one for one in candidates if one is not None]
    judged = [listed(bound, q.query.text, dict(q.relevant), q.id) for q in tasks]
    plainly = np.array([1.0, 0.0, 0.0, 0.0])
    before = [quality(one, plainly) for one in lists]
    report("long requests, cross-validated", before, crossed(lists))
    slopes = fit(lists)
    known = [one for one in judged if one is not None]
    report(
        "tuning tasks",
        [quality(one, plainly) for one in known],
        [quality(one, slopes) for one in known],
    )
    print(f"    coverage: float = {slopes[1] / slopes[0]:.4f}")
    print(f"    nearness: float = {slopes[2] / slopes[0]:.4f}")
    print(f"    length: float = {-slopes[3] / slopes[0]:.4f}")


if __name__ == "__main__":
    main()
