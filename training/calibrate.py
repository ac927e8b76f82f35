"""Fit the probability of ``hybrid``: which facts tell that the best skill fits.

    python -m training.calibrate [--table FILE] [--shared DIR] [--descriptions FILE] [--cells FILE]

Requests with a fitting skill and without one are asked of libraries of 1 to 10,476 skills
(:mod:`.libraries`). None of them wants a skill of which the bundled table has learned from a
request. The facts are those that the scorer itself works out. Prints how well that does on
requests for skills, and for repositories, that the fit has not seen, and the constants for
``skillyard/engine/ranking/hybrid/constants.py``; ``--cells`` writes the tables of each cell as
Markdown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.index import token_table
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.library import Library, memory_searcher
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.ranking.hybrid.calibration import log_odds_parts, one_word_adjustment
from skillyard.engine.ranking.hybrid.constants import (
    CALIBRATION,
    HALF_OF_QUERY,
    Features,
    QueryFeatures,
)
from skillyard.engine.ranking.hybrid.fusion import Evidence
from skillyard.engine.ranking.hybrid.scorer import HYBRID, BoundHybrid, Hybrid, ScoredHybrid
from skillyard.engine.ranking.query import Query
from skillyard.engine.skill import Skill
from training.folds import FOLDS, fold_of
from training.libraries import DRAWS, Draw, Wish, draws, fold, none_wishes, shortened, wishes
from training.pool import Pool

STRENGTH = 15.0
"""Weight of the squared coefficients (of standardised columns)."""
UNLIKE, ALIKE, MOST = 0.25, 0.70, 0.80
"""Cosines of two descriptions, by the teacher, from which a skill is taken to do something of the
other's work, and most of it, and how much that is: by judged pairs (``training/README.md``)."""
WRONG = 0.25
"""What a request counts whose best skill is not the right one: order is not what is fitted here."""
KIN = 1.5
"""What a request counts in a library of one neighbourhood: small libraries are mostly that."""
SIZES = {1: 0.35, 2: 0.35, 3: 0.35, 5: 0.5}
"""What a cell of each size counts, 1 where nothing is said: four sizes below ten are alike."""
FEW = 5
FITS = 1 / 3
"""Share of the requests that fit in a library of up to :data:`FEW` skills; half of them in larger
ones. An assumption: nobody has counted what small libraries are asked (``training/README.md``)."""
KINDS = {"absent": 0.45, "near": 0.35, "far": 0.20}
"""What each kind of request that nothing fits counts in its cell, as far as there are any."""
LENGTHS = (3, 10, 40)
"""Words up to which a request belongs to a cell; the last cell holds all that are longer."""
CELLS = ("1 to 3", "4 to 10", "11 to 40", "41 and more")
FLOORS = (0.5, 2 / 3)
LONG = (250, 470)
"""Characters of the long requests of which it is told how many fire."""
BINS = 10
NONE = -50.0
"""Log-odds of the rule that says nothing."""

Numbers = npt.NDArray[Any]


class CalibrationSample(NamedTuple):
    """One request of one library."""

    facts: Features
    where: QueryFeatures
    rule: tuple[float, float, float]
    """The log-odds that the rules add, and that they say at least and at most."""
    kind: str
    """``fits``, or the kind of a request that nothing fits."""
    size: int
    """Skills of the library, as planned."""
    kin: bool
    cell: int
    """The place of its length in :data:`CELLS`."""
    name: str
    right: bool
    """The best skill is the right one, or has its name."""
    label: float
    """How far the best skill fits, 0..1."""
    task: bool
    """Stands in a task prompt that was put together."""
    characters: int
    gaps: list[tuple[float, bool]]
    """(points behind the best, right) of the first ten."""
    log_odds: float
    """Of the best skill by the built-in evidence, before the rules."""
    cosines: tuple[float, float]
    """The best skill's cosine by an embedder, and that of the best other candidate."""
    background: tuple[float, ...] = ()
    """The request's cosines with the embedder's background."""
    margin: float = 1.0
    """The points of the best skill above the next."""


def library_of(
    skills: Sequence[Skill], documents: Sequence[IndexedDocument], table: TokenTable
) -> Library:
    """Return a library of the skills whose documents were made with that table."""
    searcher = memory_searcher(documents, table.dimensions)
    places = dict(zip(searcher.ordinals(), skills, strict=True))
    library = Library(searcher, table, lambda record: skills[0])  # every skill is in the cache
    library._cache.update(places)
    library._known.update((id(skill), ordinal) for ordinal, skill in places.items())
    return library


