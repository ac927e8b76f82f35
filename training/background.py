"""``python -m training.background``: the kinds of public skills, for the encoder's ``background``.

    python -m training.background [--model FOLDER] [--out FILE]

Spherical k-means (Dhillon & Modha, Machine Learning 42, 2001) over the vectors of all skills of the
pool: 768 directions, as signed bytes of norm 127. A request that no skill of a library fits often
lies nearer to one of them than to any skill of the library. The same model and pool give the same
file on one machine.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.index.library import memory_library
from skillyard.engine.ranking.hybrid.dense_index import skill_vectors
from skillyard_encoder import Encoder
from training.calibrate import Numbers

KINDS = 768
"""512 to 2,048 do as well (within .002 of AUROC); so many keep the package below 20 MB."""
ROUNDS = 20
SEED = 7
UNIT = 127
SHIPPED = "encoder/src/skillyard_encoder/data/kinds.npy"


def directions(vectors: Numbers) -> Numbers:
    """Return the unit centres of the kinds. A kind that loses all its skills stays where it is."""
    chosen = np.random.default_rng(SEED).choice(len(vectors), KINDS, replace=False)
    centres = vectors[chosen]
    for _ in range(ROUNDS):
        kind = (vectors @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, kind, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), centres)
    return centres


def main() -> None:
    """Write the file, and say how large it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    parser.add_argument("--model", help="folder of model.onnx and tokenizer.json")
    parser.add_argument("--out", type=Path, default=Path(SHIPPED))
    options = parser.parse_args()
    skills = read_skills(os.path.join(options.shared, "corpus", "skills.jsonl.gz"))
    stored = b"".join(skill_vectors(Encoder(options.model), memory_library(skills)))
    vectors = np.frombuffer(stored, np.int8).reshape(len(skills), -1) / UNIT
    np.save(options.out, np.round(directions(vectors) * UNIT).astype(np.int8))
    print(f"{KINDS:,} kinds of {len(skills):,} skills; {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
