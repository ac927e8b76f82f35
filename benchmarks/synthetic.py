"""Skills for measuring: those of the shared corpus where it is, made-up ones where it is not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus import corpus_file, records

__all__ = ["chosen", "synthetic_skills"]

SEED = 5
SUBJECTS = (
    "pdf table invoice contract spreadsheet deploy docker kubernetes test coverage review release"
    " database migration index query cache image video audio transcript translation summary"
    " metric alert dashboard log trace security secret token licence commit branch merge"
)
VERBS = "extract convert check write read plan split merge render measure clean rename"
FILLING = (
    "the step first then when file result user value folder before after each both write down"
    " keep small name line part whole never always only where needed again until ready"
)
PARAGRAPHS = 24
WORDS = 32
"""Of one paragraph: bodies are about as long as real ones, 3 to 5 KB."""


def chosen(shared: Path, count: int) -> tuple[str, list[dict[str, Any]]]:
    """Return (what the skills are, that many records); each source and folder once."""
    if corpus_file(shared).is_file():
        return "skills of the shared corpus", list(records(shared, count))
    return "synthetic skills", list(synthetic_skills(count))


def synthetic_skills(count: int) -> Iterator[dict[str, Any]]:
    """Yield records in the corpus's shape. Deterministic."""
    rng = random.Random(SEED)
    verbs, subjects, filling = VERBS.split(), SUBJECTS.split(), FILLING.split()
    words = (*subjects, *filling, *filling)
    for number in range(count):
        verb, one, other = rng.choice(verbs), rng.choice(subjects), rng.choice(subjects)
        name = f"{verb}-{one}-{other}-{number}"
        text = "\n\n".join(" ".join(rng.choices(words, k=WORDS)) + "." for _ in range(PARAGRAPHS))
        yield {
            "id": f"made/{name}",
            "name": name,
            "description": f"Use this to {verb} a {one} with its {other}, step by step.",
            "source": f"made/{one}",
            "path": f"skills/{name}/SKILL.md",
            "text": f"# {verb.title()} {one}\n\n{text}",
        }
