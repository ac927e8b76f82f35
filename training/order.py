"""``python -m training.order``: what orders the best skills of a short request once more.

    python -m training.order [--shared DIR]                      # hybrid: the table's cosine
    python -m training.order --encoder [--model FOLDER]          # hybrid+encoder: the encoder's

English requests of the hands that choose (:data:`.requests.CHOOSING_HANDS`) are asked of the whole
pool. A listwise logistic regression over the best skills of each has four slopes: the points as
they are, the share of the request that the skill contains, the share of names that it does not, and
the cosine; the last three are divided by the first. They are ``share``, ``names`` and ``cosine`` of
:class:`~skillyard.engine.ranking.hybrid.constants.Fusion`, or the attribute ``order`` of
``encoder/src/skillyard_encoder/encoder.py``. Prints how well that does on skills that the fit has
not seen, and on the hands that choose nothing. Nothing is drawn by chance but the intervals.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.index.token_table import UNIT
from skillyard.engine.ranking.hybrid.constants import FUSION
from skillyard.engine.ranking.hybrid.fusion import top_by_points
from skillyard.engine.ranking.hybrid.scorer import BoundHybrid, Hybrid
from skillyard.engine.ranking.query import Query
from training.coverage import COPY, Listed, crossed, fit, quality, report
from training.requests import CHOOSING_HANDS, UNSEEN_HANDS, read_hands

UNORDERED = FUSION._replace(share=0.0, names=0.0, cosine=0.0)
"""What orders the best skills is looked at, and none of it counts."""


def unordered(model: str | None, *, encoder: bool) -> Hybrid:
    """Return the scorer, with the encoder of that folder or without one."""
    plain = Hybrid(UNORDERED)
    if not encoder:
        return plain
    from skillyard_encoder import Encoder

    embedder = Encoder(model)
    embedder.order = (0.0, 0.0, 0.0)
    return plain.with_embedder(embedder)


def listed(bound: BoundHybrid, key: str, text: str) -> Listed | None:
    """Return the best skills of a request for one skill; None where nothing orders them."""
    scored = bound.prepare(Query(text))
    order, library = scored.candidates.order, bound.library
    best = [
        (ordinal, points, order[ordinal])
        for ordinal, points in top_by_points(scored.totals, library.searcher, FUSION.ordered)
        if ordinal in order
    ]
    if not best:
        return None
    rows = [[points, own.share, own.names, own.cosine] for _, points, own in best]
    grades = np.array([3 * (library.skill(ordinal).id == key) for ordinal, *_ in best], dtype=int)
    vectors = [np.frombuffer(library.searcher.vector(ordinal), "i1") for ordinal, *_ in best]
    units = np.array(vectors, "f4") / UNIT
    copies = (units @ units[grades > 0].T > COPY).any(1)
    return Listed(key, np.array(rows), grades, (grades > 0) | ~copies, (3,))


def lists_of(bound: BoundHybrid, shared: str, hands: Sequence[int]) -> Iterator[Listed]:
    """Yield the best skills of each English request of the hands that has any."""
    known = {skill.id for skill in bound.skills}
    names = {f"hand{number}" for number in hands}
    for key, _, text, hand, language in read_hands(shared):
        if hand in names and language == "en" and key in known:
            one = listed(bound, key, text)
            if one is not None:
                yield one


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--encoder", action="store_true", help="the numbers of skillyard-encoder")
    parser.add_argument("--model", help="folder of model.onnx and tokenizer.json")
    options = parser.parse_args()
    skills = read_skills(str(Path(options.shared, "corpus", "skills.jsonl.gz")))
    bound = unordered(options.model, encoder=options.encoder).bind(skills)
    lists = list(lists_of(bound, options.shared, CHOOSING_HANDS))
    plainly = np.array([1.0, 0.0, 0.0, 0.0])
    before = [quality(one, plainly) for one in lists]
    report("hands that choose, cross-validated over skills", before, crossed(lists))
    slopes = fit(lists)
    unseen = list(lists_of(bound, options.shared, UNSEEN_HANDS))
    report(
        "hands that choose nothing",
        [quality(one, plainly) for one in unseen],
        [quality(one, slopes) for one in unseen],
    )
    share, names, cosine = slopes[1:] / slopes[0]
    if options.encoder:
        print(f"    order = ({share:.4f}, {-names:.4f}, {cosine:.4f})")
    else:
        print(f"    share: float = {share:.4f}")
        print(f"    names: float = {-names:.4f}")
        print(f"    cosine: float = {cosine:.4f}")


if __name__ == "__main__":
    main()
