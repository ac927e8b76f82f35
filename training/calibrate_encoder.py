"""``python -m training.calibrate_encoder``: what the encoder's cosine says about the probability.

    python -m training.calibrate_encoder --model FOLDER [--descriptions FILE]

Asks libraries as those of :mod:`.calibrate` with ``hybrid`` and the encoder of that folder, and
fits four numbers: bias, log-odds of the built-in evidence, cosine of the best skill, and its lead
over the next. They are the attribute ``calibration`` of
``encoder/src/skillyard_encoder/encoder.py``. What is asked for are skills of hands that the encoder
has not seen; its cosine with a request of its training says too much.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.ranking.hybrid.scorer import HYBRID
from skillyard_encoder import Encoder
from training.calibrate import (
    Answers,
    Numbers,
    crossed,
    fit,
    probability,
    read_descriptions,
    samples,
    totals_of,
)
from training.libraries import unseen_wishes

STRENGTH = 1.0
"""Weight of the squared coefficients: there are four of them, and thousands of questions."""


class _Remembering(Encoder):
    """The encoder, without its own calibration, encoding each text once."""

    calibration = None

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return (
            super().embed(texts) if len(texts) > 1 else [list(self._once(each)) for each in texts]
        )

    @lru_cache(maxsize=100_000)  # noqa: B019  # one for the whole run
    def _once(self, text: str) -> tuple[float, ...]:
        return tuple(super().embed([text])[0])


def rows_of(requests: Sequence[Any]) -> Numbers:
    """Return log-odds, cosine and lead, one row a question."""
    return np.array([[a.log_odds, a.cosines[0], a.cosines[0] - a.cosines[1]] for a in requests])


def main() -> None:
    """Fit, print how well that does on skills that the fit has not seen, and the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument(
        "--model", help="folder of model.onnx and tokenizer.json (default: shipped)"
    )
    parser.add_argument("--descriptions", help="keep what the teacher said of them in this file")
    options = parser.parse_args()
    scorer = HYBRID.with_embedder(_Remembering(options.model))
    drawn = samples(
        options.shared,
        bundled_table(),
        lambda pool: read_descriptions(pool, options.descriptions),
        scorer,
        unseen_wishes,
    )
    requests = [sample for sample in drawn if not sample.where.foreign]
    answers = Answers(requests)
    rows = rows_of(requests)
    print(f"# {len(requests):,} English questions, built-in evidence alone:")
    print("\n".join(totals_of(answers, probability(rows[:, 0]))))
    odds = crossed(rows, answers.labels, answers.fitted, answers.by_skill, STRENGTH)
    print("# with the cosines, cross-validated over skills:")
    print("\n".join(totals_of(answers, probability(odds))))
    numbers = fit(rows, answers.labels, answers.fitted, STRENGTH)
    print(f"    calibration = ({', '.join(f'{number:.4f}' for number in numbers)})")


if __name__ == "__main__":
    main()
