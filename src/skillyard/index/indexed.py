"""A catalog over an index on disk: skills are read from their files when they are looked at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillyard.arguments import check_arguments
from skillyard.catalog.snapshot import (
    Catalog,
    CatalogDiff,
    build_catalog,
    difference_of,
    parse_roots,
    read_catalog,
)
from skillyard.errors import Diagnostic, IndexDamaged, SkillError, SkillIoError
from skillyard.index.library import Library
from skillyard.index.opening import open_index
from skillyard.index.place import Place, fresh, index_folder, settings, table_of
from skillyard.index.progress import Progress
from skillyard.index.reader import SegmentSearcher
from skillyard.index.records import card_in
from skillyard.index.spelling import Spelling
from skillyard.index.summary import Summary, load_summary
from skillyard.index.table import Table
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.reported import Reported
from skillyard.skill import Skill
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.catalog.entries import Progress as Reading

__all__ = [
    "IndexedCatalog",
    "current",
    "indexing_is_off",
    "load_catalog",
    "open_catalog",
    "open_place",
]

READ_UP_TO = 64
"""Files that :func:`load_catalog` reads each time: an index of so few would save no time."""
WAIT_S = 30.0
"""Seconds to wait for another process that is bringing the same index up to date."""
POLL_S = 0.25
"""Seconds between two looks at what the other process has made by then."""
BUILDING = "index_building"
"""Code of the diagnostic that says that answers come from a part of the library."""

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

    __slots__ = ("before", "place", "read")

    def __init__(self, place: Place, before: Catalog | None = None) -> None:
        self.place = place
        self.before = before
        """What was read of an earlier state of the files."""
        self.read: Catalog | None = None
        """None as long as nobody needed it."""

    def get(self, before: Catalog | None = None) -> Catalog:
        """Return it; of what was read ``before`` only the files that changed are read again."""
        roots, scopes, limits, admission = self.place
        before, self.before = before or self.before, None
        if self.read is None and before is not None and admission is None:
            self.read = before.reload().catalog
        if self.read is None:
            self.read = build_catalog(roots, scopes, limits, self.place.scan())
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
        spelling = Spelling(place)
        self._reported = spelling.reported(summary.reported)
        if summary.known < summary.files:
            self._reported = Reported((*self._reported.listed, _building(place, summary)))
        self._counts = summary.counts
        self.bound = {}
        self._whole = _Whole(place)
        self.summary = summary
        self.library = _DiskLibrary(self._whole, summary, searcher, table, spelling)

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

    @property
    def building(self) -> Progress | None:
        """How far the index is, where it is still being made: answers come from that part of it."""
        if self.summary.known == self.summary.files:
            return None
        return Progress(self.summary.known, self.summary.files)

    def reload(self, progress: Reading | None = None) -> CatalogDiff:
        """Look at every file, bring the index up to date, and return the difference.

        Of a removed skill there is what answers show; the rest went with its file. Raises
        InvalidSkillsRoot when a root is gone, SkillIoError, IndexDamaged.
        """
        if self.is_current():
            return CatalogDiff((), (), (), self)
        after = open_place(self._place, progress=progress, look=True)
        after._whole.before = self._whole.read
        return difference_of(self._cards(), after._cards(), after)

    def glance(self) -> CatalogDiff:
        """Do as :meth:`reload`: a look at every file is short where nothing is read."""
        return self.reload()

    def _cards(self) -> list[Skill]:
        """Return every skill as the index has it, sorted."""
        library = self.library
        found = [library.skill(ordinal) for ordinal in library.searcher.ordinals()]
        return sorted(found, key=lambda skill: skill.key)

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the copies of a skill."""
        searcher = self.library.searcher
        ordinal = self.library.ordinal(skill)
        keys = () if ordinal is None else self.summary.copies.get(searcher.key(ordinal), ())
        ordinals = (searcher.ordinal(key) for key in keys)
        return tuple(self.library.skill(ordinal) for ordinal in ordinals if ordinal is not None)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as the roots: whoever unpickles it opens the same index, up to date."""
        return open_place, (self._place,)

    def __len__(self) -> int:
        return self.summary.documents

    def __repr__(self) -> str:
        return f"<IndexedCatalog of {plural(self.counts.skills, 'skill')}>"


def _building(place: Place, summary: Summary) -> Diagnostic:
    return Diagnostic(
        BUILDING,
        "warning",
        place.roots[0] if place.roots else ".",
        f"the index is still being made: answers come from {summary.known:,} of"
        f" {summary.files:,} files",
        "ask again in a while",
    )


class _DiskLibrary(Library):
    """The skills of an indexed catalog, one file at a time."""

    searcher: SegmentSearcher

    def __init__(
        self,
        whole: _Whole,
        summary: Summary,
        searcher: SegmentSearcher,
        table: Table,
        spelling: Spelling,
    ) -> None:
        self._whole = whole
        self._spelling = spelling
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
        """Return the skill of an ordinal, read as far as it is looked at. Raises IndexDamaged."""
        skill = self._kept.get(ordinal)
        if skill is None:
            skill = self._one(ordinal)
            self._ordinals[skill.path] = ordinal
            skill = self._kept.setdefault(ordinal, skill)  # one object, whichever thread was first
        return skill

    def card(self, ordinal: int) -> Skill:
        """Return what the index itself says of a skill. Raises IndexDamaged."""
        try:
            return card_in(self.searcher.record(ordinal), self._spelling, self._whole.place.limits)
        except (ValueError, TypeError, KeyError):
            raise self._unreadable() from None

    def _one(self, ordinal: int) -> Skill:
        card = self.card(ordinal)
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
        try:
            _ = skill.body
        except SkillError as error:
            raise IndexDamaged(
                f"a skill has changed since it was indexed: {error.message}", path=skill.path
            ) from None
        return skill

    def _unreadable(self) -> IndexDamaged:
        return IndexDamaged("a record cannot be read", path=self.searcher.folder)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, by its file."""
        known = self._ordinals.get(skill.path)
        if known is not None:
            return known
        for key in self._spelling.keys(skill.path):
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None and self.skill(ordinal).path == skill.path:
                return ordinal
        return None

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


