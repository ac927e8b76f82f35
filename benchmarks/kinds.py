"""How requests of one kind choose from a small library, in development and held out.

For information. Each file of ``tests/engine/ranking/kinds`` has requests of one kind for the skills
of its ``library.tsv``; every third row is held out: no rule was made from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import Figure, Options

if TYPE_CHECKING:
    from skillyard.engine.catalog.snapshot import Catalog

SUMMARY = (
    "requests by kind over a small library: right, wrong, abstained, in development and held out"
)
FOLDER = Path(__file__).resolve().parents[1] / "tests" / "engine" / "ranking" / "kinds"
HELD_OUT = 3
"""Every third row is held out."""
NONE = "-"


class Row(NamedTuple):
    """One request with the skill that is right for it."""

    language: str
    request: str
    right: str
    """The name of the skill; ``-`` for none."""
    is_optional: bool
    """True when abstaining is right too."""
    wrong: str
    """A skill that must not be first; ``-`` for none."""
    is_held_out: bool


def kinds() -> list[str]:
    """Return the names of the kinds."""
    return sorted(path.stem for path in FOLDER.glob("*.tsv") if path.stem != "library")


def rows_of(kind: str) -> list[Row]:
    """Return the requests of a kind."""
    rows = []
    for number, (language, request, right, wrong) in enumerate(_lines(kind), start=1):
        text = request.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
        name, optional = right.rstrip("?"), right.endswith("?")
        rows.append(Row(language, text, name, optional, wrong, number % HELD_OUT == 0))
    return rows


def _lines(name: str) -> Iterator[list[str]]:
    text = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8")
    return (line.split("\t") for line in text.splitlines() if not line.startswith("#"))


def small_library() -> Catalog:
    """Return the skills of ``library.tsv``."""
    import skillyard as sy

    skills = [sy.Skill(name, description, body) for name, description, body in _lines("library")]
    return sy.Catalog.from_skills(skills)


def outcomes(rows: Iterable[Row], library: Catalog) -> Iterator[tuple[Row, str, list[str]]]:
    """Yield each row with what it chose: right, wrong, abstained; and the names, best first."""
    import skillyard as sy

    for row in rows:
        names = [match.skill.name for match in sy.select(library, row.request).selected]
        if not names:
            right = row.right == NONE or row.is_optional
            yield row, "right" if right else "abstained", names
        else:
            yield row, "right" if names[0] == row.right else "wrong", names


def line(rows: Sequence[Row], library: Catalog) -> str:
    """Return the counts of the outcomes, and how often the wrong skill of a row is first."""
    counts = Counter[str]()
    for row, outcome, names in outcomes(rows, library):
        counts[outcome] += 1
        counts["trap"] += bool(names) and names[0] == row.wrong
    return (
        f"{len(rows)}: right {counts['right']}, wrong {counts['wrong']} (the named one"
        f" {counts['trap']}), abstained {counts['abstained']}"
    )


def run(_: Options) -> Iterator[Figure]:
    """Yield the figures for ``python -m benchmarks``."""
    library = small_library()
    for kind in kinds():
        rows = rows_of(kind)
        english = [row for row in rows if row.language == "en"]
        for name, part in (("English", english), ("others", [r for r in rows if r not in english])):
            for held in (False, True):
                chosen = [row for row in part if row.is_held_out == held]
                label = "held out" if held else "development"
                yield Figure(f"{kind}, {name}, {label}", line(chosen, library))