class _Asking:
    """Asks the drawn libraries, and knows which skills are right."""

    def __init__(
        self, pool: Pool, described: Any, table: TokenTable, scorer: Hybrid = HYBRID
    ) -> None:
        self.pool, self.described, self.table = pool, described, table
        self.scorer = scorer
        self.documents = [build_document(skill, table) for skill in pool.skills]
        self.places = {skill.id: number for number, skill in enumerate(pool.skills)}
        self.names = [skill.id.split("/")[-1].split("~")[0] for skill in pool.skills]

    def answers(self, draw: Draw) -> Iterator[CalibrationSample]:
        skills = [shortened(self.pool.skills[place], draw.body) for place in draw.skills]
        if draw.body is None:
            documents = [self.documents[place] for place in draw.skills]
        else:
            documents = [build_document(skill, self.table) for skill in skills]
        bound = BoundHybrid(self.scorer, library_of(skills, documents, self.table))
        for wish, fits in draw.requests:
            sample = self._ask(bound, wish, fits, draw)
            if sample is not None:
                yield sample

    def _ask(
        self, bound: BoundHybrid, wish: Wish, fits: bool, draw: Draw
    ) -> CalibrationSample | None:
        scored = bound.prepare(Query(wish.text))
        if scored.best is None or scored.features is None:
            return None
        skill = bound.library.skill
        best = self.places[skill(scored.best).id]
        order = sorted(scored.totals.items(), key=lambda item: -item[1])[:10]
        most = scored.totals[scored.best]
        gaps = [(most - total, self._right(self.places[skill(o).id], wish)) for o, total in order]
        right = fits and self._right(best, wish)
        near = max(
            [float(self.described[best] @ self.described[s]) for s in wish.skills], default=0
        )
        like = MOST * min(1.0, max(0.0, (near - UNLIKE) / (ALIKE - UNLIKE)))
        words = len(wish.text.split())
        kind = wish.style.split()[0]
        kind = "fits" if fits else kind if kind in KINDS else "absent"
        return CalibrationSample(
            scored.features,
            scored.query_features,
            _rule(
                scored.evidence_of(skill(scored.best))[1],
                scored.features,
                talk=scored.analysed.is_small_talk,
            ),
            kind,
            draw.size,
            draw.kin,
            sum([words > most for most in LENGTHS]),
            wish.name,
            right,
            1.0 if right else like if kind in ("fits", "absent") else 0.0,
            wish.style.endswith("task"),
            len(wish.text),
            gaps if fits else [],
            evidence_log_odds(scored),
            cosines_of(scored),
            scored.candidates.background,
            scored.margin,
        )

    def _right(self, place: int, wish: Wish) -> bool:
        return any(place == s or self.names[place] == self.names[s] for s in wish.skills)


def evidence_log_odds(scored: ScoredHybrid) -> float:
    """Return the log-odds of the best skill before rules and embedder."""
    assert scored.features is not None
    parts = log_odds_parts(scored.features, scored.query_features, CALIBRATION)
    is_plain_name = not scored.features.rest and scored.is_plain_name
    return sum([value for _, value in parts]) + one_word_adjustment(
        scored.features, CALIBRATION, is_plain_name=is_plain_name
    )


def cosines_of(scored: ScoredHybrid) -> tuple[float, float]:
    """Return the best skill's cosine by an embedder, and that of the best other candidate."""
    cosines = scored.candidates.embedder_cosines
    others = [value for ordinal, value in cosines.items() if ordinal != scored.best]
    return cosines.get(scored.best, 0.0) if scored.best is not None else 0.0, max(others, default=0)


def _rule(evidence: Evidence, features: Features, *, talk: bool) -> tuple[float, float, float]:
    """Return the log-odds that the rules add, and that they say at least and at most."""
    adds = one_word_adjustment(features, CALIBRATION)
    if evidence.called:
        return adds, CALIBRATION.called, CALIBRATION.called
    least = CALIBRATION.phrased if evidence.share >= HALF_OF_QUERY else NONE
    return adds, least, CALIBRATION.talk if talk else -NONE


