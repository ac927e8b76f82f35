"""Apply the store's changes to the node's index: build the next generation, then switch to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import chain
from multiprocessing import get_context
from typing import NamedTuple

from skillyard.errors import IndexDamaged, InvalidInput, SkillIoError
from skillyard.index.document import IndexedDocument
from skillyard.index.segment_searcher import MASK, SHIFT, SegmentSearcher
from skillyard.index.token_table import TokenTable, bundled_table
from skillyard.store.node.child_lifetime import end_with_parent
from skillyard.store.node.records import document_of_version, key_text
from skillyard.store.node.state import POSITION, NodeState, position_in
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import START, Changes, Position, Version

__all__ = ["FEW", "Applied", "Progress", "apply_few", "few_changes", "is_little", "rebuild"]

FEW = 256
"""Changes that are applied at once, beside the answers: about half a second of work."""
FEW_CHARACTERS = 2_000_000
"""In the bodies of those: twice what so many usual skills have, and about two seconds of work."""
FEW_REWRITTEN = 2_000
"""Documents that may be copied then, to keep the segments few."""
PAGE = 1_000
"""Skills that are asked for at a time when there are many."""
COMMITTED = 64_000
"""Skills after which an index in the making is written down: whole pages that fill a segment."""
CHUNK = 32
"""Skills that a worker analyses at a time."""
_REACHED = "reached"
"""Note of an index in the making: how far the pages have got."""

Progress = Callable[[int], None]
"""Called with how many skills were taken over so far."""


class Applied(NamedTuple):
    """What was done."""

    position: Position
    overdue: bool = False
    """Segments want merging, which :func:`rebuild` does."""


def few_changes(store: CatalogStore, position: Position) -> Changes | None:
    """Return what changed since, in one page. None where :func:`rebuild` has to do it."""
    if not position.generation:
        return None
    page = store.changes(position, limit=FEW)
    return page if is_little(page) and not page.whole else None


def is_little(page: Changes) -> bool:
    """True for a complete page that holds up no answers while it is taken over in this process."""
    characters = sum(len(version.skill.body or "") for version in page.upserts)
    return page.complete and len(page.upserts) <= FEW and characters <= FEW_CHARACTERS


def apply_few(state: NodeState, page: Changes) -> Applied:
    """Apply a complete page to the index that answers, as one generation of it.

    Raises SkillIoError, and IndexDamaged where it has to copy what is damaged; the generation
    before stays then.
    """
    folder = state.current()
    if folder is None:
        raise SkillIoError("there is no index here to change", path=state.folder)
    with state.writer(folder, max_rewritten=FEW_REWRITTEN) as writer:
        table = bundled_table()
        for key in page.withdrawals:
            writer.delete(key_text(key))
        for version in page.upserts:
            writer.add(document_of_version(version, table))
        writer.note(POSITION, str(page.position))
        writer.commit()
        return Applied(page.position, writer.overdue)


def rebuild(
    store: CatalogStore,
    state: NodeState,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    anew: bool = False,
) -> Applied:
    """Make the index of the store's last generation beside the one that answers, and switch.

    It begins as what is there where the store can say what changed since, and goes on where it
    was interrupted; ``anew``, or where that turns out to be damaged, nothing of it is taken over.
    ``jobs`` processes analyse. Raises what the store raises, SkillIoError, and IndexDamaged for
    what it wrote itself; what was reached stays and is gone on with.
    """
    if anew:
        state.drop_building()
    old = None if anew else _opened(state, state.current())
    with ExitStack() as stack:
        analysis = _Analysis(old, stack, jobs)
        while True:
            try:
                position = _round(store, state, analysis, progress)
            except IndexDamaged:
                if anew:
                    raise
                anew, analysis.old, position = True, None, None
            if position is not None:
                break
            state.drop_building()
    state.switch()
    return Applied(position)


def _round(
    store: CatalogStore, state: NodeState, analysis: _Analysis, progress: Progress | None
) -> Position | None:
    """Apply one round of pages; None when the store was reset between two pages."""
    position = _begun(state, analysis.old)
    page = store.changes(position, limit=PAGE)
    if not _goes_on(position, page):
        state.drop_building()
    taken = since = 0
    with state.writer(state.building) as writer:
        documents = analysis.begin(page.upserts)
        while True:
            after = None
            if not page.complete:  # prefetched, so that the workers never wait for it
                after = store.changes(page.position, limit=PAGE)
                if not _goes_on(page.position, after):
                    return None
            documents_after = analysis.begin(after.upserts if after is not None else ())
            for key in page.withdrawals:
                writer.delete(key_text(key))
            for document in documents():
                writer.add(document)
            taken += len(page.upserts) + len(page.withdrawals)
            since += len(page.upserts)
            if progress is not None:
                progress(taken)
            if after is None:
                break
            if since >= COMMITTED:
                since = 0
                writer.note(_REACHED, str(page.position))
                writer.commit()
            page, documents = after, documents_after
        writer.note(_REACHED, "")
        writer.note(POSITION, str(page.position))
        writer.commit()
        return page.position


def _goes_on(position: Position, page: Changes) -> bool:
    """True when the page continues the requested position."""
    if not position.until:
        return not page.whole or not position.generation
    there = page.position
    stamp = there.stamp if page.complete else there.until_stamp
    return (page.generation, stamp) == (position.until, position.until_stamp)


def _opened(state: NodeState, folder: str | None) -> SegmentSearcher | None:
    try:
        return None if folder is None else state.opened(folder)
    except (IndexDamaged, SkillIoError):
        return None


def _begun(state: NodeState, old: SegmentSearcher | None) -> Position:
    """Return the position to continue from; the unfinished index holds everything before it."""
    building = _opened(state, state.building)
    if building is not None and building.notes.get(_REACHED):
        try:
            return Position.parse(building.notes[_REACHED])
        except InvalidInput:
            pass
    state.drop_building()
    if old is None:
        return START
    position = position_in(old)
    if position.generation:
        state.copy_to_building(old.folder)
    return position


class _Analysis:
    """Makes documents of versions, in other processes where there are many."""

    def __init__(self, old: SegmentSearcher | None, stack: ExitStack, jobs: int) -> None:
        self.old = old
        self._stack = stack
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def begin(self, versions: Sequence[Version]) -> Callable[[], Iterator[IndexedDocument]]:
        """Start to analyse versions; the returned function yields their documents, in order."""
        pairs = [(version, self._known(version)) for version in versions]
        if self._jobs < 2 or len(versions) < 2 * CHUNK:
            return lambda: iter(_documents(pairs))
        if self._pool is None:
            self._pool = self._stack.enter_context(
                ProcessPoolExecutor(
                    self._jobs,
                    mp_context=get_context("spawn"),
                    initializer=end_with_parent,
                    initargs=(os.getpid(),),
                )
            )
        chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
        documents = self._pool.map(_documents, chunks)
        return lambda: chain.from_iterable(documents)

    def _known(self, version: Version) -> IndexedDocument | None:
        """Return the existing document of the skill; None when it cannot be read."""
        if self.old is None:
            return None
        try:
            ordinal = self.old.ordinal(key_text(version.key))
            if ordinal is None:
                return None
            return self.old.segments[ordinal >> SHIFT].document(ordinal & MASK)
        except IndexDamaged:
            return None


def _documents(pairs: Sequence[tuple[Version, IndexedDocument | None]]) -> list[IndexedDocument]:
    table = bundled_table()
    return [_document(version, table, known) for version, known in pairs]


def _document(
    version: Version, table: TokenTable, known: IndexedDocument | None
) -> IndexedDocument:
    try:
        return document_of_version(version, table, known)
    except (ValueError, TypeError, KeyError):  # an unreadable record
        return document_of_version(version, table)
