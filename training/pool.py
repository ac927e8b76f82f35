"""The pool of skills as counts, and the requests that are known to want one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from skillyard.engine.analysis import STANDARD
from skillyard.engine.bench.runs import read_skills
from skillyard.engine.index.document_builder import FIELDS, K1, B, count_fields
from skillyard.engine.skill import Skill
from training.requests import held_out, request_rows

__all__ = [
    "Pool",
    "Request",
    "names_of",
    "narrowed",
    "read_pool",
    "read_requests",
]


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
        return names_of(self.skills)

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


def names_of(skills: Iterable[Skill]) -> Any:
    """Return the names of skills as they are compared."""
    return np.array([re.sub(r"[^a-z0-9]+", "-", s.name.lower()).strip("-") for s in skills])


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


def narrowed(pool: Pool, members: Sequence[int]) -> Pool:
    """Return the pool with those skills only, and with the terms that they hold."""
    if len(members) == pool.size:
        return pool
    counts = {name: matrix[members] for name, matrix in pool.counts.items()}
    held = np.zeros(len(pool.terms), dtype=bool)
    for matrix in counts.values():
        held[matrix.indices] = True
    columns = np.flatnonzero(held)
    places = np.cumsum(held) - 1
    terms = {term: int(places[number]) for term, number in pool.terms.items() if held[number]}
    narrow = {name: matrix[:, columns] for name, matrix in counts.items()}
    return Pool([pool.skills[number] for number in members], terms, narrow)


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
