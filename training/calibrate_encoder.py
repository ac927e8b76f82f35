"""``python -m training.calibrate_encoder``: what the encoder's cosine says about the probability.

    python -m training.calibrate_encoder --model FOLDER [--descriptions FILE]

Asks libraries as those of :mod:`.calibrate`, and the ninety libraries of the near misses, with
``hybrid`` and the encoder of that folder. One ridge logistic regression over the log-odds of the
built-in evidence, the cosine of the best skill and its lead over the next, both for English
requests once more, the features of the best skill, the request's highest and mean cosine with the
background, and the products of two of these (``pairs``) gives the numbers of the attribute
``calibration`` of ``encoder/src/skillyard_encoder/encoder.py`` (spec/encoder.md, third study).
What is asked for are skills of hands that the encoder has not seen; its cosine with a request of
its training says too much. Near misses exist for libraries of forty skills alone, so nothing is
multiplied by the size of a library.
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
from skillyard.engine.ranking.hybrid.constants import Features
from skillyard.engine.ranking.hybrid.scorer import FLOOR, HYBRID, Hybrid
from skillyard.engine.ranking.query import Query
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
from training.libraries import unseen_wishes
from training.requests import CHOOSING_HANDS, HERE, read_rows

STRENGTH = 8.0
"""Weight of the squared coefficients (of standardised columns)."""
NOTHING_FITS = 0.4
"""Share of the requests that nothing in a library fits. An assumption: nobody has counted what
users ask, and a floor means nothing without it."""
NEAR = 1.5
"""Weight of all near misses and of what their libraries can answer, as a multiple of the rest. With
more of it, near misses fire less and requests for absent skills more (``README.md``)."""
PARTS = 5
"""Parts of skills, libraries and hands that are left out in turn."""
FIRST_HANDS = 40
"""The last library of the first five hands of near misses."""
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
    english: float,
    background: Sequence[float],
) -> list[float]:
    """Return the columns in the order of ``EmbedderCalibration``, without its bias."""
    cosine, ahead = cosines[0], cosines[0] - cosines[1]
    facts = (log_odds, cosine, ahead, background[0] if background else 0.0)
    pairs = [one * other for one, other in combinations_with_replacement(facts, 2)]
    base = [log_odds, cosine, ahead, english, english * cosine, english * ahead]
    return [*base, *features, *background, *pairs]


def drawn_row(sample: CalibrationSample) -> list[float]:
    """Return the columns of a request of a drawn library."""
    english = 1.0 - sample.where.foreign
    return row_of(sample.log_odds, sample.cosines, sample.facts, english, sample.background)


def near_samples(shared: str, scorer: Hybrid) -> Iterator[NearSample]:
    """Yield the near misses, and requests that their libraries can answer.

    These are those of the same hands, and of hands 7 and 8.
    """
    by_id = {s.id: s for s in read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))}
    members: dict[str, list[str]] = {}
    for number, key in read_rows(os.path.join(HERE, "data", "libraries.tsv")):
        members.setdefault(number, []).append(key)
    requests: dict[str, list[tuple[str, str, str]]] = {number: [] for number in members}
    for number, text, _, _, hand in read_rows(os.path.join(HERE, "data", "near_misses.tsv")):
        requests[number].append((text, "", hand))
    for number, kind, _, text, key, _, hand in read_rows(os.path.join(HERE, "data", "choices.tsv")):
        if kind != "forbidden":
            requests[number].append((text, key if kind == "fit" else "", hand))
    hands = {f"hand{number}" for number in CHOOSING_HANDS}
    places = {key: number for number, keys in members.items() for key in keys}
    for key, _, text, hand, _ in read_rows(os.path.join(HERE, "data", "hands.tsv")):
        if hand in hands and key in places:
            requests[places[key]].append((text, key, hand))
    for number, keys in members.items():
        bound = scorer.bind([by_id[key] for key in keys])
        for text, key, hand in requests[number]:
            scored = bound.prepare(Query(text))
            if scored.best is None or scored.features is None:
                continue
            english = 1.0 - scored.query_features.foreign
            row = row_of(
                evidence_log_odds(scored),
                cosines_of(scored),
                scored.features,
                english,
                scored.candidates.background,
            )
            best = bound.library.skill(scored.best).id
            yield NearSample(row, int(number), hand, bool(key), best == key)


class JointFit:
    """The drawn libraries and the near misses as columns, with what each row counts."""

    def __init__(self, drawn: Sequence[CalibrationSample], near: Sequence[NearSample]) -> None:
        self.answers = Answers(drawn, 1.0 - NOTHING_FITS)
        self.size = len(drawn)
        self.rows = np.array([*map(drawn_row, drawn), *(sample.row for sample in near)])
        own = np.array([float(sample.right) for sample in near])
        self.labels = np.concatenate([self.answers.labels, own])
        self.answerable = np.array([sample.answerable for sample in near])
        self.right = np.array([sample.right for sample in near])
        weights = np.where(
            self.answerable,
            (1.0 - NOTHING_FITS) / self.answerable.sum() * np.where(self.right, 1.0, WRONG),
            NOTHING_FITS / (~self.answerable).sum(),
        )
        whole = self.answers.fitted.sum() * NEAR
        self.weights = np.concatenate([self.answers.fitted, whole * weights])
        hands = sorted({sample.hand for sample in near})
        self.untouched = np.array([sample.hand == UNTOUCHED for sample in near])
        self.usable = np.concatenate([np.full(self.size, True), ~self.untouched])
        self.fresh = np.array([sample.library > FIRST_HANDS for sample in near])
        libraries = [sample.library % PARTS for sample in near]
        self.parts = np.concatenate([self.answers.by_skill, libraries])
        none = np.full(self.size, -1)
        self.hands = np.concatenate([none, [hands.index(each.hand) % PARTS for each in near]])

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
            f"# {name}: {self._near_line(odds[self.size :][which], which)}"
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
    both = JointFit(drawn, near)
    print(f"# {len(drawn):,} questions to drawn libraries, {len(near):,} near misses and answers")
    shipped = np.array([*Encoder.calibration])
    for what, odds in (
        ("built-in evidence alone", both.rows[:, 0]),
        ("as it ships", shipped[0] + both.rows[:, : len(shipped) - 1] @ shipped[1:]),
        ("fitted, crossed by skills, libraries and hands", both.crossed()),
    ):
        print(f"# {what}:")
        print("\n".join(totals_of(both.answers, probability(odds[: both.size]))))
        print(both.near_lines(odds))
    numbers = both.fitted(np.ones(len(both.rows), dtype=bool))
    print(f"    calibration = ({', '.join(f'{number:.4f}' for number in numbers)})")


if __name__ == "__main__":
    main()
