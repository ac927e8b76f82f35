"""Renders the results of catalog stores as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Line, Span, Table, line

if TYPE_CHECKING:
    from skillyard.base.shapes.details import Diagnostic
    from skillyard.store.operations.catalog_store import (
        StoreChanged,
        StoreGranted,
        StoreGrants,
        StoreHistory,
        StoreLog,
        StoreMigrated,
        StoreStatus,
    )
    from skillyard.store.operations.folder_publish import StorePublished

MAX_ERRORS = 20
"""Maximum number of listed errors; ``--json`` has more."""
_KINDS = ("added", "changed", "unchanged", "withdrawn")


def migrated_blocks(result: StoreMigrated) -> Iterator[Block]:
    """Yield the version of the schema, and what an administrator does about roles."""
    if result.before is None:
        state = f"  made, with schema {result.now}"
    elif result.before == result.now:
        state = f"  is there already, with schema {result.now}"
    else:
        state = f"  schema {result.before} is now {result.now}"
    yield line(Span(result.store, "name"), state)
    if result.reader_role is not None and result.before != result.now:
        yield line("a node with a login of its own sees what its login's name was granted, and")
        yield line(f"nothing else, once it is a member: GRANT {result.reader_role} TO its_login")


def published_blocks(result: StorePublished) -> Iterator[Block]:
    """Yield the counts of a publish, and the errors."""
    if result.dry_run:
        head = f"  {result.tenant}, nothing was published; it would be: "
    elif result.generations > 1:
        span = f"{result.generations:,} generations up to {result.generation}"
        head = f"  {result.tenant}, {span}: "
    else:
        head = f"  {result.tenant}, generation {result.generation}: "
    counts = [f"{getattr(result, kind):,} {kind}" for kind in _KINDS[:3]]
    counts += [f"{result.withdrawn:,} withdrawn"] if result.withdrawn or result.pruned else []
    counts += [f"{result.repeated:,} repeated"] if result.repeated else []
    counts += [f"{result.refused:,} refused"] if result.refused else []
    yield line(Span(result.store, "name"), head, ", ".join(counts))
    for each in result.diagnostics[:MAX_ERRORS]:
        yield _error(each)
    more = len(result.diagnostics) - MAX_ERRORS + result.left_out
    if more > 0:
        yield line(Span(f"and {plural(more, 'error')} more", "dim"))


def _error(diagnostic: Diagnostic) -> Line:
    where = diagnostic.path + (f":{diagnostic.line}" if diagnostic.line is not None else "")
    hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
    return line(
        *(Span(where, "name"), ": ", Span(diagnostic.severity, "error")),
        *(f": {diagnostic.message}{hint} ", Span(f"[{diagnostic.code}]", "dim")),
    )


def changed_line(result: StoreChanged) -> Iterator[Block]:
    """Yield the counts of a withdrawal or a rollback."""
    counts = ", ".join(f"{getattr(result, kind):,} {kind}" for kind in _KINDS)
    head = f"  {result.tenant}, generation {result.generation}: "
    yield line(Span(result.store, "name"), head, counts)


def log_blocks(result: StoreLog) -> Iterator[Block]:
    """Yield a table of generations."""
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
    """Yield a table of the versions of a skill."""
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
    """Yield the state of the store."""
    yield line(Span(status.store, "name"), f"  {status.backend}, schema {status.schema_version}")
    yield line(f"{plural(status.skills, 'skill')}, generation {status.generation}")
    if not status.writable:
        yield line(Span("read only: a standby, or a file without the right to write", "warning"))
    for standby in status.standbys:
        lag = "idle" if standby.lag_s is None else f"{standby.lag_s:.3f} s behind"
        yield line("standby ", Span(standby.name, "name"), f"  {standby.state}, {lag}")


def granted_line(result: StoreGranted) -> Iterator[Block]:
    """Yield what a caller may see after a grant or its withdrawal."""
    yield line(
        Span(result.caller, "name"),
        f"  {_visibility(result)}; since generation {result.generation}",
    )


def grants_blocks(result: StoreGrants) -> Iterator[Block]:
    """Yield a table of the grants."""
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


def _visibility(grant: StoreGranted) -> str:
    where = f"{grant.tenant}/{grant.namespace}" if grant.namespace else grant.tenant
    return f"{where}: {', '.join(grant.places) or 'all skills'}"


def _when(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