def columns(samples: Sequence[CalibrationSample]) -> Numbers:
    """Return the rows that are fitted: the situation, the facts, these by length and by size."""
    where = np.array([list(a.where) for a in samples])
    facts = np.array([list(a.facts) for a in samples])
    length, size = (QueryFeatures._fields.index(name) for name in ("length", "size"))
    return np.hstack([where, facts, facts * where[:, [length]], facts * where[:, [size]]])


def weights_of(samples: Sequence[CalibrationSample], fitting: float = 0.5) -> Numbers:
    """Return what each request counts: a cell of size and length as its size says.

    ``fitting`` of a cell are requests that fit, and :data:`FITS` of it in a library of few skills.

    Over all of the pool a request whose skill was taken out counts nothing: too much else fits it.
    """
    sizes = np.array([a.size for a in samples])
    cells = np.array([a.cell for a in samples])
    kinds = np.array([a.kind for a in samples])
    weights = np.zeros(len(samples))
    for size in sorted({plan.size for plan in DRAWS}):
        counts = SIZES.get(size, 1.0)
        share = FITS if size <= FEW else fitting
        for cell in range(len(CELLS)):
            here = (sizes == size) & (cells == cell)
            fits = here & (kinds == "fits")
            weights[fits] = counts * share / max(1, fits.sum())
            there = {kind: here & (kinds == kind) for kind in KINDS}
            there = {kind: which for kind, which in there.items() if which.sum() > 5}
            whole = sum(KINDS[kind] for kind in there)
            for kind, which in there.items():
                weights[which] = counts * (1 - share) * KINDS[kind] / whole / which.sum()
    weights[(sizes == DRAWS[-1].size) & (kinds == "absent")] = 0.0
    return weights * len(weights) / weights.sum()


