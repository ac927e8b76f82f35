"""A catalog over an index on disk. It keeps its files, or reads one on first access to its body."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import Diagnostic, IndexDamaged, SkillIoError
from skillyard.base.text import plural
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.catalog.snapshot import (
    Catalog,
    CatalogDiff,
    assemble,
    build_catalog,
    difference_of,
)
from skillyard.engine.index.facet_terms import NAME
from skillyard.engine.index.library import Library, SkillCard, path_prefix
from skillyard.engine.index.library_spec import (
    OF_FILES,
    LibrarySummary,
    Progress,
    decode_diagnostics,
    decode_summary,
    index_folder,
    index_settings,
    is_fresh,
    read_files,
)
from skillyard.engine.index.segment_searcher import SegmentSearcher, open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.catalog.counts import SkillCounts
    from skillyard.engine.catalog.entries import Progress as Reading
    from skillyard.engine.discovery.layout import CandidateFile

MAX_KEPT = 64
"""Up to this number of files a catalog may keep them: reading takes 2 ms, and parsing 20."""
WAIT_S = 30.0
"""Seconds to wait for another process that is updating the same index."""
POLL_S = 0.25
"""Seconds between two checks of the other process's progress."""
BUILDING = "index_building"
"""Code of the diagnostic for answers from a partly built index."""

_ID = "-[0-9a-f]{12}$"
"""The end of every document id."""


