"""MiniLM for real: the model that its package carries, through onnxruntime."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from math import sqrt

import pytest

from skillyard.catalog import Catalog
from skillyard.embedding.minilm import NEEDED, PACKAGE, MiniLm
from skillyard.ranking.match import rank
from skillyard.skill import Skill

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in (*NEEDED, PACKAGE)),
    reason="MiniLM is not installed: skillyard[minilm]",
)

# The first components as sentence-transformers 6.2 gives them for the same weights.
REFERENCE = {
    "Deploy a container to Kubernetes": [0.058123, 0.042511, -0.000819, -0.039936],
    "Wie teste ich meine React-Komponente?": [-0.093467, 0.060146, 0.037804, 0.026467],
}


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_it_computes_what_the_reference_computes() -> None:
    for text, begins in REFERENCE.items():
        (vector,) = MiniLm().embed([text])
        assert len(vector) == 384
        assert vector[: len(begins)] == pytest.approx(begins, abs=2e-5)
        assert sqrt(cosine(vector, vector)) == pytest.approx(1.0, abs=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    texts = ["short", "a longer text about tests that fail after a change", "", "x" * 5_000]
    together = MiniLm().embed(texts)
    assert [MiniLm().embed([text])[0] for text in texts] == together
    assert MiniLm().embed([]) == []


def test_meaning_is_near_meaning() -> None:
    asked, right, wrong = MiniLm().embed(
        ["my program crashed and I want to know why", "Debug failures", "Bake sourdough bread"]
    )
    assert cosine(asked, right) > cosine(asked, wrong) + 0.1


def test_threads_get_the_same_vectors() -> None:
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.append(MiniLm().embed(["the same"])[0]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(vector == found[0] for vector in found)


def test_hybrid_finds_by_meaning_what_no_word_names() -> None:
    catalog = Catalog.from_skills(
        [
            Skill("sourdough", "Bake bread with wild yeast.", ""),
            Skill("bisect", "Find the commit that introduced a regression.", ""),
            Skill("invoices", "Extract totals from scanned bills.", ""),
        ]
    )
    best = rank(catalog, "since yesterday it is broken, whose fault", scorer="hybrid+minilm")[0]
    assert best.skill.name == "bisect"
    assert best.signals["embedder"] > 0