def fit(rows: Numbers, labels: Numbers, weights: Numbers, strength: float = STRENGTH) -> Numbers:
    """Return bias and coefficients of a ridge logistic regression, by Newton's method."""
    mean = np.average(rows, axis=0, weights=weights)
    spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights)) + 1e-9
    x = np.hstack([np.ones((len(rows), 1)), (rows - mean) / spread])
    beta = np.zeros(x.shape[1])
    ridge = np.full(x.shape[1], strength)
    ridge[0] = 0.0
    for _ in range(60):
        p = probability(x @ beta)
        gradient = x.T @ (weights * (p - labels)) + ridge * beta
        curvature = (x * (weights * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:
            break
    slopes = beta[1:] / spread
    return np.concatenate([[beta[0] - slopes @ mean], slopes])


def probability(odds: Numbers) -> Numbers:
    """Return the probabilities of log-odds."""
    return 1 / (1 + np.exp(-np.clip(odds, -50, 50)))


def crossed(
    rows: Numbers, labels: Numbers, weights: Numbers, part: Numbers, strength: float = STRENGTH
) -> Numbers:
    """Return log-odds, each from a fit that has not seen its part."""
    predictions = np.zeros(len(rows))
    for number in sorted(set(part.tolist())):
        seen = part != number
        beta = fit(rows[seen], labels[seen], weights[seen], strength)
        predictions[~seen] = beta[0] + rows[~seen] @ beta[1:]
    return predictions


def auroc(scores: Numbers, labels: Numbers) -> float:
    """Return the chance that a request with an answer scores above one without."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = labels.sum()
    wins = ranks[labels].sum() - positive * (positive + 1) / 2
    return float(wins / (positive * (~labels).sum()))


def bins(p: Numbers, labels: Numbers, weights: Numbers) -> list[tuple[float, float, float, int]]:
    """Return (weight, mean probability, share that fits, requests) of each bin."""
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    bins = []
    for number in range(BINS):
        here = at == number
        weight = float(weights[here].sum())
        scale = weight or 1.0
        predicted, fits = ((weights[here] * v[here]).sum() / scale for v in (p, labels))
        bins.append((weight, float(predicted), float(fits), int(here.sum())))
    return bins


def error(p: Numbers, labels: Numbers, weights: Numbers) -> float:
    """Return the expected calibration error, over ten bins."""
    listed = bins(p, labels, weights)
    whole = sum([weight for weight, *_ in listed])
    return sum([weight * abs(predicted - fits) for weight, predicted, fits, _ in listed]) / whole


class Answers:
    """All that was asked, as columns."""

    def __init__(self, samples: Sequence[CalibrationSample], fitting: float = 0.5) -> None:
        self.rows = columns(samples)
        self.labels = np.array([a.label for a in samples])
        self.right = np.array([a.right for a in samples])
        self.kinds = np.array([a.kind for a in samples])
        self.fits = self.kinds == "fits"
        self.sizes = np.array([a.size for a in samples])
        self.cells = np.array([a.cell for a in samples])
        self.kin = np.array([a.kin for a in samples])
        self.task = np.array([a.task for a in samples])
        self.characters = np.array([a.characters for a in samples])
        self.rules = np.array([a.rule for a in samples])
        self.names = [a.name for a in samples]
        self.weights = weights_of(samples, fitting)
        """What each counts where an error is measured."""
        self.fitted = self.weights * np.where(self.fits & ~self.right, WRONG, 1.0)
        self.fitted *= np.where(self.kin, KIN, 1.0)
        self.fitted *= len(samples) / self.fitted.sum()
        """What each counts in the fit."""
        self.by_skill = np.array([fold(name) for name in self.names])
        self.by_repository = np.array(
            [
                fold_of(name) if kind not in ("near", "far") else fold(name, len(FOLDS) + 1)
                for name, kind in zip(self.names, self.kinds, strict=True)
            ]
        )

    def crossed(self, part: Numbers) -> Numbers:
        """Return probabilities, rules and all, from fits that have not seen the part."""
        odds = crossed(self.rows, self.labels, self.fitted, part)
        adds, least, most = self.rules.T
        return probability(np.maximum(np.minimum(odds + adds, most), least))


def _share(p: Numbers, which: Numbers, floor: float) -> str:
    number = int(which.sum())
    return f"{(p[which] >= floor).mean():.2f}" if number else "–"


def cells_of(answers: Answers, p: Numbers) -> Iterator[str]:
    """Yield the Markdown table of all cells."""
    yield "| skills | words | right first | kept at ½, ⅔ | absent fire | near | far | ECE |"
    yield "|---|---|---|---|---|---|---|---|"
    for size in sorted(set(answers.sizes.tolist())):
        for cell in [*range(len(CELLS)), None]:
            here = answers.sizes == size
            if cell is not None:
                here = here & (answers.cells == cell)
            fits, right = here & answers.fits, here & answers.right
            fires = []
            for kind in KINDS:
                which = here & (answers.kinds == kind)
                both = ", ".join(_share(p, which, floor) for floor in FLOORS)
                fires.append(f"{both} of {which.sum():,}" if which.any() else "–")
            shares = ", ".join(_share(p, right, floor) for floor in FLOORS)
            off = error(p[here], answers.labels[here], answers.weights[here])
            words = "all" if cell is None else CELLS[cell]
            yield (
                f"| {size:,} | {words} | {right.sum():,} of {fits.sum():,} | {shares} | "
                f"{' | '.join(fires)} | {off:.3f} |"
            )


def diagram_of(answers: Answers, p: Numbers) -> Iterator[str]:
    """Yield the reliability diagrams: for each cell, what was said and what came true."""
    yield "| skills | words | " + " | ".join(f"{n / BINS:.1f}" for n in range(BINS)) + " |"
    yield "|---|---|" + "---|" * BINS
    for size in sorted(set(answers.sizes.tolist())):
        for cell, words in enumerate(CELLS):
            here = (answers.sizes == size) & (answers.cells == cell)
            listed = bins(p[here], answers.labels[here], answers.weights[here])
            shown = [f"{s:.2f} {f:.2f} ({n})" if n else "" for _, s, f, n in listed]
            yield f"| {size:,} | {words} | {' | '.join(shown)} |"


def interval(hits: int, number: int) -> str:
    """Return a share with its 95 % interval (Wilson's)."""
    z, share = 1.96, hits / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = (
        z / (1 + z * z / number) * (share * (1 - share) / number + (z / (2 * number)) ** 2) ** 0.5
    )
    return f"{share:.3f} [{middle - half:.3f}, {middle + half:.3f}]"


def totals_of(answers: Answers, p: Numbers) -> Iterator[str]:
    """Yield, for each size and way of drawing, what is kept and what fires, with intervals."""
    yield (
        "| skills | drawn from | kept at ½ | at ⅔ | nothing fits, fire at ½ | at ⅔ |"
        f" of {LONG[0]} to {LONG[1]} characters, at ⅔ | ECE | AUROC |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for size in sorted(set(answers.sizes.tolist())):
        for kin in (False, True):
            here = (answers.sizes == size) & (answers.kin == kin)
            if not here.any():
                continue
            right, none = here & answers.right, here & ~answers.fits
            shown = [
                interval(int((p[which] >= floor).sum()), int(which.sum()))
                for which in (right, none)
                for floor in FLOORS
            ]
            long = none & (answers.characters >= LONG[0]) & (answers.characters <= LONG[1])
            shown.append(interval(int((p[long] >= FLOORS[-1]).sum()), int(long.sum())))
            off = error(p[here], answers.labels[here], answers.weights[here])
            both = right | none
            drawn = "one neighbourhood" if kin else "the pool"
            area = auroc(p[both], answers.right[both])
            yield f"| {size:,} | {drawn} | {' | '.join(shown)} | {off:.3f} | {area:.3f} |"


def _near(answers: Answers, p: Numbers) -> None:
    """Print how near misses are told from all and from rightly answered requests, over the pool."""
    pool = (answers.sizes == max(answers.sizes)) & ~answers.task & (answers.cells > 0)
    near = pool & (answers.kinds == "near")
    for what, fits in (("rightly", pool & answers.right), ("", pool & answers.fits)):
        both = fits | near
        least = np.quantile(p[fits], 0.05)
        print(
            f"# near misses over all of the pool, against {what or 'all'} answered requests: AUROC "
            f"{auroc(p[both], fits[both]):.3f}, fire at 95 % kept {(p[near] >= least).mean():.2f}"
        )


def _constants(coefficients: Numbers) -> Iterator[str]:
    """Yield the fields of ``Calibration`` that are fitted."""
    yield f"    bias: float = {coefficients[0]:.4f}"
    start = 1
    for name, kind in (
        ("situation", QueryFeatures),
        ("counts", Features),
        ("by_length", Features),
        ("by_size", Features),
    ):
        yield f"    {name}: {kind.__name__} = {kind.__name__}("
        for field in kind._fields:
            yield f"        {field}={coefficients[start]:.4f},"
            start += 1
        yield "    )"


def read_descriptions(pool: Pool, path: str | None) -> Any:
    """Return the teacher's vectors of all descriptions, kept in a file where one is named."""
    if path is not None and os.path.exists(path):
        return np.load(path)
    from training.teacher import encode

    vectors = encode([f"{s.name}. {s.description}" for s in pool.skills], 128)
    if path is not None:
        np.save(path, vectors)
    return vectors


def samples(
    shared: str,
    table: TokenTable,
    described: Callable[[Pool], Any],
    scorer: Hybrid = HYBRID,
    wished: Callable[[str, Pool], list[Wish]] = wishes,
) -> Iterator[CalibrationSample]:
    """Yield the answers of all drawn libraries to what they are asked."""
    pool = Pool(read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz")), {}, {})
    vectors = described(pool)
    asking = _Asking(pool, vectors, table, scorer)
    for draw in draws(pool, vectors, wished(shared, pool), none_wishes(shared)):
        yield from asking.answers(draw)


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    data = os.path.dirname(token_table.__file__)
    bundled = os.path.join(data, "data", "table.bin")
    parser.add_argument("--table", default=bundled)
    parser.add_argument("--descriptions", help="keep what the teacher said of them in this file")
    parser.add_argument("--cells", help="write the tables of all cells to this file, as Markdown")
    options = parser.parse_args()
    with open(options.table, "rb") as file:
        table = TokenTable(file.read(), options.table)
    requests = list(
        samples(options.shared, table, lambda pool: read_descriptions(pool, options.descriptions))
    )
    answers = Answers(requests)
    print(f"# {len(requests):,} questions")
    by_skill = answers.crossed(answers.by_skill)
    for what, p in (
        ("skills", by_skill),
        ("repositories", answers.crossed(answers.by_repository)),
    ):
        print(f"# cross-validated over {what}:")
        print("\n".join(totals_of(answers, p)))
        _near(answers, p)
    if options.cells:
        lines = [*cells_of(answers, by_skill), "", *diagram_of(answers, by_skill)]
        with open(options.cells, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    print("\n".join(_constants(fit(answers.rows, answers.labels, answers.fitted))))
    pairs = [pair for a in requests for pair in a.gaps]
    gaps = np.array([[gap] for gap, _ in pairs])
    right = np.array([1.0 if hit else 0.0 for _, hit in pairs])
    print(f"    gap: float = {-fit(gaps, right, np.ones(len(pairs)), 10.0)[1]:.4f}")


if __name__ == "__main__":
    main()
