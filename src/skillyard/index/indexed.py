"""A catalog over an index on disk: skills are read from their files when they are looked at."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.catalog.snapshot import Catalog, load_catalog, named_roots
from skillyard.errors import IndexDamaged, SkillIoError
from skillyard.index.library import Library
from skillyard.index.opening import open_index
from skillyard.index.place import Place, fresh, index_folder, settings, table_of
from skillyard.index.reader import SegmentSearcher
from skillyard.index.records import candidate_in, card_in, key_of_candidate
from skillyard.index.summary import Summary, load_summary
from skillyard.index.table import Table
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Skill

if TYPE_CHECKING:
    from skillyard.catalog.reading import Progress

__all__ = ["IndexedCatalog", "current", "open_catalog"]

_LAZY = ("_skills", "_shadowed", "_entries", "_scanned", "_by_id", "_by_name", "_digest")


class IndexedCatalog(Catalog):
    """The catalog of some roots, answered from their index; everything else loads when asked."""

    __slots__ = ("_whole", "library", "summary")

    def __init__(
        self, place: Place, searcher: SegmentSearcher, summary: Summary, table: Table
    ) -> None:
        # The base is not initialised: what it would hold is loaded by the first who needs it.
        self._roots, self._scopes, self._limits = place
        self._reported = summary.reported
        self.bound = {}
        self._whole: Catalog | None = None
        self.summary = summary
        self.library = _DiskLibrary(self, searcher, table)

    def __getattr__(self, name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        whole = self.whole()
        for lazy in _LAZY:
            setattr(self, lazy, getattr(whole, lazy))
        return getattr(self, name)

    def whole(self) -> Catalog:
        """Return the catalog with every skill read."""
        if self._whole is None:
            self._whole = load_catalog(self._roots, scopes=self._scopes, limits=self._limits)
            self._reported = self._whole.reported
        return self._whole

    def __len__(self) -> int:
        return self.summary.skills

    def __repr__(self) -> str:
        return f"<IndexedCatalog of {len(self)} skills>"


class _DiskLibrary(Library):
    """The skills of an indexed catalog, one file at a time."""

    searcher: SegmentSearcher

    def __init__(self, catalog: IndexedCatalog, searcher: SegmentSearcher, table: Table) -> None:
        self.catalog = catalog
        self.searcher = searcher
        self.table = table
        self._kept: dict[int, Skill] = {}
        self._ordinals: dict[str, int] = {}
        """Of the skills kept, by path; written before the skill is given out."""

    @property
    def skills(self) -> Sequence[Skill]:  # type: ignore[override]
        """Every skill, which reads every file."""
        return self.catalog.skills

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal, without its instructions. Raises IndexDamaged."""
        skill = self._kept.get(ordinal)
        if skill is None:
            skill = self._card(ordinal)
            self._ordinals[skill.path] = ordinal
            skill = self._kept.setdefault(ordinal, skill)  # one object, whichever thread was first
        return skill

    def _card(self, ordinal: int) -> Skill:
        try:
            card = card_in(self.searcher.record(ordinal))
        except (ValueError, TypeError):
            raise self._unreadable() from None
        if self.catalog._whole is not None:  # one object for each skill, whoever asks
            for skill in self.catalog._whole.skills:
                if skill.path == card.path:
                    return skill
        return card

    def whole(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal with its instructions, read from its file.

        Raises IndexDamaged when the file has changed so that it is no skill any more.
        """
        skill = self.skill(ordinal)
        if skill.body is not None:
            return skill
        from skillyard.catalog.reading import read_one

        try:
            candidate = candidate_in(self.searcher.record(ordinal))
        except (ValueError, TypeError):
            raise self._unreadable() from None
        entry = read_one(candidate, self.catalog._limits, time.time_ns())
        if entry.skill is None:
            raise IndexDamaged("a skill has changed since it was indexed", path=candidate.path)
        return entry.skill

    def _unreadable(self) -> IndexDamaged:
        return IndexDamaged("a record cannot be read", path=self.searcher.folder)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, by its file."""
        known = self._ordinals.get(skill.path)
        if known is not None:
            return known
        entry = self.catalog._entries.get(skill.path)
        if entry is None:
            return None
        return self.searcher.ordinal(key_of_candidate(entry.candidate))

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield the skills that only an explicit call chooses."""
        for key in self.catalog.summary.hidden:
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                yield ordinal, self.skill(ordinal)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return by ordinal the file patterns of the skills that declare some."""
        found = {}
        for key, patterns in self.catalog.summary.patterns.items():
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                found[ordinal] = patterns
        return found


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Catalog:
    """Return the catalog of the roots over its index, which is made or brought up to date first.

    Where no index can be kept (``SKILLYARD_INDEX=off``, a folder that cannot be written) it is the
    catalog of :func:`load_catalog`: the same answers, worked out each time. Raises
    InvalidSkillsRoot, InvalidInput.
    """
    paths, wanted = named_roots(roots, scopes)
    if os.environ.get("SKILLYARD_INDEX", "").lower() in ("off", "0", "no"):
        return load_catalog(paths, scopes=wanted, limits=limits, progress=progress)
    place = Place(paths, wanted, limits)
    try:
        return _opened(place, index_folder(place), progress)
    except (SkillIoError, IndexDamaged):
        return load_catalog(paths, scopes=wanted, limits=limits, progress=progress)


def _opened(place: Place, folder: str, progress: Progress | None) -> Catalog:
    try:
        catalog = current(place, folder)
    except IndexDamaged:
        catalog = None
    if catalog is None:
        from skillyard.index.keeping import refresh  # it loads what reading and writing need

        refresh(place, folder, progress=progress)
        catalog = current(place, folder, trusted=True)
    if catalog is None:
        raise IndexDamaged("the index vanished while it was opened", path=folder)
    return catalog


def current(place: Place, folder: str, *, trusted: bool = False) -> IndexedCatalog | None:
    """Return the catalog over the index, or None when there is none that is up to date."""
    searcher = open_index(folder)
    if searcher is None:
        return None
    table = table_of(searcher)
    if searcher.settings != settings(table):
        return None
    data = searcher.side_file("summary")
    if data is None:
        return None
    try:
        summary = load_summary(data)
    except ValueError:
        raise IndexDamaged("the summary cannot be read", path=folder) from None
    if not trusted and not fresh(searcher, place, summary):
        return None
    return IndexedCatalog(place, searcher, summary, table)
