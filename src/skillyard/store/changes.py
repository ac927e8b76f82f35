"""Write transactions: stage the rows, decide the changes, apply them as one generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from skillyard.base.errors import StoreConflict
from skillyard.store.backend import Backend, Work
from skillyard.store.identifiers import checked_durability, checked_tenant, checked_words
from skillyard.store.pages import head_of
from skillyard.store.statements import (
    ADD_GENERATION,
    ADD_GRANT,
    ADD_VERSIONS,
    DOUBLED,
    DROP_GRANT,
    DROP_GRANTS,
    KINDS,
    UNEXPECTED,
    VIEW_CHANGED,
)
from skillyard.store.values import Durability, Grant, Published, StoreKey


def change(
    backend: Backend,
    action: str,
    decide: str,
    *,
    tenant: str,
    publisher: str,
    durability: Durability,
    staged: Iterable[Sequence[Any]] = (),
    parameters: Mapping[str, Any] | None = None,
    check: Callable[[int], object] = lambda head: None,
) -> Published:
    """Stage rows, decide the change of each, and apply all as one generation.

    ``decide`` is the statement that fills the table of moves; ``check`` receives the last
    generation before. Returns what changed; raises InvalidInput, StoreConflict and what the backend
    raises.
    """
    checked_tenant(tenant)
    checked_words("publisher", publisher)
    checked_durability(durability)
    with backend.writing(durability) as work:
        work.stage(staged)
        _refuse_duplicates(backend, work, tenant)
        work.lock(tenant)
        head, _ = head_of(work)
        check(head)
        work.execute(decide, {"tenant": tenant, **(parameters or {})})
        _refuse_unexpected(backend, work, tenant)
        counts = dict(work.execute(KINDS, {}).fetchall())
        unchanged = counts.pop("unchanged", 0)
        if not counts:
            return Published(head, unchanged=unchanged)
        generation = head + 1
        _add_generation(work, action, generation, tenant, publisher, counts)
        work.execute(backend.dialect.supersede, {"tenant": tenant, "generation": generation})
        work.execute(ADD_VERSIONS, {"tenant": tenant, "generation": generation})
        work.commit(generation)
    return Published(generation, unchanged=unchanged, **counts)


def _add_generation(
    work: Work,
    action: str,
    generation: int,
    tenant: str,
    publisher: str,
    counts: Mapping[str, int],
) -> None:
    noted = {kind: counts.get(kind, 0) for kind in ("added", "changed", "withdrawn")}
    work.execute(
        ADD_GENERATION,
        {
            "generation": generation,
            "stamp": os.urandom(8).hex(),
            "tenant": tenant,
            "publisher": publisher,
            "action": action,
            **noted,
        },
    )


def _refuse_duplicates(backend: Backend, work: Work, tenant: str) -> None:
    row = work.execute(DOUBLED, {}).fetchone()
    if row is not None:
        key = StoreKey(tenant, *row)
        raise StoreConflict(
            backend.address,
            f"two different skills were given as {key}",
            hint="publish one of them, or give them places of their own",
            key=key,
        )


def _refuse_unexpected(backend: Backend, work: Work, tenant: str) -> None:
    row = work.execute(UNEXPECTED, {}).fetchone()
    if row is not None:
        key = StoreKey(tenant, *row[:3])
        expected, actual = row[3], row[4]
        raise StoreConflict(
            backend.address,
            f"{key}: version {expected} was expected, and there is {actual} (0: none)",
            hint="look at what was published meanwhile, and publish on top of it",
            key=key,
            expected=expected,
            found=actual,
        )


def change_grants(backend: Backend, grant: Grant, *, add: bool) -> int:
    """Add or drop a grant; return the generation that did, or the last one if nothing changed."""
    words = asdict(grant)
    places = words.pop("places")
    with backend.writing("local") as work:
        work.lock(grant.tenant)
        head, _ = head_of(work)
        if add:
            results = [work.execute(ADD_GRANT, {**words, "place": p}) for p in places or ("",)]
        elif places:
            results = [work.execute(DROP_GRANT, {**words, "place": p}) for p in places]
        else:
            results = [work.execute(DROP_GRANTS, words)]
        if not any(rows.rowcount for rows in results):
            return head
        generation, action = head + 1, "grant" if add else "revoke"
        _add_generation(work, action, generation, grant.tenant, grant.caller, {})
        work.execute(VIEW_CHANGED, {"caller": grant.caller, "generation": generation})
        work.commit(generation)
    return generation
