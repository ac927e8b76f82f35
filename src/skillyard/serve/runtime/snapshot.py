"""A snapshot: one state of the catalog, ready for ranking.

All data for answers is in memory when a snapshot is made, so later changes of files do not affect
it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillyard.base.errors import EmbedderFailed
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.engine.catalog import Catalog
from skillyard.engine.embedding.cache import Progress, refuse_missing
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.engine.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.engine.skill import STORED, Origin, Skill
from skillyard.hosts.operations.recommendations import EvaluateRequest, evaluate_skills
from skillyard.install.sources.settings import LOCAL

if TYPE_CHECKING:
    from skillyard.engine.ranking.protocol import Scorer

T = TypeVar("T")

TRIES = 3
"""Attempts to open an index while its files change, before it is built in memory."""


class Ranking(NamedTuple):
    """A catalog, and the scorer that ranks it for one answer."""

    catalog: Catalog
    scorer: str | Scorer
    note: str = ""
    """Why ``hybrid`` ranks in place of the scorer that was named; empty when it does not."""


class Vectors(NamedTuple):
    """How many skills have an embedder's vector, and how many skills there are."""

    done: int = 0
    total: int = 0


class Snapshot:
    """One generation of the catalog."""

    def __init__(self, catalog: Catalog, whole: Catalog, generation: int) -> None:
        self.whole = whole
        """All skills, in memory."""
        self.generation = generation
        """1 for the first; increased by one with each change."""
        self.digest = whole.digest
        self._catalog = catalog
        self.vectors = Vectors()
        """The vectors of ``hybrid+NAME``."""
        self.used = {DEFAULT_SCORER}
        """Names of the scorers that have ranked it; the next snapshot is prepared for them."""
        self._binding = Lock()
        self._bound: dict[str, Ranking] = {}
        self._cache: dict[Any, Any] = {}

    def cached(self, name: Any, compute: Callable[[], T]) -> T:
        """Return the cached result of ``compute``. Two threads may both compute it."""
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value

    @cached_property
    def _roots(self) -> list[str]:
        return [f"{os.path.normcase(root).rstrip(os.sep)}{os.sep}" for root in self.whole.roots]

    def path_below_root(self, path: str) -> str:
        """Return a path relative to its root, with ``/``; it never contains the root's own path.

        For a stored skill it is the whole place in the store.
        """
        if path.startswith(STORED):
            return path.removeprefix(STORED)
        for root in self._roots:
            if os.path.normcase(path).startswith(root):
                return path[len(root) :].replace("\\", "/")
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        return "/".join(parts[-3:])

    def origin_of(self, skill: Skill) -> str:
        """Return the origin of a skill of the library as text, without the path of its root."""
        library = "catalog store" if skill.stored else "local library"
        where = f"{library}: {self.path_below_root(skill.path)}" if skill.path else library
        return f"{where} (from {skill.source})" if skill.source not in (None, "", LOCAL) else where

    @cached_property
    def by_name(self) -> Sequence[Skill]:
        """The skills that a page lists, ignoring case; none when there are too many.

        Without copies, shadowed skills and convention documents.
        """
        from skillyard.store.node.library import MAX_IN_MEMORY  # it loads code of stores

        if self.whole.on_demand and len(self.whole) > MAX_IN_MEMORY:
            return ()
        listed = [each for each in self.whole.candidates if each.origin != Origin.CONVENTION]
        return sorted(listed, key=lambda each: (each.name.casefold(), each.name, each.path))

    def ranking_for(self, scorer: str) -> Ranking:
        """Return the catalog for ranking with a scorer. Raises UnknownName, InvalidInput.

        ``hybrid`` ranks for ``hybrid+NAME`` as long as vectors are missing.
        """
        ranking = self._bound.get(scorer)  # the scorer as a key would hash all its constants
        if ranking is not None:
            return ranking
        if self.lacks_vectors(scorer):
            return self._without_vectors(scorer, "its vectors are still being computed")
        resolved = resolve(scorer)
        catalog = self._catalog if scorer == DEFAULT_SCORER else self.whole
        with self._binding:
            bind(catalog, resolved)  # computed once; concurrent callers wait
        ranking = self._bound[scorer] = Ranking(catalog, scorer)
        self.used.add(scorer)
        return ranking

    def answer(self, scorer: str, work: Callable[[Ranking], T]) -> T:
        """Return the result of ``work`` for the ranking by a scorer.

        ``hybrid`` ranks when the embedder fails at the request.
        """
        ranking = self.ranking_for(scorer)
        try:
            return work(ranking)
        except EmbedderFailed:
            return work(self._without_vectors(scorer, "its embedder failed"))

    def evaluate(self, request: EvaluateRequest) -> Evaluated:
        """Return the documented evaluation."""
        return evaluate_skills(self.ranking_for("confidence").catalog, **vars(request))

    def _without_vectors(self, scorer: str, why: str) -> Ranking:
        note = f"Ranked by {DEFAULT_SCORER}, not by {scorer}: {why}."
        return self.ranking_for(DEFAULT_SCORER)._replace(note=note)

    def lacks_vectors(self, scorer: str) -> bool:
        """Return True for ``hybrid+NAME`` as long as it is not bound."""
        return scorer.startswith(f"{DEFAULT_SCORER}+") and scorer not in self._bound

    def bind_embedder(self, scorer: str, progress: Progress) -> None:
        """Compute the missing vectors of ``hybrid+NAME``, and rank by it from then on.

        ``progress`` is called before each batch and may raise. Raises EmbedderFailed.
        """

        def record(done: int, total: int) -> None:
            self.vectors = Vectors(done, total)
            progress(done, total)

        resolved = resolve(scorer)
        bind(self._catalog, resolved, record)
        self._bound[scorer] = Ranking(self._catalog, resolved)

    def make_ready(self, scorers: Iterable[str]) -> None:
        """Bind the scorers before the first request; ``hybrid+NAME`` if no vector is missing."""
        for scorer in sorted(scorers):
            if not self.lacks_vectors(scorer):
                self.ranking_for(scorer)
                continue
            with suppress(EmbedderFailed):
                self.bind_embedder(scorer, refuse_missing(scorer))

    def reload_if_changed(self, open_anew: Callable[[], Catalog]) -> Catalog | None:
        """Return the catalog of the current files; None when it is unchanged.

        Raises SkillyardError.
        """
        if isinstance(self._catalog, IndexedCatalog):
            if self._catalog.is_current():
                return None
            catalog = open_anew()
            same = isinstance(catalog, IndexedCatalog) and (
                _generation(catalog) == _generation(self._catalog)
            )
            return None if same else catalog
        after = self.whole.reload().catalog
        return None if after is self.whole else after


