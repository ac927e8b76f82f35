"""``python -m training.calibrate_encoder``: what the encoder's cosine says about the probability.

    python -m training.calibrate_encoder --model FOLDER [--descriptions FILE]

Asks libraries as those of :mod:`.calibrate`, and the ninety libraries of the near misses, with
``hybrid`` and the encoder of that folder. One ridge logistic regression over the log-odds of the
built-in evidence, the cosine of the best skill and its lead over the next, both for English
requests once more, its points above the next, its features, the request's highest and mean cosine
with the background, the products of two of these (``pairs``), and those with the size of a library
beyond forty skills (``larger``) gives the numbers of the attribute ``calibration`` of
``encoder/src/skillyard_encoder/encoder.py`` (spec/encoder.md, third study). What is asked for are
skills of hands that the encoder has not seen; its cosine with a request of its training says too
much. Near misses exist for libraries of forty skills alone, which that size leaves as they are.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.ranking.hybrid.calibration import FORTY
from skillyard.engine.ranking.hybrid.constants import Features, QueryFeatures
from skillyard.engine.ranking.hybrid.scorer import FLOOR, HYBRID, Hybrid, ScoredHybrid
from skillyard.engine.ranking.query import Query
from skillyard.engine.skill import Skill
from skillyard_encoder import Encoder
from training.calibrate import (
    WRONG,
    Answers,
    CalibrationSample,
    Numbers,
    auroc,
    cosines_of,
    evidence_log_odds,
    fit,
    probability,
    read_descriptions,
    samples,
    totals_of,
)
from training.coverage import COPY
from training.libraries import unseen_wishes
from training.pool import Pool
from training.requests import CHOOSING_HANDS, HERE, PROBABILITY_HANDS, SIBLING_HAND, read_rows

STRENGTH = 8.0
"""Weight of the squared coefficients (of standardised columns)."""
NOTHING_FITS = 0.25
"""Share of the requests that nothing in a library fits. An assumption: nobody has counted what
users ask, and a floor means nothing without it."""
NEAR = 2.0
"""Weight of all near misses and of what their libraries can answer, as a multiple of the rest. With
more of it, near misses fire less and requests for absent skills more (``README.md``)."""
PARTS = 5
"""Parts of skills, libraries and hands that are left out in turn."""
FIRST_HANDS = 40
"""The last library of the first five hands of near misses."""
MORE_GROUPS = (0, 1, 4)
"""Groups of eight that stand beside a group of the siblings."""
SEED = 3
LARGE, WRONG_IN_LARGE = 300, 0.7
"""From so many skills on, what a request counts whose best skill is not the right one (``WRONG`` in
smaller libraries): the larger a library, the more often that is so, and the probability must know.
"""
EVERYDAY = 0.5
"""Weight of all everyday requests, as a multiple of the drawn ones."""
SIBLINGS = 0.5
"""Weight of all questions to siblings, as a multiple of the drawn ones."""
UNTOUCHED = "near15"
"""The hand whose near misses and requests are never fitted."""


class NearSample(NamedTuple):
    """One request of one of the ninety libraries of near misses."""

    row: list[float]
    """As :func:`row_of`."""
    library: int
    hand: str
    answerable: bool
    right: bool


class SiblingSample(NamedTuple):
    """One request of a library of near skills of one owner, with the skill it wants or without."""

    row: list[float]
    """As :func:`row_of`."""
    group: int
    skills: int
    answerable: bool
    right: bool


class _Remembering(Encoder):
    """The encoder, without its own calibration, encoding each text once."""

    calibration = None  # type: ignore[assignment]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return (
            super().embed(texts) if len(texts) > 1 else [list(self._once(each)) for each in texts]
        )

    @lru_cache(maxsize=100_000)  # noqa: B019  # one for the whole run
    def _once(self, text: str) -> tuple[float, ...]:
        return tuple(super().embed([text])[0])


def row_of(
    log_odds: float,
    cosines: tuple[float, float],
    features: Features,
    query: QueryFeatures,
    background: Sequence[float],
    margin: float,
) -> list[float]:
    """Return the columns in the order of ``EmbedderCalibration``, without its bias."""
    cosine, ahead, english = cosines[0], cosines[0] - cosines[1], 1.0 - query.foreign
    facts = (log_odds, cosine, ahead, background[0] if background else 0.0, margin)
    pairs = [one * other for one, other in combinations_with_replacement(facts, 2)]
    base = [log_odds, cosine, ahead, english, english * cosine, english * ahead]
    larger = [max(0.0, query.size - FORTY) * value for value in (1.0, *facts)]
    return [*base, *features, *background, *pairs, margin, *larger]


def drawn_row(sample: CalibrationSample) -> list[float]:
    """Return the columns of a request of a drawn library."""
    facts, where = sample.facts, sample.where
    return row_of(sample.log_odds, sample.cosines, facts, where, sample.background, sample.margin)


def scored_row(scored: ScoredHybrid) -> list[float] | None:
    """Return the columns of a request; None where nothing is found."""
    if scored.best is None or scored.features is None:
        return None
    return row_of(
        evidence_log_odds(scored),
        cosines_of(scored),
        scored.features,
        scored.query_features,
        scored.candidates.background,
        scored.margin,
    )


def best_of(scored: ScoredHybrid) -> str:
    """Return the id of the best skill of a request that found one."""
    assert scored.best is not None
    return scored.bound.library.skill(scored.best).id


def near_libraries(shared: str) -> dict[str, list[Skill]]:
    """Return the skills of the ninety libraries of near misses."""
    by_id = {s.id: s for s in read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))}
    libraries: dict[str, list[Skill]] = {}
    for number, key in read_rows(os.path.join(HERE, "data", "libraries.tsv")):
        libraries.setdefault(number, []).append(by_id[key])
    return libraries


def near_samples(shared: str, scorer: Hybrid) -> Iterator[NearSample]:
    """Yield the near misses, and requests that their libraries can answer.

    These are those of the same hands, and of hands 7 and 8.
    """
    libraries = near_libraries(shared)
    requests: dict[str, list[tuple[str, str, str]]] = {number: [] for number in libraries}
    for number, text, _, _, hand in read_rows(os.path.join(HERE, "data", "near_misses.tsv")):
        requests[number].append((text, "", hand))
    for number, kind, _, text, key, _, hand in read_rows(os.path.join(HERE, "data", "choices.tsv")):
        if kind != "forbidden":
            requests[number].append((text, key if kind == "fit" else "", hand))
    hands = {f"hand{number}" for number in CHOOSING_HANDS}
    places = {skill.id: number for number, skills in libraries.items() for skill in skills}
    for key, _, text, hand, _ in read_rows(os.path.join(HERE, "data", "hands.tsv")):
        if hand in hands and key in places:
            requests[places[key]].append((text, key, hand))
    for number, skills in libraries.items():
        bound = scorer.bind(skills)
        for text, key, hand in requests[number]:
            scored = bound.prepare(Query(text))
            if (row := scored_row(scored)) is None:
                continue
            best = best_of(scored)
            yield NearSample(row, int(number), hand, bool(key), best == key)


def everyday_samples(shared: str, scorer: Hybrid) -> Iterator[NearSample]:
    """Yield everyday requests to the libraries of near misses, which hardly any skill is for.

    The hand is ``learned``, or ``measured`` for those that are never fitted.
    """
    libraries = near_libraries(shared)
    requests = list(read_rows(os.path.join(HERE, "data", "everyday.tsv")))
    for number, skills in libraries.items():
        bound = scorer.bind(skills)
        for use, text in requests:
            if (row := scored_row(bound.prepare(Query(text)))) is not None:
                yield NearSample(row, int(number), use, answerable=False, right=False)


def sibling_samples(shared: str, scorer: Hybrid, vectors: Numbers) -> Iterator[SiblingSample]:
    """Yield what a hand asked of eight near skills of one owner, perhaps among more of the same.

    Each request was written for one of the eight and none of the others, so without that skill
    nothing fits. ``vectors`` are the teacher's vectors of the descriptions.
    """
    skills = read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))
    places = {skill.id: place for place, skill in enumerate(skills)}
    groups: dict[int, list[str]] = {}
    for number, key in read_rows(os.path.join(HERE, "data", "siblings.tsv")):
        groups.setdefault(int(number), []).append(key)
    texts: dict[str, list[str]] = {}
    for key, _, text, hand, _ in read_rows(os.path.join(HERE, "data", "hands.tsv")):
        if hand == f"hand{SIBLING_HAND}":
            texts.setdefault(key, []).append(text)
    random = np.random.default_rng(SEED)
    for number, keys in groups.items():
        owner = keys[0].partition("/")[0]
        same = [n for n, each in groups.items() if n != number and each[0].startswith(f"{owner}/")]
        more = random.permutation(same)[: random.choice(MORE_GROUPS)]
        library = [places[key] for key in [*keys, *(k for n in more for k in groups[int(n)])]]
        whole = scorer.bind([skills[place] for place in library])
        for key in keys:
            target = places[key]
            rest = [p for p in library if p != target and vectors[p] @ vectors[target] < COPY]
            without = scorer.bind([skills[place] for place in rest])
            for text in texts.get(key, ()):
                for bound in (whole, without):
                    answer = bound.prepare(Query(text))
                    if (row := scored_row(answer)) is not None:
                        is_right = best_of(answer) == key
                        yield SiblingSample(
                            row, number, len(library), bound is whole, bound is whole and is_right
                        )


def collection_samples(scorer: Hybrid) -> Iterator[SiblingSample]:
    """Yield what hands asked of collections of one product that they wrote (``PROBABILITY_HANDS``).

    What a skill fits is asked with that skill and without it.
    """
    data = os.path.join(HERE, "data")
    members: dict[str, list[Skill]] = {}
    rows = read_rows(os.path.join(data, "encoder_bodies.tsv"))
    bodies = {(number, name): body.replace("\\n", "\n") for number, name, body in rows}
    for number, name, description in read_rows(os.path.join(data, "encoder_libraries.tsv")):
        body = bodies.get((number, name), "")
        skill = Skill(name, description, body, id=f"{number}/{name}")
        members.setdefault(number, []).append(skill)
    for number, kind, text, name, hand in read_rows(os.path.join(data, "encoder_choices.tsv")):
        if hand not in PROBABILITY_HANDS:
            continue
        whole = members[number]
        rest = [skill for skill in whole if skill.name != name]
        for library in (whole, rest) if kind == "fit" else (whole,):
            answer = scorer.bind(library).prepare(Query(text))
            if (row := scored_row(answer)) is not None:
                fits = kind == "fit" and library is whole
                is_right = fits and best_of(answer) == f"{number}/{name}"
                yield SiblingSample(row, int(number), len(whole), fits, is_right)


class JointFit:
    """Drawn libraries, near misses, siblings and everyday requests as columns, and what counts."""

    def __init__(
        self,
        drawn: Sequence[CalibrationSample],
        near: Sequence[NearSample],
        siblings: Sequence[SiblingSample],
        everyday: Sequence[NearSample],
    ) -> None:
        self.answers = Answers(drawn, 1.0 - NOTHING_FITS)
        self.size = len(drawn)
        others = (*near, *siblings, *everyday)
        self.rows = np.array([*map(drawn_row, drawn), *(each.row for each in others)])
        own = [float(sample.right) for sample in others]
        self.labels = np.concatenate([self.answers.labels, own])
        self.near = slice(self.size, self.size + len(near))
        self.answerable = np.array([sample.answerable for sample in near])
        self.right = np.array([sample.right for sample in near])
        self.siblings = siblings
        self.asked = slice(self.near.stop, self.near.stop + len(siblings))
        self.everyday = slice(self.asked.stop, len(self.rows))
        learned = np.array([sample.hand == "learned" for sample in everyday], dtype=bool)
        self.measured = ~learned
        whole = self.answers.fitted.sum()
        self.weights = np.concatenate(
            [
                self.answers.fitted,
                whole * NEAR * _shares(self.answerable, self.right),
                whole * SIBLINGS * _shares(*self._outcomes()),
                np.full(len(everyday), whole * EVERYDAY / max(1, learned.sum())),
            ]
        )
        large = self.answers.fits & ~self.answers.right & (self.answers.sizes >= LARGE)
        self.weights[: self.size][large] *= WRONG_IN_LARGE / WRONG
        hands = sorted({sample.hand for sample in near})
        self.untouched = np.array([sample.hand == UNTOUCHED for sample in near])
        self.usable = np.full(len(self.rows), True)
        self.usable[self.near] = ~self.untouched
        self.usable[self.everyday] = learned
        self.fresh = np.array([sample.library > FIRST_HANDS for sample in near])
        libraries = [sample.library % PARTS for sample in near]
        groups = [sample.group % PARTS for sample in siblings]
        days = [sample.library % PARTS for sample in everyday]
        self.parts = np.concatenate([self.answers.by_skill, libraries, groups, days])
        self.hands = np.full(len(self.rows), -1)
        self.hands[self.near] = [hands.index(each.hand) % PARTS for each in near]

    def _outcomes(self) -> tuple[Numbers, Numbers]:
        """Return of the siblings which requests a skill fits, and where it is first."""
        fits = np.array([each.answerable for each in self.siblings], dtype=bool)
        return fits, np.array([each.right for each in self.siblings], dtype=bool)

    def fitted(self, which: Numbers) -> Numbers:
        """Return bias and coefficients, from those rows."""
        which = which & self.usable
        return fit(self.rows[which], self.labels[which], self.weights[which], STRENGTH)

    def crossed(self) -> Numbers:
        """Return log-odds by fits that have seen neither skill, library nor hand of a row."""
        odds = np.zeros(len(self.rows))
        for part in range(PARTS):
            for hand in range(-1, PARTS):
                here = (self.parts == part) & (self.hands == hand)
                beta = self.fitted((self.parts != part) & ((self.hands != hand) | (hand < 0)))
                odds[here] = beta[0] + self.rows[here] @ beta[1:]
        return odds

    def near_lines(self, odds: Numbers) -> str:
        """Return how the near misses are told from requests that a skill of the library fits."""
        whole = np.full(len(self.right), True)
        named = {
            "near misses of hands 1 to 5": ~self.fresh,
            "of hands 11 to 15": self.fresh,
            f"of {UNTOUCHED}, never fitted": self.untouched,
            "all": whole,
        }
        return "\n".join(
            f"# {name}: {self._near_line(odds[self.near][which], which)}"
            for name, which in named.items()
        )

    def _near_line(self, own: Numbers, which: Numbers) -> str:
        answerable, right = self.answerable[which], self.right[which]
        p, misses = probability(own), ~answerable
        rightly = right | misses
        at = np.quantile(own[misses], 0.9)
        return (
            f"AUROC {auroc(own, answerable):.3f}, against what is rightly first"
            f" {auroc(own[rightly], right[rightly]):.3f}; fire {(p[misses] >= FLOOR).mean():.3f};"
            f" rightly chosen {((p >= FLOOR) & right).sum() / answerable.sum():.3f},"
            f" wrongly {((p >= FLOOR) & answerable & ~right).sum() / answerable.sum():.3f};"
            f" rightly at fires of .10 {((own > at) & right).sum() / answerable.sum():.3f}"
        )

    def sibling_line(self, odds: Numbers) -> str:
        """Return what is chosen among near skills of one owner."""
        p = probability(odds[self.asked])
        fits, right = self._outcomes()
        hits = p >= FLOOR
        at = np.quantile(p[~fits], 0.9)
        rightly = right | ~fits
        return (
            f"# near skills of one owner or product: first {right[fits].mean():.3f}, rightly chosen"
            f" {(hits & right)[fits].mean():.3f}, wrongly {(hits & ~right)[fits].mean():.3f};"
            f" without the skill fire {hits[~fits].mean():.3f};"
            f" AUROC against what is rightly first {auroc(p[rightly], right[rightly]):.3f};"
            f" rightly at fires of .10 {((p > at) & right)[fits].mean():.3f}"
        )

    def everyday_line(self, odds: Numbers) -> str:
        """Return how many everyday requests get a skill."""
        hits = probability(odds[self.everyday]) >= FLOOR
        return (
            f"# everyday requests to the libraries of near misses: fire {hits.mean():.3f},"
            f" those that are never fitted {hits[self.measured].mean():.3f}"
        )


def _shares(answerable: Numbers, right: Numbers) -> Numbers:
    """Return what each row counts of one."""
    return np.where(
        answerable,
        (1.0 - NOTHING_FITS) / answerable.sum() * np.where(right, 1.0, WRONG),
        NOTHING_FITS / (~answerable).sum(),
    )


def main() -> None:
    """Fit, print how well that does on what the fit has not seen, and the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument(
        "--model", help="folder of model.onnx and tokenizer.json (default: shipped)"
    )
    parser.add_argument("--descriptions", help="keep what the teacher said of them in this file")
    options = parser.parse_args()
    scorer = HYBRID.with_embedder(_Remembering(options.model))
    drawn: list[Any] = list(
        samples(
            options.shared,
            bundled_table(),
            lambda pool: read_descriptions(pool, options.descriptions),
            scorer,
            unseen_wishes,
        )
    )
    near = list(near_samples(options.shared, scorer))
    pool = Pool(read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz")), {}, {})
    vectors = read_descriptions(pool, options.descriptions)
    siblings = [*sibling_samples(options.shared, scorer, vectors), *collection_samples(scorer)]
    everyday = list(everyday_samples(options.shared, scorer))
    both = JointFit(drawn, near, siblings, everyday)
    print(
        f"# {len(drawn):,} questions to drawn libraries, {len(near):,} near misses and answers,"
        f" {len(siblings):,} questions to siblings, {len(everyday):,} everyday requests"
    )
    shipped = np.array([*Encoder.calibration])
    for what, odds in (
        ("built-in evidence alone", both.rows[:, 0]),
        ("as it ships", shipped[0] + both.rows[:, : len(shipped) - 1] @ shipped[1:]),
        ("fitted, crossed by skills, libraries and hands", both.crossed()),
    ):
        print(f"# {what}:")
        print("\n".join(totals_of(both.answers, probability(odds[: both.size]))))
        print(both.near_lines(odds))
        print(both.sibling_line(odds))
        print(both.everyday_line(odds))
    numbers = both.fitted(np.ones(len(both.rows), dtype=bool))
    print(f"    calibration = ({', '.join(f'{number:.4f}' for number in numbers)})")


if __name__ == "__main__":
    main()
