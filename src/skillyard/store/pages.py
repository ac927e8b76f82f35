"""The reads of followers: pages of changes, and resuming from a position."""

from __future__ import annotations

from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.store.backend import Backend, Session
from skillyard.store.identifiers import checked_number
from skillyard.store.rows import key_of, version_of
from skillyard.store.statements import HEAD, STAMP_OF, VIEW_GENERATION
from skillyard.store.values import Changes, Position

MAX_AT_ONCE = 10_000
"""Rows of one page: about 40 MB of skills of usual size."""
PAGE_BYTES = 64 * 1024 * 1024
"""A page ends with the row that reaches this size, so it may exceed it by one skill."""


def head_of(session: Session) -> tuple[int, str]:
    """Return the last generation and its stamp; 0 and an empty stamp for an empty store."""
    row = session.execute(HEAD, {}).fetchone()
    return (0, "") if row is None else (row[0], row[1])


def changes_after(
    backend: Backend, caller: str | None, after: int | Position, limit: int
) -> Changes:
    """See ``CatalogStore.changes``."""
    position = Position(after) if type(after) is int else after
    if not isinstance(position, Position) or position.generation < 0:
        raise InvalidInput("after must be a generation (0 or more) or a Position")
    checked_number("limit", limit, MAX_AT_ONCE)
    with backend.reading(caller) as session:
        position = _start_of_page(session, caller, position)
        rows, cut = _rows(session, backend, caller, position, limit + 1)
    complete = not cut and len(rows) <= limit
    rows = rows[:limit]
    if complete:
        there = Position(position.until, position.until_stamp)
    else:
        there = position._replace(at_generation=rows[-1][5], at_ordinal=rows[-1][6])
    return Changes(
        position.until,
        tuple(version_of(row, backend.address) for row in rows if row[7] is not None),
        tuple(key_of(row) for row in rows if row[7] is None),
        there,
        complete,
        position.whole,
    )


def _start_of_page(session: Session, caller: str | None, position: Position) -> Position:
    """Return the start of the page, and the generation that its round of pages leads to.

    A round starts again with everything when the store has another generation under the number that
    it builds on, or when the caller's view changed since.
    """
    generation, stamp = head_of(session)
    known = position.until or position.generation
    expected = position.until_stamp if position.until else position.stamp
    has_diverged = known > generation or (
        bool(known and expected) and _stamp_of(session, known) != expected
    )
    changed = caller is not None and known < _view_generation(session)
    if has_diverged or changed or not known:
        return Position(0, "", generation, stamp, whole=True)
    if position.until:
        return position
    return position._replace(
        until=generation, until_stamp=stamp, at_generation=known, at_ordinal=_AFTER_ALL
    )


_AFTER_ALL = 2**62
"""Larger than every number within a generation."""


def _stamp_of(session: Session, generation: int) -> str:
    row = session.execute(STAMP_OF, {"generation": generation}).fetchone()
    return "" if row is None else str(row[0])


def _view_generation(session: Session) -> int:
    row = session.execute(VIEW_GENERATION, {}).fetchone()
    return 0 if row is None else int(row[0])


def _rows(
    session: Session, backend: Backend, caller: str | None, position: Position, limit: int
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the next rows, and True when they end because of their size."""
    answer = session.execute(
        backend.dialect.page if caller is None else backend.dialect.page_of_view,
        {
            "at_generation": position.at_generation,
            "at_ordinal": position.at_ordinal,
            "until": position.until,
            "limit": limit,
            "most_bytes": PAGE_BYTES,
        },
    )
    rows: list[tuple[Any, ...]] = []
    weight = 0
    while (row := answer.fetchone()) is not None:
        rows.append(row[:-1])
        weight += row[-1]
        if weight >= PAGE_BYTES:
            return rows, True
    return rows, False
