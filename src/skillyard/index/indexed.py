"""A catalog over an index on disk: skills are read from their files when they are looked at."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from skillyard.catalog.snapshot import Catalog, load_catalog, load_found, named_roots
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
from skillyard.text import plural
from skillyard.value import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from skillyard.catalog.reading import Progress

__all__ = ["IndexedCatalog", "current", "open_catalog", "open_place"]

_LAZY = (
    "_skills",
    "_shadowed",
    "_entries",
    "_scanned",
    "_by_id",
    "_by_name",
    "_by_slug",
    "_digest",
)


class _Whole:
    """The catalog with every skill read, for the first who needs it.

    The catalog and its library both hold it, and the library does not hold the catalog: without a
    cycle, what nobody asks any more closes its files at once.
    """

    __slots__ = ("place", "read")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.read: Catalog | None = None
        """None as long as nobody needed it."""

    def get(self, before: Catalog | None = None) -> Catalog:
        """Return it; of what was read ``before`` only the files that changed are read again."""
        roots, scopes, limits, admission = self.place
        if self.read is None and before is not None and admission is None:
            self.read = before.reload().catalog
        if self.read is None:
            self.read = load_found(roots, scopes, limits, self.place.scan())
        return self.read


class IndexedCatalog(Catalog):
    """The catalog of some roots, answered from their index; everything else loads when asked."""

    __slots__ = ("_place", "_whole", "library", "summary")

    def __init__(
        self, place: Place, searcher: SegmentSearcher, summary: Summary, table: Table
    ) -> None:
        # The base is not initialised: what it would hold is loaded by the first who needs it.
        self._place = place
        self._roots, self._scopes, self._limits, _ = place
        self._reported = summary.reported
        self._counts = summary.counts
        self.bound = {}
        self._whole = _Whole(place)
        self.summary = summary
        self.library = _DiskLibrary(self._whole, summary, searcher, table)

    def __getattr__(self, name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        whole = self.whole()
        for lazy in _LAZY:
            setattr(self, lazy, getattr(whole, lazy))
        return getattr(self, name)

    def whole(self, before: Catalog | None = None) -> Catalog:
        """Return the catalog with every skill read.

        ``before`` is a catalog of the same roots from earlier: only what changed since is read.
        """
        whole = self._whole.get(before)
        self._reported = whole.reported
        self._counts = whole.counts
        return whole

    def is_current(self) -> bool:
        """True when the files say what the index says, and no newer index is there.

        Every file is looked at, whatever the size of the library. Raises InvalidSkillsRoot.
        """
        searcher = self.library.searcher
        return not searcher.stale() and fresh(searcher, self._place, self.summary, look=True)

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the copies of a skill as the index knows them, without their instructions."""
        keys = self.summary.copies.get(skill.path, ())
        ordinals = (self.library.searcher.ordinal(key) for key in keys)
        return tuple(self.library.skill(ordinal) for ordinal in ordinals if ordinal is not None)

    def __len__(self) -> int:
        return self.summary.documents

    def __repr__(self) -> str:
        return f"<IndexedCatalog of {plural(self.counts.skills, 'skill')}>"


class _DiskLibrary(Library):
    """The skills of an indexed catalog, one file at a time."""

    searcher: SegmentSearcher

    def __init__(
        self, whole: _Whole, summary: Summary, searcher: SegmentSearcher, table: Table
    ) -> None:
        self._whole = whole
        self._summary = summary
        self.searcher = searcher
        self.table = table
        self._kept: dict[int, Skill] = {}
        self._ordinals: dict[str, int] = {}
        """Of the skills kept, by path; written before the skill is given out."""

    @property
    def skills(self) -> Sequence[Skill]:  # type: ignore[override]
        """Every skill, which reads every file."""
        return self._whole.get().skills

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
        if self._whole.read is not None:  # one object for each skill, whoever asks
            entry = self._whole.read._entries.get(card.path)
            if entry is not None and entry.skill is not None:
                return entry.skill
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
        entry = read_one(candidate, self._whole.place.limits, time.time_ns())
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
        entry = self._whole.get()._entries.get(skill.path)
        if entry is None:
            return None
        return self.searcher.ordinal(key_of_candidate(entry.candidate))

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield the skills that only an explicit call chooses."""
        for key in self._summary.hidden:
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                yield ordinal, self.skill(ordinal)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return by ordinal the file patterns of the skills that declare some."""
        found = {}
        for key, patterns in self._summary.patterns.items():
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                found[ordinal] = patterns
        return found


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    look: bool = False,
) -> Catalog:
    """Return the catalog of the roots over its index, which is made or brought up to date first.

    ``look`` looks at every file, also of a large library that was looked at a moment ago.
    Where no index can be kept (``SKILLYARD_INDEX=off``, a folder that cannot be written) it is the
    catalog of :func:`load_catalog`: the same answers, worked out each time. Raises
    InvalidSkillsRoot, InvalidInput.
    """
    paths, wanted = named_roots(roots, scopes)
    if os.environ.get("SKILLYARD_INDEX", "").lower() in ("off", "0", "no"):
        return load_catalog(paths, scopes=wanted, limits=limits, progress=progress)
    place = Place(paths, wanted, limits)
    try:
        return open_place(place, progress=progress, look=look)
    except (SkillIoError, IndexDamaged):
        return load_catalog(paths, scopes=wanted, limits=limits, progress=progress)


def open_place(
    place: Place, *, progress: Progress | None = None, look: bool = False
) -> IndexedCatalog:
    """Return the catalog over the index of a place, made or brought up to date first.

    Raises InvalidSkillsRoot, SkillIoError, IndexDamaged.
    """
    folder = index_folder(place)
    try:
        catalog = current(place, folder, look=look)
    except IndexDamaged:
        catalog = None
    if catalog is None:
        from skillyard.index.keeping import refresh  # it loads what reading and writing need

        refresh(place, folder, progress=progress)
        catalog = current(place, folder, trusted=True)
    if catalog is None:
        raise IndexDamaged("the index vanished while it was opened", path=folder)
    return catalog


def current(
    place: Place, folder: str, *, trusted: bool = False, look: bool = False
) -> IndexedCatalog | None:
    """Return the catalog over the index, or None when there is none that is up to date.

    ``trusted`` believes the index; ``look`` looks at every file; see :func:`.place.fresh`.
    """
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
    if not trusted and not fresh(searcher, place, summary, look=look):
        return None
    return IndexedCatalog(place, searcher, summary, table)
