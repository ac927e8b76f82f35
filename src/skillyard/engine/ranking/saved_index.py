"""The public ``Index``: built from a catalog, stored in a folder, searched without skill files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import IndexDamaged, InvalidInput, SkillIoError
from skillyard.engine.index.document_builder import build_documents
from skillyard.engine.index.index_writer import IndexWriter
from skillyard.engine.index.library import Library
from skillyard.engine.index.library_spec import index_settings
from skillyard.engine.index.segment_reader import document_key
from skillyard.engine.index.segment_searcher import open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.ranking.match import Match, in_order
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.skill import SKILL_FIELDS, Skill

VERSION = "1"
"""Version of the record format."""


class Index:
    """The skills of a catalog, indexed in a folder for ``hybrid``. Thread-safe.

    ``Index.build(catalog, path)`` writes and opens it; ``Index.open(path)`` opens an existing one.
    It stores complete skills and does not follow their files, unlike the index of the command line.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._bound = HYBRID.bind(self)

    @classmethod
    @check_arguments
    def build(cls, catalog: Iterable[Skill], path: str | os.PathLike[str]) -> Index:
        """Build the index of the catalog in the folder ``path``, which is created when missing.

        An existing index is replaced atomically; an index that is already open keeps its content.
        Raises SkillIoError when the folder cannot be written or another process writes it.
        """
        _write(catalog, os.fspath(path))
        return cls.open(path)

    @classmethod
    @check_arguments
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Open the index in the folder. Raises SkillIoError when there is none, IndexDamaged."""
        return cls(_open(os.fspath(path)))

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


def _write(skills: Iterable[Skill], folder: str) -> None:
    """Write the index of the skills to ``folder``, replacing any index."""
    table = bundled_table()
    seen: dict[str, int] = {}

    def key(place: int, skill: Skill) -> str:
        name = document_key(skill)
        seen[name] = seen.get(name, 0) + 1
        return name if seen[name] == 1 else f"{name}\0{seen[name]}"  # built in code, with one id

    documents, hidden, patterns = build_documents(skills, table, key, encode=_encode_skill)
    with IndexWriter(
        folder, dimensions=table.dimensions, settings=_settings(), fresh=True, wait_s=10.0
    ) as writer:
        for document in documents:
            writer.add(document)
        shape = {"hidden": hidden, "patterns": patterns}
        writer.side_file("summary", json.dumps(shape).encode("ascii"))
        writer.commit()


def _settings() -> dict[str, str]:
    return index_settings(saved=VERSION)


def _open(folder: str) -> Library:
    searcher = open_index(folder)
    if searcher is None:
        raise SkillIoError(
            "there is no index here",
            path=folder,
            code="index_missing",
            hint="make it with sy.Index.build(catalog, path)",
        )
    if searcher.settings != _settings():
        raise IndexDamaged(
            "the index was made by another version",
            path=folder,
            hint="make it anew with sy.Index.build(catalog, path)",
        )
    try:
        shape = json.loads(searcher.side_file("summary") or b"")
        patterns = {str(k): tuple(map(str, v)) for k, v in shape["patterns"].items()}
        hidden = list(map(str, shape["hidden"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise IndexDamaged("the summary cannot be read", path=folder) from None
    return Library(searcher, bundled_table(), _decode_skill, hidden, patterns)


def _encode_skill(skill: Skill) -> bytes:
    fields = {name: each.encode(getattr(skill, name)) for name, each in SKILL_FIELDS.items()}
    return json.dumps(fields, separators=(",", ":"), default=str).encode("ascii")


def _decode_skill(record: bytes) -> Skill:
    fields = json.loads(record)
    return Skill(**{name: SKILL_FIELDS[name].decode(value) for name, value in fields.items()})
