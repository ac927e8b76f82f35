"""How skills of public collections that nothing was made on are chosen, and when none fits.

For information. ``tests/engine/ranking/collections.tsv`` has requests for skills of seven public
repositories, none of which the shared corpus holds: repository, language, kind, request, the right
skill by the author, by a second reader, and the skill that the request forbids (``-``: none). The
labels were fixed before the first run, and nothing may be chosen or trained on them. The
repositories are read from ``SKILLYARD_COLLECTIONS``, a folder with ``owner+name`` for each.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Figure, Options, Skipped

SUMMARY = (
    "requests for public collections: right, wrong, abstained, forbidden, false fires, by kind"
)
FILE = Path(__file__).resolve().parents[1] / "tests" / "engine" / "ranking" / "collections.tsv"
VARIABLE = "SKILLYARD_COLLECTIONS"
NONE = frozenset({"-"})


class Request(NamedTuple):
    """One request with the labels of both readers."""

    repository: str
    language: str
    kind: str
    text: str
    author: frozenset[str]
    reader: frozenset[str]
    forbidden: str

    @property
    def is_agreed(self) -> bool:
        """True where both readers name the same skill, or both none."""
        return bool(self.author & self.reader)

    @property
    def right(self) -> frozenset[str]:
        """The skills that are right; empty where none fits."""
        return (self.author | self.reader) - NONE


def requests() -> list[Request]:
    """Return every request."""
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    return [
        Request(
            *row[:3],
            row[3].replace("\\n", "\n"),
            *(frozenset(names.split("|")) for names in row[4:6]),
            row[6],
        )
        for row in rows
    ]


def run(_: Options) -> Iterator[Figure]:
    """Yield the figures for ``python -m benchmarks``."""
    from skillyard.engine.ranking.registry import default_scorer

    every = requests()
    folder = Path(os.environ.get(VARIABLE, ""))
    if not os.environ.get(VARIABLE) or not folder.is_dir():
        raise Skipped(f"{VARIABLE} names no folder with the repositories of {FILE.name}")
    agreed = [each for each in every if each.is_agreed]
    yield Figure("requests", f"{len(every)}, both readers agree on {len(agreed)}")
    for scorer in dict.fromkeys(("hybrid", default_scorer())):
        chosen = list(_chosen(agreed, folder, scorer))
        yield Figure(f"{scorer}, all", _counts(chosen))
        for name in dict.fromkeys(each.kind for each in agreed):
            part = [pair for pair in chosen if pair[0].kind == name]
            yield Figure(f"{scorer}, {name}", _counts(part))
        for name in dict.fromkeys(each.repository for each in agreed):
            part = [pair for pair in chosen if pair[0].repository == name]
            yield Figure(f"{scorer}, {name}", _counts(part))


def _chosen(
    every: Iterable[Request], folder: Path, scorer: str
) -> Iterator[tuple[Request, str, str]]:
    """Yield each request with the first selected skill, and the first of the ranking."""
    import skillyard as sy

    catalogs = {
        name: sy.load_catalog(folder / name.replace("/", "+"))
        for name in dict.fromkeys(each.repository for each in every)
    }
    for each in every:
        selection = sy.select(catalogs[each.repository], each.text, scorer=scorer)
        first = next(iter((*selection.selected, *selection.maybe, *selection.rejected)), None)
        best = selection.best
        names = (match.skill.name if match is not None else "" for match in (best, first))
        yield (each, *names)


def _counts(chosen: Iterable[tuple[Request, str, str]]) -> str:
    counts: Counter[str] = Counter()
    for request, name, first in chosen:
        if request.right:
            counts["fit"] += 1
            counts["right" if name in request.right else "wrong" if name else "abstained"] += 1
            counts["first"] += first in request.right
        else:
            counts["none"] += 1
            counts["fires"] += bool(name)
        counts["forbidden"] += name == request.forbidden
        counts["forbids"] += request.forbidden != "-"
    return (
        f"of {counts['fit']} with a skill: right {counts['right']}, wrong {counts['wrong']},"
        f" abstained {counts['abstained']} (first {counts['first']}); of {counts['none']} without:"
        f" {counts['fires']} fire; forbidden {counts['forbidden']} of {counts['forbids']}"
    )