class IndexedCatalog(Catalog):
    """The catalog of some roots over their index. Other data loads on first use."""

    __slots__ = (
        "_before",
        "_contents",
        "_folder",
        "_full",
        "_read_diagnostics",
        "building",
        "library",
        "summary",
    )

    _spec: LibrarySpec

    def __init__(
        self,
        spec: LibrarySpec,
        searcher: SegmentSearcher,
        summary: LibrarySummary,
        contents: Mapping[str, CandidateFile] | None = None,
    ) -> None:
        # Catalog.__init__ is not called: __getattr__ loads its fields on first use.
        self._spec = spec
        self._read_diagnostics: tuple[Diagnostic, ...] | None = None
        self._counts = None
        self.bound = {}
        self._contents = contents
        """All files by path, as they were when the catalog was loaded; None: read on access."""
        self._full: Catalog | None = None
        """The catalog with every skill loaded; None before first use."""
        self._before: Catalog | None = None
        """An earlier one of the same files, whose unchanged skills are reused."""
        self.summary = summary
        self.building: Progress | None = None
        """The progress of the first build while it runs; None for a complete index."""
        if summary.known != summary.files:
            self.building = Progress(summary.known, summary.files)
        # As the caller spells the roots. The library does not refer to the catalog: without a
        # circle the index files close as soon as the catalog is dropped.
        prefixes = [path_prefix(root) for root in spec.roots]
        prefixes += summary.prefixes[len(prefixes) :]
        is_anywhere = not spec.scopes and all(map(os.path.isabs, prefixes))
        self._folder = ""
        """Where relative roots begin, also after the program goes to another folder."""
        if not is_anywhere:
            with suppress(OSError):  # it is gone
                self._folder = os.getcwd()
        read = partial(_read_skill, folder=self._folder, contents=contents or {})
        decode = partial(SkillCard, prefixes=prefixes, read=read)
        self.library = Library(
            searcher, bundled_table(), decode, summary.hidden, summary.patterns, prefixes
        )

    def __getattr__(self, name: str) -> Any:
        if name not in Catalog.__slots__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = getattr(self.full_catalog(), name)
        setattr(self, name, value)
        return value

    def full_catalog(self, before: Catalog | None = None) -> Catalog:
        """Return the catalog with every skill loaded.

        ``before`` is an earlier catalog of the same roots; only changed files are read again.
        """
        if self._full is None:
            before, self._before = before or self._before, None
            if self._contents is not None:
                from skillyard.engine.catalog.entries import read_one
                from skillyard.engine.discovery.layout import Scan

                files = self._contents.items()
                entries = {path: read_one(file[0], self._spec, 0, file) for path, file in files}
                self._full = assemble(self._spec, Scan((), (), 0), entries)
                self._full._diagnostics = self.diagnostics
            elif before is not None and before.spec == self._spec:
                self._full = before.reload().catalog
            else:
                is_here = not self._folder
                with suppress(OSError):  # it is gone
                    is_here = is_here or self._folder == os.getcwd()
                spec = self._spec if is_here else self._spec.below(self._folder)
                self._full = build_catalog(spec, spec.scan())
            self.library.adopt(self._full.skills)
            self._read_diagnostics = self._full.diagnostics
            self._counts = self._full.counts
        return self._full

    def is_current(self) -> bool:
        """Return True when the index matches the files and policy and is of the last generation.

        All files are scanned. Raises InvalidSkillsRoot, and SkillIoError for a policy that cannot
        be read.
        """
        spec, searcher = self._spec, self.library.searcher
        return (
            not searcher.stale()
            and spec.renewed() == spec
            and is_fresh(searcher, spec, self.summary, force_scan=True)
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of loading, sorted by path. Raises ValueError for damaged ones."""
        if self._read_diagnostics is None:
            reported, prefixes = self.summary.reported, self.library.prefixes
            none = reported == "[]"
            self._read_diagnostics = () if none else decode_diagnostics(reported, prefixes)
            if self.summary.known < self.summary.files:
                building = _building_diagnostic(self._spec, self.summary)
                self._read_diagnostics += (building,)
        return self._read_diagnostics

    @property
    def counts(self) -> SkillCounts:
        """The numbers of skills, copies and convention documents."""
        if self._counts is None:
            self._counts = self.summary.counts
            if self.summary.requiring:
                from skillyard.engine.catalog.requirements import RequirementChecker

                ordinals = self.library.ordinals_of(self.summary.requiring)
                requiring = map(self.library.skill, ordinals)
                lacking = sum(map(bool, map(RequirementChecker(self.named).lack, requiring)))
                self._counts = self._counts._replace(lacking=lacking)
        return self._counts

    def reload(self, progress: Reading | None = None) -> CatalogDiff:
        """Scan all files, update the index, and return the difference to this catalog.

        Removed skills have only the fields of their card, unless files are kept. Raises
        InvalidSkillsRoot when a root is gone, SkillIoError, IndexDamaged.
        """
        if self.is_current():
            return CatalogDiff((), (), (), self)
        spec = self._spec.renewed()
        if self._contents is not None:
            now = open_library(spec, progress=progress, force_scan=True, keep=True)
            return difference_of(self.skills, now.skills, now)
        after = open_library_index(spec, progress=progress, force_scan=True)
        after._before = self._full
        return difference_of(self._cards(), after._cards(), after)

    def _cards(self) -> list[Skill]:
        """Return the card of every skill, sorted."""
        library = self.library
        cards = [library.skill(ordinal) for ordinal in library.searcher.ordinals()]
        return sorted(cards, key=lambda skill: skill.key)

    def named(self, name_or_id: str) -> tuple[Skill, ...]:
        """Return what :meth:`get` returns: one skill, none, or the several that it refuses.

        The index knows names. Only for ids, slugs and conventions the files are read.
        """
        if self._full is None and not re.search(_ID, name_or_id):
            skills = self._with_name(name_or_id)
            if skills is not None:
                return skills
        return super().named(name_or_id)

    def _with_name(self, name: str) -> tuple[Skill, ...] | None:
        """Return the skills with exactly this name that no other shadows, sorted.

        None where the index cannot tell: something else has the word, such as a convention.
        """
        library, words = self.library, name.casefold().split()
        if not words:
            return None
        ordinals = library.searcher.holders(NAME + words[0])
        if ordinals is None:
            return ()
        ordinals += library.ordinals_of(self.summary.hidden)
        # Only what is returned is cached: the files would be read into other objects.
        skills = [library.skill(each) for each in ordinals if library.card(each).name == name]
        return tuple(sorted(skills, key=lambda skill: skill.key)) or None

    def variants(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the copies and variants of a skill."""
        if not self.summary.variants:
            return ()
        searcher = self.library.searcher
        ordinal = self.library.ordinal(skill)
        keys = () if ordinal is None else self.summary.variants.get(searcher.key(ordinal), ())
        return tuple(map(self.library.skill, self.library.ordinals_of(keys)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the skills of kept files, else the roots: their index is opened and updated."""
        if self._contents is not None:
            from copy import copy  # deferred: it passes on what was unpickled

            return copy, (self.full_catalog(),)
        return open_library_index, (self._spec,)

    def __len__(self) -> int:
        return self.summary.documents

    def __repr__(self) -> str:
        return f"<IndexedCatalog of {plural(self.counts.skills, 'skill')}>"


def _read_skill(card: Skill, folder: str, contents: Mapping[str, CandidateFile]) -> Skill:
    from skillyard.engine.catalog.entries import parse_file, refresh  # loads the file readers

    return parse_file(contents[card.path]).skill if card.path in contents else refresh(card, folder)


def _building_diagnostic(spec: LibrarySpec, summary: LibrarySummary) -> Diagnostic:
    return Diagnostic(
        BUILDING,
        "warning",
        spec.roots[0] if spec.roots else ".",
        f"the index is still being built: answers come from {summary.known:,} of"
        f" {summary.files:,} files",
        "try again later",
    )


def open_library(
    spec: LibrarySpec,
    *,
    progress: Reading | None = None,
    force_scan: bool = False,
    in_parts: bool = True,
    keep: bool = False,
) -> Catalog:
    """Return the catalog of a library over its index, which is built or updated first.

    ``force_scan`` scans the files even when a large library was scanned recently. ``in_parts``
    accepts an index that another process is still building; see :attr:`IndexedCatalog.building`.
    ``keep`` makes the catalog of a small library one that no later change of a file reaches. Where
    the folder of the index cannot be written, the result is a catalog that was read from all files.
    Raises InvalidSkillsRoot.
    """
    try:
        catalog = open_library_index(
            spec, progress=progress, force_scan=force_scan, in_parts=in_parts
        )
        if not keep or catalog.summary.files > MAX_KEPT or catalog.building:
            return catalog
        searcher = catalog.library.searcher
        files = read_files(searcher, catalog.library.prefixes)
        return IndexedCatalog(spec, searcher, catalog.summary, files)
    except (SkillIoError, IndexDamaged):
        return build_catalog(spec, spec.scan(), progress=progress)


def open_library_index(
    spec: LibrarySpec,
    *,
    progress: Reading | None = None,
    force_scan: bool = False,
    in_parts: bool = True,
) -> IndexedCatalog:
    """Return the catalog over the index of a library, which is built or updated first.

    ``in_parts`` takes the part of it that another process has made so far. Raises
    InvalidSkillsRoot, SkillIoError, IndexDamaged.
    """
    folder = index_folder(spec)
    with suppress(IndexDamaged):
        catalog = open_current(spec, folder, force_scan=force_scan)
        if catalog is not None:
            return catalog
    from skillyard.engine.index.index_update import (
        refresh_index,  # it loads what reading and writing need
    )

    ends = time.monotonic() + WAIT_S
    while True:
        busy: SkillIoError | None = None
        try:
            refresh_index(spec, folder, progress=progress, wait_s=POLL_S)
        except SkillIoError as error:
            if error.code != "index_busy":
                raise
            busy = error
        try:
            catalog = open_current(spec, folder, trusted=True)
        except IndexDamaged:
            catalog = None
        if busy is None:
            if catalog is None:
                raise IndexDamaged("the index vanished while it was opened", path=folder)
            return catalog
        if in_parts and catalog is not None and catalog.building:
            return catalog
        if time.monotonic() >= ends:
            raise busy


def open_current(
    spec: LibrarySpec, folder: str, *, trusted: bool = False, force_scan: bool = False
) -> IndexedCatalog | None:
    """Return the catalog over the index, or None when the index is missing or stale.

    ``trusted`` skips the check for changed files; ``force_scan`` scans all files, see
    :func:`.library_spec.is_fresh`.
    """
    searcher = open_index(folder)
    if searcher is None or searcher.settings != index_settings(**OF_FILES):
        return None
    try:
        summary = decode_summary(searcher.side_file("summary") or b"")
    except ValueError:
        raise IndexDamaged("the summary cannot be read", path=folder) from None
    if not trusted and not is_fresh(searcher, spec, summary, force_scan=force_scan):
        return None
    return IndexedCatalog(spec, searcher, summary)