@check_arguments
def load_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    index: bool = True,
) -> Catalog:
    """Load every skill below the roots (default: the current folder).

    ``scopes=("user",)`` adds the user's agent folders, after the roots. One bad file never stops
    the others: it becomes a diagnostic. ``progress`` is called with (files done, files in all)
    from time to time.

    A library of more than 64 files is opened over the index that the command line uses too, which
    lies in the user's cache folder and is made or brought up to date first; what a skill holds
    beyond its card is then read from its file when it is looked at. ``index=False``, or
    ``SKILLYARD_INDEX=off``, reads every file now and keeps nothing. The answers are the same.

    Raises InvalidSkillsRoot for a root that is no folder, InvalidInput for an unknown scope.
    """
    paths, named = parse_roots(roots, scopes)
    place = Place(paths, named, limits)
    if not index or indexing_is_off():
        return read_catalog(paths, scopes=named, limits=limits, progress=progress)
    try:
        if not _is_large(index_folder(place)):
            found = place.scan()
            if len(found.candidates) <= READ_UP_TO:
                return build_catalog(paths, named, limits, found, progress=progress)
        return open_place(place, progress=progress)
    except (SkillIoError, IndexDamaged):
        return read_catalog(paths, scopes=named, limits=limits, progress=progress)


def indexing_is_off() -> bool:
    """Return True where the user wants no index."""
    return os.environ.get("SKILLYARD_INDEX", "").lower() in ("off", "0", "no")


def _is_large(folder: str) -> bool:
    """True where an index is kept that :func:`load_catalog` uses: then no walk has to count."""
    try:
        searcher = open_index(folder)
        data = None if searcher is None else searcher.side_file("summary")
        return data is not None and load_summary(data).files > READ_UP_TO
    except (IndexDamaged, SkillIoError, ValueError):
        return False


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Reading | None = None,
    look: bool = False,
    in_parts: bool = True,
) -> Catalog:
    """Return the catalog of the roots over its index, which is made or brought up to date first.

    ``look`` looks at every file, also of a large library that was looked at a moment ago.
    ``in_parts`` takes a part of an index that another process is making; see
    :attr:`IndexedCatalog.building`. Where no index can be kept (``SKILLYARD_INDEX=off``, a folder
    that cannot be written) it is the catalog of :func:`read_catalog`: the same answers, worked out
    each time. Raises InvalidSkillsRoot, InvalidInput.
    """
    paths, named = parse_roots(roots, scopes)
    if indexing_is_off():
        return read_catalog(paths, scopes=named, limits=limits, progress=progress)
    place = Place(paths, named, limits)
    try:
        return open_place(place, progress=progress, look=look, in_parts=in_parts)
    except (SkillIoError, IndexDamaged):
        return read_catalog(paths, scopes=named, limits=limits, progress=progress)


def open_place(
    place: Place,
    *,
    progress: Reading | None = None,
    look: bool = False,
    in_parts: bool = True,
) -> IndexedCatalog:
    """Return the catalog over the index of a place, made or brought up to date first.

    Raises InvalidSkillsRoot, SkillIoError, IndexDamaged.
    """
    folder = index_folder(place)
    catalog = _current(place, folder, look=look)
    return catalog or _brought(place, folder, progress, in_parts)


def _brought(place: Place, folder: str, progress: Reading | None, in_parts: bool) -> IndexedCatalog:
    """Bring the index up to date, or take the part of it that another process has made so far."""
    from skillyard.index.keeping import refresh  # it loads what reading and writing need

    ends = time.monotonic() + WAIT_S
    while True:
        try:
            refresh(place, folder, progress=progress, wait_s=POLL_S)
        except SkillIoError as error:
            if error.code != "index_busy":
                raise
            part = _current(place, folder, trusted=True)
            if in_parts and part is not None and part.building:
                return part
            if time.monotonic() >= ends:
                raise
        else:
            catalog = _current(place, folder, trusted=True)
            if catalog is None:
                raise IndexDamaged("the index vanished while it was opened", path=folder)
            return catalog


def _current(
    place: Place, folder: str, *, trusted: bool = False, look: bool = False
) -> IndexedCatalog | None:
    try:
        return current(place, folder, trusted=trusted, look=look)
    except IndexDamaged:
        return None


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
