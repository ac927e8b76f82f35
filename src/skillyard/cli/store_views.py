"""How a catalog store's answers look, as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillyard.cli.blocks import Block, Column, Line, Span, Table, line
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.shapes.details import Diagnostic
    from skillyard.shapes.store import (
        StoreChanged,
        StoreGranted,
        StoreGrants,
        StoreHistory,
        StoreLog,
        StoreMigrated,
        StorePublished,
        StoreStatus,
        StoreSynced,
    )

__all__ = [
    "changed_line",
    "granted_line",
    "grants_blocks",
    "history_blocks",
    "log_blocks",
    "migrated_blocks",
    "published_blocks",
    "status_blocks",
    "synced_line",
]

LISTED = 20
"""Most errors that are named; ``--json`` has more."""
_KINDS = ("added", "changed", "unchanged", "withdrawn")


def migrated_blocks(done: StoreMigrated) -> Iterator[Block]:
    """Say what stands of the schema, and what an administrator does about roles."""
    if done.before is None:
        state = f"  made, with schema {done.now}"
    elif done.before == done.now:
        state = f"  is there already, with schema {done.now}"
    else:
        state = f"  schema {done.before} is now {done.now}"
    yield line(Span(done.store, "name"), state)
    if done.reader_role is not None and done.before != done.now:
        yield line("a node with a login of its own sees what its login's name was granted, and")
        yield line(f"nothing else, once it is a member: GRANT {done.reader_role} TO its_login")


def synced_line(done: StoreSynced) -> Iterator[Block]:
    """Say what a node's folder holds now."""
    what = f"{plural(done.skills, 'skill')}, generation {done.generation}"
    yield line(Span(done.folder, "name"), f"  {what}; {done.bytes / 1e6:,.1f} MB")


def published_blocks(done: StorePublished) -> Iterator[Block]:
    """Say what was published, what was not and why."""
    part = f", part {done.partition}" if done.partition is not None else ""
    if done.dry_run:
        head = f"  {done.tenant}{part}, nothing was published; it would be: "
    elif done.generations > 1:
        head = f"  {done.tenant}{part}, {done.generations:,} generations up to {done.generation}: "
    else:
        head = f"  {done.tenant}{part}, generation {done.generation}: "
    counts = [f"{getattr(done, kind):,} {kind}" for kind in _KINDS[:3]]
    counts += [f"{done.withdrawn:,} withdrawn"] if done.withdrawn or done.pruned else []
    counts += [f"{done.repeated:,} repeated"] if done.repeated else []
    counts += [f"{done.elsewhere:,} left to other parts"] if done.elsewhere else []
    counts += [f"{done.refused:,} refused"] if done.refused else []
    yield line(Span(done.store, "name"), head, ", ".join(counts))
    for each in done.diagnostics[:LISTED]:
        yield _error(each)
    more = len(done.diagnostics) - LISTED + done.left_out
    if more > 0:
        yield line(Span(f"and {plural(more, 'error')} more", "dim"))


def _error(diagnostic: Diagnostic) -> Line:
    where = diagnostic.path + (f":{diagnostic.line}" if diagnostic.line is not None else "")
    hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
    return line(
        *(Span(where, "name"), ": ", Span(diagnostic.severity, "error")),
        *(f": {diagnostic.message}{hint} ", Span(f"[{diagnostic.code}]", "dim")),
    )


def changed_line(done: StoreChanged) -> Iterator[Block]:
    """Say what a withdrawal or a rollback did."""
    counts = ", ".join(f"{getattr(done, kind):,} {kind}" for kind in _KINDS)
    head = f"  {done.tenant}, generation {done.generation}: "
    yield line(Span(done.store, "name"), head, counts)


def log_blocks(result: StoreLog) -> Iterator[Block]:
    """Draw generations."""
    if not result.generations:
        yield line("nothing was published yet")
        return
    columns = (
        Column("#", "name", right=True),
        Column("when (UTC)"),
        Column("action"),
        Column("tenant"),
        Column("by", wide=True),
        *(Column(kind, right=True) for kind in ("added", "changed", "withdrawn")),
    )
    rows = [
        [
            str(each.generation),
            _when(each.published_at),
            each.action,
            each.tenant,
            each.publisher,
            *(f"{count:,}" for count in (each.added, each.changed, each.withdrawn)),
        ]
        for each in result.generations
    ]
    yield Table(columns, rows)


def history_blocks(result: StoreHistory) -> Iterator[Block]:
    """Draw the versions of a skill."""
    columns = (
        Column("#", "name", right=True),
        Column("generation", right=True),
        Column("when (UTC)"),
        Column("by", wide=True),
        Column("installs", right=True),
        Column("files", right=True),
        Column("id", wide=True),
        Column("commit"),
    )
    rows = [
        [
            str(each.version),
            str(each.generation),
            _when(each.published_at),
            each.publisher,
            f"{each.install_count:,}",
            str(len(each.files)),
            each.id,
            (each.commit or "")[:12],
        ]
        for each in result.versions
    ]
    yield line(Span(_key(result), "name"))
    yield Table(columns, rows)


def _key(result: StoreHistory) -> str:
    place = f"{result.source}#{result.place}" if result.source else result.place
    return "/".join(part for part in (result.tenant, result.namespace, place) if part)


def status_blocks(status: StoreStatus) -> Iterator[Block]:
    """Say how the store is."""
    yield line(Span(status.store, "name"), f"  {status.backend}, schema {status.schema_version}")
    yield line(f"{plural(status.skills, 'skill')}, generation {status.generation}")
    if not status.writable:
        yield line(Span("read only: a standby, or a file without the right to write", "warning"))
    for standby in status.standbys:
        lag = "idle" if standby.lag_s is None else f"{standby.lag_s:.3f} s behind"
        yield line("standby ", Span(standby.name, "name"), f"  {standby.state}, {lag}")


def granted_line(done: StoreGranted) -> Iterator[Block]:
    """Say what a caller may see from now on, or no longer."""
    yield line(
        Span(done.caller, "name"),
        f"  {_seen(done)}; since generation {done.generation}",
    )


def grants_blocks(result: StoreGrants) -> Iterator[Block]:
    """Draw who may see what."""
    if not result.grants:
        yield line("nothing was granted: only who opens the store without a caller sees skills")
        return
    columns = (
        Column("caller", "name"),
        Column("tenant"),
        Column("namespace"),
        Column("places", wide=True),
    )
    rows = [
        [each.caller, each.tenant, each.namespace or "all", ", ".join(each.places) or "all"]
        for each in result.grants
    ]
    yield Table(columns, rows)


def _seen(grant: StoreGranted) -> str:
    where = f"{grant.tenant}/{grant.namespace}" if grant.namespace else grant.tenant
    return f"{where}: {', '.join(grant.places) or 'all skills'}"


def _when(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
