"""The public ``Index``: built from a catalog, stored in a folder, searched without skill files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.engine.index.saved_library import SavedLibrary, open_saved_library, save_library
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.ranking.match import Match, in_order
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.skill import Skill


class Index:
    """The skills of a catalog, indexed in a folder for ``hybrid``. Thread-safe.

    ``Index.build(catalog, path)`` writes and opens it; ``Index.open(path)`` opens an existing one.
    It stores complete skills and does not follow their files, unlike the index of the command line.
    """

    def __init__(self, library: SavedLibrary) -> None:
        self.library = library
        self._bound = HYBRID.bind(self)

    @classmethod
    @check_arguments
    def build(cls, catalog: Iterable[Skill], path: str | os.PathLike[str]) -> Index:
        """Build the index of the catalog in the folder ``path``, which is created when missing.

        An existing index is replaced atomically; an index that is already open keeps its content.
        Raises SkillIoError when the folder cannot be written or another process writes it.
        """
        save_library(catalog, os.fspath(path))
        return cls.open(path)

    @classmethod
    @check_arguments
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Open the index in the folder. Raises SkillIoError when there is none, IndexDamaged."""
        return cls(open_saved_library(os.fspath(path)))

    @check_arguments
    def search(self, query: str | Query, limit: int | None = 10) -> list[Match]:
        """Return the best skills for the query, best first, without a floor; see ``rank``.

        Raises InvalidInput for wrong types, and IndexDamaged.
        """
        if limit is not None and limit < 0:
            raise InvalidInput("limit must be None or an integer of at least 0")
        scored = self._bound.prepare(query if isinstance(query, Query) else Query(query))
        pairs = in_order(scored.scores(), scored, limit)
        levels = HYBRID.levels
        return [Match(skill, score, level_of(levels, score), scored) for skill, score in pairs]

    def __len__(self) -> int:
        """Return the number of searchable skills."""
        return self.library.searcher.size

    def __iter__(self) -> Iterator[Skill]:
        """Yield every skill, including hidden ones."""
        return iter(self.library.skills)

    def __repr__(self) -> str:
        return f"<Index of {len(self)} skills in {self.library.searcher.folder}>"
