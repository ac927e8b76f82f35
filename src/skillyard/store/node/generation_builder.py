"""Applies the store's changes to the node's index: builds a generation, then switches to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from skillyard.base.errors import IndexDamaged, InvalidInput, SkillIoError
from skillyard.base.io.workers import Workers
from skillyard.engine.index.document import IndexedDocument
from skillyard.engine.index.segment_searcher import MASK, SHIFT, SegmentSearcher
from skillyard.engine.index.token_table import TokenTable, bundled_table
from skillyard.store.node.records import document_of_version, key_text, refusal
from skillyard.store.node.state import POSITION, NodeState, position_in
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import START, Changes, Position, Version

MAX_CHANGES = 256
"""Number of changes that are applied in the serving process: about half a second of work."""
MAX_CHARACTERS = 2_000_000
"""Total size of their bodies: twice that of this many usual skills, about two seconds of work."""
MAX_REWRITTEN = 2_000
"""Documents that may be copied at that time to merge segments."""
PAGE = 1_000
"""Skills per page when there are many."""
COMMITTED = 64_000
"""Skills after which the unfinished index is committed: whole pages that fill a segment."""
CHUNK = 32
"""Skills per task of a worker."""
_REACHED = "reached"
"""Note in an unfinished index: the position in the pages."""

Progress = Callable[[int], None]
"""Called with the number of skills applied so far."""


class ApplyResult(NamedTuple):
    """The result of applying changes."""

    position: Position
    overdue: bool = False
    """True when segments should be merged, which :func:`rebuild` does."""


def few_changes(store: CatalogStore, position: Position) -> Changes | None:
    """Return the changes since a position in one page; None when :func:`rebuild` is needed."""
    if not position.generation:
        return None
    page = store.changes(position, limit=MAX_CHANGES)
    return page if is_little(page) and not page.whole else None


def is_little(page: Changes) -> bool:
    """True for a complete page that is small enough to apply in the serving process."""
    characters = sum(len(version.skill.body or "") for version in page.upserts)
    return page.complete and len(page.upserts) <= MAX_CHANGES and characters <= MAX_CHARACTERS


def apply_few(state: NodeState, page: Changes) -> ApplyResult:
    """Apply a complete page to the current index as one generation.

    Raises SkillIoError, and IndexDamaged when damaged data would be copied; the previous generation
    then stays.
    """
    folder = state.current()
    if folder is None:
        raise SkillIoError("there is no index here to change", path=state.folder)
    page = _within_policy(page, state)
    with state.writer(folder, max_rewritten=MAX_REWRITTEN) as writer:
        table = bundled_table()
        for key in page.withdrawals:
            writer.delete(key_text(key))
        for version in page.upserts:
            writer.add(document_of_version(version, table))
        writer.note(POSITION, str(page.position))
        writer.commit()
        return ApplyResult(page.position, writer.overdue)


def rebuild(
    store: CatalogStore,
    state: NodeState,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    anew: bool = False,
) -> ApplyResult:
    """Build the index of the store's last generation beside the current one, and switch.

    The build starts from a copy of the current index when the store knows the changes since, and
    continues an interrupted build. With ``anew``, or when the copy is damaged, it starts from
    nothing. ``jobs`` processes analyse the skills. Raises the errors of the store, SkillIoError,
    and IndexDamaged for its own new files; the next call continues the build.
    """
    if anew:
        state.drop_building()
    old = None if anew else _open_usable(state, state.current())
    with Workers(jobs) as workers:
        analysis = _Analysis(old, workers)
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
    return ApplyResult(position)


def _round(
    store: CatalogStore, state: NodeState, analysis: _Analysis, progress: Progress | None
) -> Position | None:
    """Apply one round of pages; None when the store was reset between two pages."""
    position = _resume_position(state, analysis.old)
    page = _within_policy(store.changes(position, limit=PAGE), state)
    if not _continues(position, page):
        state.drop_building()
    applied = since = 0
    with state.writer(state.building) as writer:
        documents = analysis.begin(page.upserts)
        while True:
            after = None
            if not page.complete:  # prefetched, so that the workers never wait for it
                after = _within_policy(store.changes(page.position, limit=PAGE), state)
                if not _continues(page.position, after):
                    return None
            documents_after = analysis.begin(after.upserts if after is not None else ())
            for key in page.withdrawals:
                writer.delete(key_text(key))
            for document in documents():
                writer.add(document)
            applied += len(page.upserts) + len(page.withdrawals)
            since += len(page.upserts)
            if progress is not None:
                progress(applied)
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


def _within_policy(page: Changes, state: NodeState) -> Changes:
    """Return the page without the skills that the node's policy refuses: they are withdrawn."""
    refusals = {each.key for each in page.upserts if refusal(each, state.policy) is not None}
    if not refusals:
        return page
    return page._replace(
        upserts=tuple(each for each in page.upserts if each.key not in refusals),
        withdrawals=(*page.withdrawals, *sorted(refusals)),
    )


def _continues(position: Position, page: Changes) -> bool:
    """True when the page continues the requested position."""
    if not position.until:
        return not page.whole or not position.generation
    there = page.position
    stamp = there.stamp if page.complete else there.until_stamp
    return (page.generation, stamp) == (position.until, position.until_stamp)


def _open_usable(state: NodeState, folder: str | None) -> SegmentSearcher | None:
    try:
        return None if folder is None else state.open_searcher(folder)
    except (IndexDamaged, SkillIoError):
        return None


def _resume_position(state: NodeState, old: SegmentSearcher | None) -> Position:
    """Return the position to continue from. The unfinished index contains everything before it."""
    building = _open_usable(state, state.building)
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
    """Builds documents of versions, in worker processes when there are many."""

    def __init__(self, old: SegmentSearcher | None, workers: Workers) -> None:
        self.old = old
        self._workers = workers

    def begin(self, versions: Sequence[Version]) -> Callable[[], Iterator[IndexedDocument]]:
        """Start to analyse versions; the returned function yields their documents, in order."""
        pairs = [(version, self._existing_document(version)) for version in versions]
        here = len(pairs) < 2 * CHUNK
        results = [
            self._workers.submit(_documents, pairs[start : start + CHUNK], here=here)
            for start in range(0, len(pairs), CHUNK)
        ]
        return lambda: chain.from_iterable(result() for result in results)

    def _existing_document(self, version: Version) -> IndexedDocument | None:
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
