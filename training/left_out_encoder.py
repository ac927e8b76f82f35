r"""How well an encoder ranks skills whose repository it was not tuned on.

    python -m training.tune_encoder --out whole.safetensors
    python -m training.tune_encoder --without 0 --out fold0.safetensors      # and 1, and 2
    python -m training.left_out_encoder --whole whole.safetensors \
        --folds 0=fold0.safetensors 1=fold1.safetensors 2=fold2.safetensors

All are tuned in the same way. The English requests of hands 7 to 10 are asked of the whole pool
with ``hybrid``, with the encoder tuned on all repositories, and with the one that has not seen the
repository of the skill that is wanted, fold by fold. Prints nDCG@10 and Hit@1, and how much of the
gain remains. The encoders are not rounded to seven bits, and the same numbers order the best
skills.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skillyard.engine.bench.measures import interval
from skillyard.engine.bench.runs import read_skills
from skillyard.engine.ranking.hybrid.dense_index import embedded_text
from skillyard.engine.ranking.hybrid.scorer import HYBRID, Hybrid
from skillyard.engine.ranking.query import Query
from skillyard.engine.skill import Skill
from skillyard_encoder import Encoder
from training.encoder import load_tokenizer
from training.export_encoder import blended
from training.folds import fold_of
from training.requests import CHOOSING_HANDS, UNSEEN_HANDS, read_hands
from training.tune_encoder import encode

PIECES = 128
"""Word pieces of a text, as in the package."""
DEPTH = 10


class Unrounded:
    """An embedder with the vectors of these texts by tuned weights."""

    weights = Encoder.weights
    order = Encoder.order

    def __init__(self, tuned: Path, texts: Sequence[str]) -> None:
        import torch

        self.id = f"unrounded {tuned.resolve()} {tuned.stat().st_mtime_ns}"
        tokenizer = load_tokenizer()
        tokenizer.enable_truncation(PIECES)
        once = list(dict.fromkeys(texts))
        with torch.no_grad():
            vectors = encode(blended(tuned), [tokenizer.encode(text).ids for text in once])
        self._vectors = dict(zip(once, vectors.tolist(), strict=True))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """Return the vectors. Raises KeyError for another text."""
        return [self._vectors[text] for text in texts]


def values(scorer: Hybrid, skills: Sequence[Skill], rows: Sequence[tuple[str, str]]) -> Any:
    """Return (nDCG@10, Hit@1) by (skill id, request), one row a request."""
    bound = scorer.bind(skills)
    measured = []
    for key, text in rows:
        ids = [skill.id for skill, _ in bound.prepare(Query(text)).scores()[:DEPTH]]
        place = ids.index(key) if key in ids else DEPTH
        measured.append((1 / np.log2(place + 2) if place < DEPTH else 0.0, float(place == 0)))
    return np.array(measured)


def line(what: str, plain: Any, whole: Any, left_out: Any) -> str:
    """Return the figures of one fold, as a row of a table."""
    means = [f"{one[:, 0].mean():.3f}, {one[:, 1].mean():.3f}" for one in (plain, whole, left_out)]
    gain = left_out[:, 0] - plain[:, 0]
    low, high = interval(gain.tolist())
    share = gain.mean() / (whole[:, 0] - plain[:, 0]).mean()
    gained = f"{gain.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"| {what} | {len(plain):,} | {' | '.join(means)} | {gained} | {share:.0%} |"


def _fold(text: str) -> tuple[int, Path]:
    number, _, path = text.partition("=")
    return int(number), Path(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--whole", type=Path, required=True, metavar="FILE")
    parser.add_argument("--folds", type=_fold, nargs="+", required=True, metavar="FOLD=FILE")
    options = parser.parse_args()
    skills = read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz"))
    known = {skill.id for skill in skills}
    hands = {f"hand{number}" for number in (*CHOOSING_HANDS, *UNSEEN_HANDS)}
    rows = [
        (key, text)
        for key, _, text, hand, language in read_hands(options.shared)
        if hand in hands and language == "en" and key in known
    ]
    described = [embedded_text(skill) for skill in skills]
    whole = HYBRID.with_embedder(Unrounded(options.whole, [*described, *(t for _, t in rows)]))
    print("| fold | requests | hybrid | all repositories | left out | gain left | of the gain |")
    print("|---|---|---|---|---|---|---|")
    parts = []
    for number, path in options.folds:
        own = [(key, text) for key, text in rows if fold_of(key) == number]
        left_out = HYBRID.with_embedder(Unrounded(path, [*described, *(t for _, t in own)]))
        part = [values(scorer, skills, own) for scorer in (HYBRID, whole, left_out)]
        print(line(f"{number}", *part), flush=True)
        parts.append(part)
    print(line("all", *(np.concatenate(each) for each in zip(*parts, strict=True))))


if __name__ == "__main__":
    main()
