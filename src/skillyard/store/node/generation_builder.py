"""Applies the store's changes to the node's index, as one generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.base.io.workers import Workers
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.index.token_table import bundled_table
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
"""Skills that are in memory at a time: whole pages that fill a segment. The next index is committed
after as many; more changes than that of the current one are a reason to build the next."""
CHUNK = 32
"""Skills per task of a worker."""

Progress = Callable[[int], None]
"""Called with the number of skills applied so far."""


def is_little(page: Changes) -> bool:
    """True for a complete page that is small enough to apply in the serving process."""
    characters = sum(len(version.skill.body or "") for version in page.upserts)
    return page.complete and len(page.upserts) <= MAX_CHANGES and characters <= MAX_CHARACTERS


def apply(
    store: CatalogStore,
    state: NodeState,
    page: Changes,
    *,
    jobs: int = 1,
    progress: Progress = lambda applied: None,
    max_rewritten: int | None = None,
) -> bool | None:
    """Apply a page and those that follow it as one generation.

    Pages of everything make an index beside the current one, which is then switched; others change
    the current one. Returns whether segments are overdue to be merged, because of
    ``max_rewritten``; None when everything is to be asked for: the store was put back meanwhile, or
    there are too many changes. The generation before then stays, as it does after an error. Raises
    the errors of the store, SkillIoError, and IndexDamaged when damaged data would be copied.
    """
    folder = state.current()
    if page.whole:
        state.drop_building()
        folder = state.building
    if folder is None:
        raise SkillIoError("there is no index here to change", path=state.folder)
    with Workers(jobs) as workers, state.writer(folder, max_rewritten=max_rewritten) as writer:
        page = _within_policy(page, state)
        documents = _documents(workers, page.upserts)
        applied = uncommitted = 0
        while True:
            after, documents_after = None, documents
            if not page.complete:  # prefetched, so that the workers never wait for it
                after = _within_policy(store.changes(page.position, limit=PAGE), state)
                if not _continues(page.position, after):
                    return None
                documents_after = _documents(workers, after.upserts)
            for key in page.withdrawals:
                writer.delete(key_text(key))
            for document in documents:
                writer.add(document)
            applied += len(page.upserts) + len(page.withdrawals)
            uncommitted += len(page.upserts)
            progress(applied)
            if after is None:
                break
            if uncommitted >= COMMITTED:
                if not page.whole:
                    return None
                writer.commit()
                uncommitted = 0
            page, documents = after, documents_after
        writer.note(POSITION, str(page.position))
        writer.commit()
    if page.whole:
        state.switch()
    return writer.overdue


def catch_up(
    store: CatalogStore,
    state: NodeState,
    *,
    anew: bool = False,
    jobs: int = 1,
    progress: Progress = lambda applied: None,
) -> None:
    """Bring the node's index to the store's last generation, however many skills that takes.

    With ``anew``, or when the current index is damaged, everything is fetched. ``jobs`` processes
    analyse the skills. Raises the errors of the store, SkillIoError, and IndexDamaged for its own
    new files.
    """
    while True:
        page = store.changes(START if anew else _position(state), limit=PAGE)
        try:
            if apply(store, state, page, jobs=jobs, progress=progress) is not None:
                return
        except IndexDamaged:
            if page.whole:
                raise
        anew = True


def _position(state: NodeState) -> Position:
    """Return the generation of the current index; START without one that can be used."""
    try:
        searcher = state.open()
    except (IndexDamaged, SkillIoError):
        return START
    return START if searcher is None else position_in(searcher)


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
    """True when the page leads to the generation that the one before led to."""
    there = page.position
    stamp = there.stamp if page.complete else there.until_stamp
    return (page.generation, stamp) == (position.until, position.until_stamp)


def _documents(workers: Workers, versions: Sequence[Version]) -> Iterator[IndexedDocument]:
    """Start to analyse versions, in worker processes when there are many; yield their documents."""
    results = [
        workers.submit(_analysed, versions[start : start + CHUNK], here=len(versions) < 2 * CHUNK)
        for start in range(0, len(versions), CHUNK)
    ]
    return chain.from_iterable(result() for result in results)


def _analysed(versions: Sequence[Version]) -> list[IndexedDocument]:
    return [document_of_version(version, bundled_table()) for version in versions]