def _generation(catalog: IndexedCatalog) -> tuple[str, int, str]:
    searcher = catalog.library.searcher
    return searcher.folder, searcher.generation, catalog.summary.fingerprint


def snapshot_of(
    catalog: Catalog, generation: int, opened: Callable[[], Catalog], before: Catalog | None = None
) -> Snapshot:
    """Return the catalog with every skill in memory, and with an index that matches it.

    ``before`` is the full catalog of the previous snapshot. An index whose files change while they
    are read is opened again, and finally replaced by one in memory.
    """
    whole = catalog
    for _ in range(TRIES):
        if not isinstance(catalog, IndexedCatalog):
            whole = catalog
            break
        whole = catalog.full_catalog(before)
        if _agree(catalog, whole):
            _ = catalog.skills  # loads lazy fields in this thread
            return Snapshot(catalog, whole, generation)
        catalog = opened()
    return Snapshot(whole, whole, generation)


def _agree(catalog: IndexedCatalog, whole: Catalog) -> bool:
    """True when the index was built from the same files as the catalog."""
    hashes = {skill.path: skill.hash for skill in whole.skills}
    seen = 0
    for ordinal in catalog.library.searcher.ordinals():
        card = catalog.library.card(ordinal)
        if hashes.get(card.path) != card.hash:
            return False
        seen += 1
    return seen == len(hashes)
