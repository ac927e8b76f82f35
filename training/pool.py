"""The pool of skills as counts, and the requests that are known to want one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from hashlib import md5
from math import log
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from skillyard.analysis import STANDARD
from skillyard.evals.retrieval.measures import read_skills
from skillyard.index.bm25f import FIELDS, K1, B, count_fields
from skillyard.skill import Skill

__all__ = [
    "HELD_OUT",
    "Pool",
    "Request",
    "held_out",
    "narrowed",
    "read_pool",
    "read_requests",
    "read_rows",
    "request_rows",
]

HERE = os.path.dirname(os.path.abspath(__file__))
HELD_OUT = 5
"""One skill in so many is left out where a figure on unseen skills is wanted."""


def held_out(key: str) -> bool:
    """True for the skills that are left out, the same ones always."""
    return int.from_bytes(md5(key.encode()).digest()[:4], "big") % HELD_OUT == 0


def read_rows(*paths: str) -> list[tuple[str, ...]]:
    """Return the tab-separated rows of those files that are there."""
    rows: list[tuple[str, ...]] = []
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                rows += [tuple(line.rstrip("\n").split("\t")) for line in file if line.strip()]
    return rows


def request_rows(shared: str, *files: str) -> list[tuple[str, ...]]:
    """Return (skill id, style, request) of the shared training requests and of files of ``data``.

    Rows about a skill that some judged set wants (``bench/exclude_from_training.txt``) are left
    out, whoever wrote them.
    """
    excluded = {key for (key, *_) in read_rows(f"{shared}/bench/exclude_from_training.txt")}
    paths = [os.path.join(HERE, "data", name) for name in files]
    rows = read_rows(os.path.join(shared, "bench", "train_requests.tsv"), *paths)
    return [row for row in rows if row[0] not in excluded]


class Request(NamedTuple):
    """One request, and the skill of the pool that it wants."""

    skill: int
    text: str
    held_out: bool


class Pool(NamedTuple):
    """Skills and terms as sparse counts."""

    skills: list[Skill]
    terms: dict[str, int]
    counts: dict[str, Any]
    """By field: skills x terms, how often."""

    @property
    def size(self) -> int:
        """Skills of the pool."""
        return len(self.skills)

    def names(self) -> Any:
        """Return the names as they are compared, so that copies are known for the same."""
        plain = [re.sub(r"[^a-z0-9]+", "-", s.name.lower()).strip("-") for s in self.skills]
        return np.array(plain)

    def impacts(self) -> tuple[Any, Any]:
        """Return (skills x terms impacts, rarity by term), as the index has them."""
        total = None
        for field in FIELDS:
            counts = self.counts[field.name]
            length = np.asarray(counts.sum(1)).ravel()
            weight = field.weight / (1 - B + B * length / field.average)
            part = sparse.diags(weight) @ counts
            total = part if total is None else total + part
        total = total.tocsr()
        total.data = total.data / (K1 + total.data)
        frequency = np.asarray((total > 0).sum(0)).ravel()
        return total, np.log(1 + (self.size - frequency + 0.5) / (frequency + 0.5))

    def frequencies(self, *fields: str) -> Any:
        """Return how many skills hold each term in one of the fields."""
        held = sum(
            ((self.counts[field] > 0).astype("i4") for field in fields[1:]),
            (self.counts[fields[0]] > 0).astype("i4"),
        )
        return np.asarray((held > 0).sum(0)).ravel()


def read_pool(shared: str) -> Pool:
    """Read and analyse the pool."""
    skills = read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))
    terms: dict[str, int] = {}
    names = [field.name for field in FIELDS]
    cells: dict[str, tuple[list[int], list[int], list[float]]] = {n: ([], [], []) for n in names}
    for number, skill in enumerate(skills):
        analysed = count_fields(skill)
        for name in names:
            rows, columns, values = cells[name]
            for term, count in getattr(analysed, name).items():
                rows.append(number)
                columns.append(terms.setdefault(term, len(terms)))
                values.append(count)
    shape = (len(skills), len(terms))
    counts = {
        name: sparse.csr_matrix((values, (rows, columns)), shape=shape, dtype="f4")
        for name, (rows, columns, values) in cells.items()
    }
    return Pool(skills, terms, counts)


def narrowed(pool: Pool, kept: Sequence[int]) -> Pool:
    """Return the pool with those skills only, and with the terms that they hold."""
    if len(kept) == pool.size:
        return pool
    counts = {name: found[kept] for name, found in pool.counts.items()}
    held = np.zeros(len(pool.terms), dtype=bool)
    for found in counts.values():
        held[found.indices] = True
    columns = np.flatnonzero(held)
    places = np.cumsum(held) - 1
    terms = {term: int(places[number]) for term, number in pool.terms.items() if held[number]}
    narrow = {name: found[:, columns] for name, found in counts.items()}
    return Pool([pool.skills[number] for number in kept], terms, narrow)


def read_requests(shared: str, pool: Pool, *, more: bool = False) -> list[Request]:
    """Return the training requests: the shared ones, then the project's own."""
    places = {skill.id: number for number, skill in enumerate(pool.skills)}
    files = ("requests.tsv", "more_requests.tsv") if more else ("requests.tsv",)
    rows = request_rows(shared, *files)
    return [Request(places[key], text, held_out(key)) for key, _, text in rows if key in places]


def request_counts(texts: Iterable[str], terms: dict[str, int]) -> Any:
    """Return requests x terms, each 1 + ln of how often the term stands."""
    rows, columns, values = [], [], []
    size = 0
    for number, text in enumerate(texts):
        size = number + 1
        for term, count in STANDARD.counts(text).items():
            place = terms.get(term)
            if place is not None:
                rows.append(number)
                columns.append(place)
                values.append(1 + log(count))
    return sparse.csr_matrix((values, (rows, columns)), shape=(size, len(terms)), dtype="f4")


def near_copies(names: Any, vectors: Any, these: Sequence[int], those: Sequence[int]) -> Any:
    """Return these x those: True where two skills do the same, by name or by the teacher."""
    close = vectors[these] @ vectors[those].T > 0.8
    same = names[these][:, None] == names[those][None, :]
    return close | same
