"""The table: the teacher's word vectors, tuned so that requests lie near the skills they want.

Batches of requests against their skills and random others (InfoNCE), and of descriptions against
the rest of their own skill, so that words without a request move too. Near copies of the right
skill are no negatives.
"""

from __future__ import annotations

from math import cos, pi
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from skillyard.engine.index.document_builder import VECTOR_FIELDS
from training.pool import Pool, Request, near_copies, request_counts

__all__ = ["Tuned", "tune"]

DIMENSIONS = 256
TEMPERATURE = 0.08
RATE = 4e-3
EPOCHS = 12
BATCH = 256
OTHERS = 768
DROPPED = 0.1
"""Share of terms that a step does not see."""
SEED = 7


class Tuned(NamedTuple):
    """What tuning gives, by term of the vocabulary."""

    rows: Any
    """terms x dimensions, with its length as the term's weight in skills."""
    query_gain: Any
    """Natural logarithm of the weight in requests, beside that in skills."""


def tune(
    pool: Pool, terms: list[str], teacher: Any, described: Any, requests: list[Request]
) -> Tuned:
    """Return the tuned table. ``teacher`` are the terms' vectors, ``described`` the skills'."""
    return _Tuning(pool, terms, teacher, described, requests).run()


class _Tuning:
    def __init__(
        self, pool: Pool, terms: list[str], teacher: Any, described: Any, requests: list[Request]
    ) -> None:
        import torch

        torch.manual_seed(SEED)
        torch.set_num_threads(2)
        self.torch = torch
        self.random = np.random.default_rng(SEED)
        self.pool, self.described, self.names = pool, described, pool.names()
        places = {term: number for number, term in enumerate(terms)}
        self.fields = {name: _narrowed(pool, name, places) for name, _ in VECTOR_FIELDS}
        self.queries = request_counts([request.text for request in requests], places)
        self.targets = np.array([request.skill for request in requests])
        start = _start(self._rarity(), teacher)
        self.start = torch.tensor(start)
        parameter = torch.nn.Parameter
        self.turn = parameter(torch.eye(DIMENSIONS))
        self.moved = parameter(torch.zeros(len(terms), DIMENSIONS))
        self.gain = parameter(torch.zeros(len(terms)))
        self.query_gain = parameter(torch.zeros(len(terms)))

    def _rarity(self) -> Any:
        held = self.fields["description"] + self.fields["headings"] + self.fields["prose"]
        frequency = np.asarray((held > 0).sum(0)).ravel()
        rarity = np.log(1 + (self.pool.size - frequency + 0.5) / (frequency + 0.5))
        return np.minimum(rarity, 8).astype("f4")

    def run(self) -> Tuned:
        torch = self.torch
        groups = [
            {"params": [self.moved], "lr": RATE, "weight_decay": 0.0},
            {"params": [self.turn], "lr": RATE * 0.3},
            {"params": [self.gain], "lr": RATE * 2},
            {"params": [self.query_gain], "lr": RATE * 2, "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99))
        rates = [group["lr"] for group in groups]
        steps = EPOCHS * (len(self.targets) // BATCH)
        for step in range(steps):
            factor = min(1.0, step / 30) * 0.5 * (1 + cos(pi * step / steps)) + 0.01
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            table = self._table()
            loss = self._request_loss(table) + self._own_text_loss(table, step)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return Tuned(self._table().numpy(), self.query_gain.detach().numpy())

    def _table(self) -> Any:
        return (self.start @ self.turn + self.moved) * self.torch.exp(self.gain)[:, None]

    def _request_loss(self, table: Any) -> Any:
        batch = self.random.choice(len(self.targets), BATCH, replace=False)
        right = self.targets[batch]
        others = np.concatenate([right, self.random.choice(self.pool.size, OTHERS, replace=False)])
        query_table = table * self.torch.exp(self.query_gain)[:, None]
        near = self._unit(self._sum(self.queries[batch]) @ query_table)
        return self._loss(near, self._skills(table, others), right, others)

    def _own_text_loss(self, table: Any, step: int) -> Any:
        right = self.random.choice(self.pool.size, BATCH, replace=False)
        others = np.concatenate([right, self.random.choice(self.pool.size, BATCH, replace=False)])
        text = self.fields["description"][right]
        if step % 2:
            text = text + self.fields["name"][right]
        near = self._unit(self._sum(text, 0.5) @ table)
        fields = (
            (("headings", 0.5), ("prose", 1.0))
            if step % 3
            else (("name", 0.6), ("headings", 0.35), ("prose", 0.35))
        )
        return self._loss(near, self._skills(table, others, fields), right, others)

    def _skills(self, table: Any, skills: Any, fields: Any = VECTOR_FIELDS) -> Any:
        total = 0
        for name, weight in fields:
            total = total + weight * self._unit(self._sum(self.fields[name][skills]) @ table)
        return self._unit(total)

    def _loss(self, near: Any, skills: Any, right: Any, others: Any) -> Any:
        scores = near @ skills.T / TEMPERATURE
        same = near_copies(self.names, self.described, right, others)
        same[np.arange(len(right)), np.arange(len(right))] = False
        scores = scores.masked_fill(self.torch.tensor(same), -1e4)
        return self.torch.nn.functional.cross_entropy(scores, self.torch.arange(len(right)))

    def _sum(self, counts: Any, dropped: float = DROPPED) -> Any:
        counts = counts.tocsr().copy()
        counts.data *= self.random.random(len(counts.data)) >= dropped
        torch = self.torch
        return torch.sparse_csr_tensor(
            torch.tensor(counts.indptr, dtype=torch.int64),
            torch.tensor(counts.indices, dtype=torch.int64),
            torch.tensor(counts.data),
            counts.shape,
        )

    def _unit(self, rows: Any) -> Any:
        return rows / (rows.norm(dim=1, keepdim=True) + 1e-6)


def _narrowed(pool: Pool, field: str, places: dict[str, int]) -> Any:
    """Return a field's counts over the vocabulary, each as 1 + ln."""
    pairs = [(place, places[term]) for term, place in pool.terms.items() if term in places]
    rows, columns = zip(*pairs, strict=True)
    select = sparse.csr_matrix(
        (np.ones(len(pairs), "f4"), (rows, columns)), shape=(len(pool.terms), len(places))
    )
    counts = pool.counts[field].copy()
    counts.data = 1 + np.log(counts.data)
    return (counts @ select).tocsr()


def _start(rarity: Any, teacher: Any) -> Any:
    """Return the teacher's vectors in their principal directions, as long as the terms are rare."""
    centred = teacher - teacher.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    rows = (centred @ directions[:DIMENSIONS].T).astype("f4")
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6
    return rows * (rarity / rarity.mean())[:, None]
