"""Make the token table of ``hybrid``.

    python -m training [--shared DIR] [--held-out | --without FOLD] [--more] [--out FILE]

Reads the pool and the training requests, asks the teacher once, tunes the table, fits the
emphases, and writes the file that the package bundles. ``--held-out`` leaves one skill in five
out of everything that is fitted: for figures on unseen skills, and for ``training.calibrate``.
``--without`` leaves out the skills of a fold of repositories, their text too: for
``training.left_out``.
"""

from __future__ import annotations

import argparse
import os
import time
from math import log

import numpy as np

from skillyard.engine.index import token_table
from training.contrast import Tuned, tune
from training.emphasis import fit_emphasis
from training.folds import FOLDS, fold_of
from training.pool import Pool, narrowed, read_pool, read_requests
from training.requests import excluded_ids
from training.table_file import TokenRow, write_table
from training.teacher import encode, vocabulary

BUNDLED = os.path.join(os.path.dirname(token_table.__file__), "data", "table.bin")
WEIGHTIEST = 8_000
"""The whole weight of the 99.9th percentile of the rows' lengths."""


def packed(pool: Pool, terms: list[str], tuned: Tuned, emphasis: object) -> bytes:
    """Return the table file: rows in signed bytes, weights, emphases and rarities in steps."""
    longest = np.abs(tuned.rows).max(1) + 1e-9
    rows = np.clip(np.round(tuned.rows / longest[:, None] * 127), -127, 127).astype("i1")
    scale = WEIGHTIEST / np.percentile(longest, 99.9)
    weights = np.clip(np.round(longest * scale), 1, 8_190).astype(int)
    query_weights = np.clip(np.round(longest * np.exp(tuned.query_gain) * scale), 1, 8_190).astype(
        int
    )
    steps = np.clip(np.round(np.exp(np.asarray(emphasis)) * 64), 1, 255).astype(int)
    held = pool.frequencies("name", "description", "tags", "headings", "prose", "code")
    listed = []
    for number, term in enumerate(terms):
        share = (held[pool.terms[term]] if term in pool.terms else 0) + 0.3
        rarity = min(255, max(0, round(-log(share / pool.size) * 16)))
        listed.append(
            TokenRow(int(weights[number]), int(query_weights[number]), int(steps[number]), rarity)
        )
    return write_table(terms, listed, rows.tobytes(), rows.shape[1])


def _described(pool: Pool, path: str | None) -> np.ndarray:
    """Return the teacher's vectors of all descriptions, kept in a file where one is named."""
    if path is not None and os.path.exists(path):
        return np.load(path)
    vectors = encode([f"{s.name}. {s.description}" for s in pool.skills], 128)
    if path is not None:
        np.save(path, vectors)
    return vectors


def main() -> None:
    """Make the table, saying how long each step took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    left_out = parser.add_mutually_exclusive_group()
    left_out.add_argument("--held-out", action="store_true")
    left_out.add_argument("--without", type=int, choices=range(len(FOLDS) + 1), metavar="FOLD")
    parser.add_argument("--more", action="store_true", help="train on more_requests.tsv too")
    parser.add_argument("--out", default=BUNDLED)
    parser.add_argument("--descriptions", help="keep what the teacher said of them in this file")
    options = parser.parse_args()
    started = time.monotonic()

    def report(what: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {what}", flush=True)

    pool = read_pool(options.shared)
    excluded = excluded_ids(options.shared)
    members = [
        number
        for number, skill in enumerate(pool.skills)
        if skill.id not in excluded and fold_of(skill.id) != options.without
    ]
    everything, pool = pool, narrowed(pool, members)
    requests = read_requests(options.shared, pool, more=options.more)
    if options.held_out:
        requests = [request for request in requests if not request.held_out]
    report(f"{pool.size:,} skills, {len(pool.terms):,} terms, {len(requests):,} requests")
    terms, words = vocabulary(pool, requests)
    teacher = encode(words, 16)
    described = _described(everything, options.descriptions)[members]
    report("the teacher has read words and descriptions")
    tuned = tune(pool, terms, teacher, described, requests)
    report("the table is tuned")
    emphasis = fit_emphasis(pool, terms, described, requests)
    report("the emphases are fitted")
    data = packed(pool, terms, tuned, emphasis)
    beside = f"{options.out}.tmp"
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, options.out)
    report(f"{options.out}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
