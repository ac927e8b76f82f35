"""A large pool made of a real one: each skill again and again with other words of like frequency.

Following spec/performance.md §0: in every copy 45 % of the terms are exchanged for terms within an
octave of their frequency rank, so that lists of postings are as long as real ones; one term in
two hundred is new.
"""

from __future__ import annotations

import random
from array import array
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import require_corpus

__all__ = ["Pool", "make"]

SEED = 21
EXCHANGED = 0.45
NEW = 0.005
DIMENSIONS = 256


class Pool(NamedTuple):
    """Documents for our index, and the same as lists of tokens for the peers."""

    documents: list[Any]
    tokens: list[list[str]]
    vectors: bytes
    queries: dict[int, list[list[str]]]
    """Lists of terms, by how many each has."""
    rarity: dict[str, float]


def make(shared: Path, count: int) -> Pool:
    """Return a pool of ``count`` skills. Deterministic."""
    corpus = require_corpus(shared)
    from math import log

    from skillyard.engine.bench.runs import read_skills
    from skillyard.engine.index.document_builder import FIELDS, build_document, count_fields
    from skillyard.engine.index.token_table import bundled_table

    rng = random.Random(SEED)
    skills = read_skills(str(corpus))[:count]
    table = bundled_table()
    base = [build_document(skill, table) for skill in skills]
    counted = []
    for skill in skills:
        analysed = count_fields(skill)
        total: dict[str, int] = {}
        for field in FIELDS:
            for term, number in getattr(analysed, field.name).items():
                total[term] = total.get(term, 0) + number
        counted.append(total)
    frequency: dict[str, int] = {}
    for total in counted:
        for term in total:
            frequency[term] = frequency.get(term, 0) + 1
    ranked = sorted(frequency, key=lambda term: (-frequency[term], term))
    rank = {term: place for place, term in enumerate(ranked)}
    documents, tokens, vectors = [], [], bytearray()
    for number in range(count):
        source = number % len(base)
        document, total = base[source], counted[source]
        other = _exchange(total, rank, ranked, rng) if number >= len(base) else {}
        counts = [
            (other.get(term, term), impact)
            for term, impact in zip(document.terms, document.impacts, strict=True)
            if term[0] >= " "
        ]
        merged = dict(counts)
        vector = document.vector or bytes(table.dimensions)
        if number >= len(base):
            vector = _shaken(vector, rng)
        documents.append(
            document._replace(
                key=f"s{number}",
                record=b"",
                terms=tuple(merged),
                impacts=tuple(merged.values()),
                vector=vector,
            )
        )
        vectors += vector
        tokens.append([other.get(t, t) for t, n in total.items() for _ in range(n)])
    held: dict[str, int] = {}
    for document in documents:
        for term in document.terms:
            held[term] = held.get(term, 0) + 1
    rarity = {t: log(1 + (count - n + 0.5) / (n + 0.5)) for t, n in held.items()}
    return Pool(documents, tokens, bytes(vectors), _queries(tokens, held, rng), rarity)


def _exchange(
    total: dict[str, int], rank: dict[str, int], ranked: list[str], rng: random.Random
) -> dict[str, str]:
    other = {}
    for term in total:
        chance = rng.random()
        if chance < NEW:
            other[term] = f"new{rng.getrandbits(40):x}"
        elif chance < EXCHANGED:
            place = rank[term]
            other[term] = ranked[rng.randint(place // 2, min(2 * place + 1, len(ranked) - 1))]
    return other


def _shaken(vector: bytes, rng: random.Random) -> bytes:
    noise = rng.randbytes(len(vector))
    signed = array("b", vector)
    return array(
        "b",
        [max(-127, min(127, value + (n % 17) - 8)) for value, n in zip(signed, noise, strict=True)],
    ).tobytes()


def _queries(
    tokens: list[list[str]], held: dict[str, int], rng: random.Random
) -> dict[int, list[list[str]]]:
    """Return 60 queries of five content words, and 30 of a hundred consecutive words."""
    common = len(tokens) // 5
    short: list[list[str]] = []
    while len(short) < 60:
        words = sorted({t for t in rng.choice(tokens) if 2 < held.get(t, 0) < common})
        if len(words) >= 5:
            short.append(rng.sample(words, 5))
    long: list[list[str]] = []
    while len(long) < 30:
        words = rng.choice(tokens)
        if len(words) >= 200:
            start = rng.randrange(len(words) - 100)
            long.append(list(dict.fromkeys(words[start : start + 100])))
    return {5: short, 100: long}
