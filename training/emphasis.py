"""Emphasis: how much each term says in a request, learned from requests and their skills.

A term's weight in a request is its rarity times ``exp(emphasis)``. The emphases are fitted so that
the right skill comes first among the best eighty by words (listwise cross-entropy), with two
prior features (how much more often requests use the term than skills do, and how often they use
it) and a ridge on what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from training.pool import Pool, Request

__all__ = ["fit_emphasis"]

CANDIDATES = 80
TERMS = 50
RIDGE = 0.3
EPOCHS = 2
BATCH = 64
SEED = 1


def fit_emphasis(pool: Pool, terms: list[str], described: Any, requests: list[Request]) -> Any:
    """Return the emphasis of each term of the vocabulary: a natural logarithm."""
    import torch

    places = {term: number for number, term in enumerate(terms)}
    lists = _lists(pool, places, described, requests)
    priors = torch.tensor(_priors(pool, places, requests))
    own = torch.zeros(len(terms) + 1, requires_grad=True)
    slopes = torch.zeros(2, requires_grad=True)
    scale = torch.tensor(0.3, requires_grad=True)
    groups = [{"params": [own], "lr": 0.03}, {"params": [slopes, scale], "lr": 0.02}]
    optimizer = torch.optim.Adam(groups)
    random = np.random.default_rng(SEED)
    for _ in range(EPOCHS):
        order = random.permutation(len(lists))
        for start in range(0, len(order), BATCH):
            emphasis = own + priors @ slopes
            loss = torch.zeros(())
            for number in order[start : start + BATCH]:
                parts, columns, labels = lists[number]
                scores = scale * (torch.tensor(parts) @ torch.exp(emphasis[torch.tensor(columns)]))
                right = torch.tensor(labels)
                loss = loss - (right / right.sum() * torch.log_softmax(scores, 0)).sum()
            loss = loss / BATCH + RIDGE * (own**2).sum() / len(lists)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return (own + priors @ slopes).numpy()[:-1]


def _lists(
    pool: Pool, places: dict[str, int], described: Any, requests: list[Request]
) -> list[Any]:
    """Return for each request: candidates x terms scores, the terms, how right each one is."""
    from training.pool import request_counts

    impacts, rarity = pool.impacts()
    by_term = impacts.tocsc()
    names = pool.names()
    counts = request_counts((request.text for request in requests), pool.terms)
    back = {number: term for term, number in pool.terms.items()}
    lists = []
    for number, request in enumerate(requests):
        row = counts[number]
        weights = row.data * rarity[row.indices]
        heaviest = np.lexsort((row.indices, -weights))[:TERMS]
        columns, weights = row.indices[heaviest], weights[heaviest].astype("f4")
        if not len(columns):
            continue
        scores = np.zeros(pool.size)
        for column, weight in zip(columns, weights, strict=True):
            first, last = by_term.indptr[column], by_term.indptr[column + 1]
            scores[by_term.indices[first:last]] += by_term.data[first:last] * weight
        best = np.argsort(-scores, kind="stable")[:CANDIDATES]
        if request.skill not in best:
            best[-1] = request.skill
        parts = impacts[best][:, columns].toarray().astype("f4") * weights[None, :] * 3.5
        near = described[best] @ described[request.skill]
        same = (best == request.skill) | (names[best] == names[request.skill])
        labels = np.where(same, 1.0, np.where(near > 0.86, 0.8, np.where(near > 0.78, 0.3, 0.0)))
        known = np.array([places.get(back[column], -1) for column in columns])
        lists.append((parts, known, labels.astype("f4")))
    return lists


def _priors(pool: Pool, places: dict[str, int], requests: list[Request]) -> Any:
    """Return terms x 2: the log-ratio of use in requests and skills, the log of use in requests."""
    from training.pool import request_counts

    counts = request_counts((request.text for request in requests), places)
    used = np.asarray((counts > 0).sum(0)).ravel()
    held = pool.frequencies("name", "description", "tags", "headings", "prose", "code")
    skills = np.zeros(len(places))
    for term, number in places.items():
        if term in pool.terms:
            skills[number] = held[pool.terms[term]]
    ratio = np.log((used + 0.5) / len(requests)) - np.log((skills + 5) / pool.size)
    ratio = np.where(used > 0, np.clip(ratio, -3, 3), 0)
    priors = np.stack([ratio, np.log1p(used)], 1).astype("f4")
    return np.vstack([priors, np.zeros((1, 2), "f4")])
