"""An index that stores complete skills. It does not need their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.identity import document_key, index_settings
from skillyard.engine.index.index_reader import open_index
from skillyard.engine.index.index_writer import IndexWriter
from skillyard.engine.index.library import Library
from skillyard.engine.index.searcher import EXCLUDED
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import SKILL_FIELDS, Origin, Skill

VERSION = "1"
"""Version of the record format."""


def save_library(skills: Iterable[Skill], folder: str) -> int:
    """Write the index of the skills to ``folder``, replacing any index. Returns its generation.

    Raises SkillIoError when the folder cannot be written.
    """
    table = bundled_table()
    shadowed = getattr(skills, "shadowed", {})
    settings = {**index_settings(table), "saved": VERSION}
    hidden: list[str] = []
    patterns: dict[str, tuple[str, ...]] = {}
    seen: dict[str, int] = {}
    with IndexWriter(
        folder, dimensions=table.dimensions, settings=settings, fresh=True, wait_s=10.0
    ) as writer:
        for skill in skills:
            key = document_key(skill)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:  # skills built in code may share an id
                key = f"{key}\0{seen[key]}"
            out = skill.hidden or skill in shadowed or skill.origin == Origin.CONVENTION
            document = build_document(skill, table, excluded=out, record=_encode_skill(skill))
            writer.add(document._replace(key=key))
            if skill.hidden and skill not in shadowed:
                hidden.append(key)
            if skill.triggers.files and not out:
                patterns[key] = skill.triggers.files
        shape = {"hidden": hidden, "patterns": patterns}
        writer.side_file("summary", json.dumps(shape).encode("ascii"))
        return writer.commit()


def open_saved_library(folder: str) -> SavedLibrary:
    """Open the index in ``folder``. Raises IndexDamaged, and SkillIoError when there is none."""
    searcher = open_index(folder)
    if searcher is None:
        raise SkillIoError(
            "there is no index here",
            path=folder,
            code="index_missing",
            hint="make it with sy.Index.build(catalog, path)",
        )
    if searcher.settings != {**index_settings(bundled_table()), "saved": VERSION}:
        raise IndexDamaged(
            "the index was made by another version",
            path=folder,
            hint="make it anew with sy.Index.build(catalog, path)",
        )
    return SavedLibrary(searcher)


def _encode_skill(skill: Skill) -> bytes:
    fields = {name: each.encode(getattr(skill, name)) for name, each in SKILL_FIELDS.items()}
    return json.dumps(fields, separators=(",", ":"), default=str).encode("ascii")


def _decode_skill(record: bytes) -> Skill:
    fields = json.loads(record)
    return Skill(**{name: SKILL_FIELDS[name].decode(value) for name, value in fields.items()})


class SavedLibrary(Library):
    """The skills of a saved index, decoded on demand."""

    def __init__(self, searcher: SegmentSearcher) -> None:
        self.searcher = searcher
        self.table = bundled_table()
        self._cache: dict[int, Skill] = {}
        data = searcher.side_file("summary")
        try:
            shape = json.loads(data or b"")
            self._hidden = [str(key) for key in shape["hidden"]]
            self._patterns = {str(k): tuple(map(str, v)) for k, v in shape["patterns"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise IndexDamaged("the summary cannot be read", path=searcher.folder) from None

    @property
    def skills(self) -> Sequence[Skill]:  # type: ignore[override]
        """All skills of the index."""
        return tuple(self.skill(ordinal) for ordinal in self.searcher.ordinals())

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal. Raises IndexDamaged."""
        skill = self._cache.get(ordinal)
        if skill is None:
            try:
                skill = _decode_skill(self.searcher.record(ordinal))
            except (ValueError, TypeError, KeyError):
                path = self.searcher.folder
                raise IndexDamaged("a record cannot be read", path=path) from None
            self._cache[ordinal] = skill
        return skill

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill of this library, or of one with the same key."""
        for ordinal, cached in self._cache.items():
            if cached is skill:
                return ordinal
        return self.searcher.ordinal(document_key(skill))

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield (ordinal, skill) of the skills that are selected only when called by name."""
        for key in self._hidden:
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None and self.searcher.flags(ordinal) & EXCLUDED:
                yield ordinal, self.skill(ordinal)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
        by_ordinal = {self.searcher.ordinal(key): globs for key, globs in self._patterns.items()}
        return {ordinal: globs for ordinal, globs in by_ordinal.items() if ordinal is not None}
