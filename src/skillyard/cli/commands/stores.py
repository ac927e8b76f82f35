"""``store``: a catalog store that several machines share."""

from __future__ import annotations

import os
from argparse import Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.configuration import read_section
from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, line, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import command, flag, library, value, values, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.store.operations.catalog_store import (
        StoreChanged,
        StoreGranted,
        StoreGrants,
        StoreHistory,
        StoreLog,
        StoreMigrated,
        StoreStatus,
    )
    from skillyard.store.operations.folder_publish import Options, Step, StorePublished
    from skillyard.store.values import Grant

STORE = "SKILLYARD_STORE"
MAX_ERRORS = 20
"""Maximum number of listed errors; ``--json`` has more."""
_KINDS = ("added", "changed", "unchanged", "withdrawn")


class StoreSection(NamedTuple):
    """The catalog store of the ``store`` commands."""

    url: str = ""
    """Its address, ``sqlite:///file.db`` or ``postgresql://user@host/database``."""
    publisher: str = ""
    """The name in its log; empty: the login name."""


def _store(args: Namespace) -> str:
    """Return the address of ``--store``, else the configured one. Raises InvalidInput."""
    url = args.store or os.environ.get(STORE) or read_section("store", StoreSection).url
    if not url:
        raise InvalidInput(f"no store was named: give --store, or set {STORE}")
    return str(url)


def _publisher(args: Namespace) -> str:
    """Return ``--publisher``, else the configured one, else the login name. Raises InvalidInput."""
    named = args.publisher or read_section("store", StoreSection).publisher
    if named:
        return str(named)
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user may have no name
        raise InvalidInput("who publishes is not known: give --publisher") from None


@command("store init", "--store")
def init(args: Namespace, console: Console) -> None:
    """Create the tables of a catalog store.

    An existing store is left unchanged. In PostgreSQL this also creates the role skillyard_reader,
    which needs CREATEROLE.

        skillyard store init --store sqlite:///catalog.db
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_init(_store(args)), _migrated)


@command("store migrate", "--store")
def migrate(args: Namespace, console: Console) -> None:
    """Migrate the tables of a catalog store to this version.

    There is no way back: older versions of skillyard refuse a migrated store.

        skillyard store migrate
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_migrate(_store(args)), _migrated)


def _migrated(result: StoreMigrated) -> Iterator[Block]:
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


@command(
    "store publish",
    library("roots with skill folders, before --root (default: .)", nargs="*"),
    *("--store", "--tenant", "--namespace", "--publisher", "--source", "--durability"),
    value("--jobs", "N", "worker processes (default: one per processor)"),
    value("--batch", "N", "skills in one generation", default=2000),
    flag("--prune", "withdraw skills of the namespace and source that no longer exist"),
    flag("--dry-run", "read and compare, but publish nothing"),
)
def publish(args: Namespace, console: Console) -> int:
    """Publish skill folders to a catalog store.

    Skills that are published already are neither parsed nor sent, so a second run, or a run after
    an interrupt, does only what is left. Bad files are reported and skipped; the exit code is then
    1. On an interrupt it completes the current batch and exits with 3.

        skillyard store publish skills --tenant acme
        skillyard store publish skills --tenant acme --namespace web --prune
    """
    options = _options(args)
    report = _publish(args, options, console)
    console.show(report, _published)
    if not report.complete:
        console.note("interrupted: what is counted stands; publish again to go on")
        return INTERRUPTED
    unpruned = options.prune and not report.pruned
    if unpruned:
        console.note("nothing was pruned: not everything could be read")
    return NEGATIVE if report.diagnostics or report.left_out or unpruned else 0


def _publish(args: Namespace, options: Options, console: Console) -> StorePublished:
    """Publish until all is done or an interrupt; an error says first what is acknowledged."""
    from skillyard.cli.progress import stop_on_interrupt
    from skillyard.cli.source import unbound_library_of
    from skillyard.store.operations.folder_publish import store_publish

    library = unbound_library_of(args)
    last: list[Step] = []
    try:
        with stop_on_interrupt() as stop, console.progress("publishing") as show:

            def note_step(step: Step) -> None:
                last[:] = [step]
                if show is not None:
                    show(step.done, None)

            roots = () if library is None else library.roots
            return store_publish(_store(args), roots, options, stop=stop, tell=note_step)
    except SkillyardError:
        if last and last[0].generation and not options.dry_run:
            published = f"{last[0].published:,} skills stand, up to generation {last[0].generation}"
            console.note(f"acknowledged before this: {published}; publish again to go on")
        raise


def _options(args: Namespace) -> Options:
    from skillyard.base.io.processes import processors
    from skillyard.store.operations.folder_publish import Options

    return Options(
        args.tenant,
        _publisher(args),
        args.namespace or "",
        args.source or "",
        args.durability,
        processors() if args.jobs is None else args.jobs,
        args.batch,
        args.prune,
        args.dry_run,
    )


def _published(result: StorePublished) -> Iterator[Block]:
    """Yield the counts of a publish, and the errors."""
    if result.dry_run:
        what = ", nothing was published; it would be"
    elif result.generations > 1:
        what = f", {result.generations:,} generations up to {result.generation}"
    else:
        what = f", generation {result.generation}"
    counts = [f"{getattr(result, kind):,} {kind}" for kind in _KINDS[:3]]
    counts += [f"{result.withdrawn:,} withdrawn"] if result.withdrawn or result.pruned else []
    counts += [f"{result.repeated:,} repeated"] if result.repeated else []
    counts += [f"{result.refused:,} refused"] if result.refused else []
    head = f"  {result.tenant}{what}: "
    yield line(Span(result.store, "name"), head, ", ".join(counts))
    for each in result.diagnostics[:MAX_ERRORS]:
        where = each.path + (f":{each.line}" if each.line is not None else "")
        hint = f"; {each.hint}" if each.hint else ""
        yield line(
            *(Span(where, "name"), ": ", Span(each.severity, "error")),
            *(f": {each.message}{hint} ", Span(f"[{each.code}]", "dim")),
        )
    more = len(result.diagnostics) - MAX_ERRORS + result.left_out
    if more > 0:
        yield line(Span(f"and {plural(more, 'error')} more", "dim"))


@command(
    "store withdraw",
    words("place", "PLACE", "place of a skill in the catalog"),
    *("--store", "--tenant", "--namespace", "--source", "--publisher", "--durability"),
)
def withdraw(args: Namespace, console: Console) -> int:
    """Withdraw skills from the catalog; their history stays.

    Exits with 1 when there was no skill at a place.

        skillyard store withdraw tools/old-one --tenant acme
    """
    from skillyard.store.operations import catalog_store

    done = catalog_store.store_withdraw(
        _store(args),
        args.place,
        tenant=args.tenant,
        publisher=_publisher(args),
        namespace=args.namespace or "",
        source=args.source or "",
        durability=args.durability,
    )
    console.show(done, _changed)
    return NEGATIVE if done.unchanged else 0


@command(
    "store rollback",
    value("generation", "GENERATION", "number of the generation, as in the log"),
    *("--store", "--tenant", "--publisher", "--durability"),
)
def rollback(args: Namespace, console: Console) -> None:
    """Restore a tenant's skills to an earlier generation.

    This makes a new generation, so it can be undone in the same way.

        skillyard store rollback 41 --tenant acme
    """
    from skillyard.store.operations import catalog_store

    done = catalog_store.store_rollback(
        _store(args),
        args.generation,
        tenant=args.tenant,
        publisher=_publisher(args),
        durability=args.durability,
    )
    console.show(done, _changed)


def _changed(result: StoreChanged) -> Iterator[Block]:
    counts = ", ".join(f"{getattr(result, kind):,} {kind}" for kind in _KINDS)
    head = f"  {result.tenant}, generation {result.generation}: "
    yield line(Span(result.store, "name"), head, counts)


@command("store log", "--store", value("--limit", "K", "show the last K generations", default=20))
def log(args: Namespace, console: Console) -> None:
    """List the last generations, newest first.

    skillyard store log --limit 5
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_log(_store(args), args.limit), _generations)


def _generations(result: StoreLog) -> Iterator[Block]:
    if not result.generations:
        yield line("nothing was published yet")
        return
    yield table(
        result.generations,
        (Column("#", "name", right=True), lambda each: str(each.generation)),
        (Column("when (UTC)"), lambda each: _when(each.published_at)),
        (Column("action"), lambda each: each.action),
        (Column("tenant"), lambda each: each.tenant),
        (Column("by", wide=True), lambda each: each.publisher),
        (Column("added", right=True), lambda each: f"{each.added:,}"),
        (Column("changed", right=True), lambda each: f"{each.changed:,}"),
        (Column("withdrawn", right=True), lambda each: f"{each.withdrawn:,}"),
    )


def _when(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


@command(
    "store history",
    value("place", "PLACE", "place of the skill, now or in the past"),
    *("--store", "--tenant", "--namespace", "--source"),
)
def history(args: Namespace, console: Console) -> None:
    """List every version of a skill, oldest first.

    skillyard store history csv-cleaning --tenant acme
    """
    from skillyard.store.operations import catalog_store

    result = catalog_store.store_history(
        _store(args),
        args.place,
        tenant=args.tenant,
        namespace=args.namespace or "",
        source=args.source or "",
    )
    console.show(result, _versions)


def _versions(result: StoreHistory) -> Iterator[Block]:
    place = f"{result.source}#{result.place}" if result.source else result.place
    yield line(Span("/".join(filter(None, (result.tenant, result.namespace, place))), "name"))
    yield table(
        result.versions,
        (Column("#", "name", right=True), lambda each: str(each.version)),
        (Column("generation", right=True), lambda each: str(each.generation)),
        (Column("when (UTC)"), lambda each: _when(each.published_at)),
        (Column("by", wide=True), lambda each: each.publisher),
        (Column("installs", right=True), lambda each: f"{each.install_count:,}"),
        (Column("files", right=True), lambda each: str(len(each.files))),
        (Column("id", wide=True), lambda each: each.id),
        (Column("commit"), lambda each: (each.commit or "")[:12]),
    )


@command("store status", "--store")
def status(args: Namespace, console: Console) -> None:
    """Show the state of a catalog store: schema, generation, skills, standbys.

    skillyard store status --store postgresql://owner@db/skills
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_status(_store(args)), _status)


def _status(status: StoreStatus) -> Iterator[Block]:
    yield line(Span(status.store, "name"), f"  {status.backend}, schema {status.schema_version}")
    yield line(f"{plural(status.skills, 'skill')}, generation {status.generation}")
    if not status.writable:
        yield line(Span("read only: a standby, or a file without the right to write", "warning"))
    for standby in status.standbys:
        lag = "idle" if standby.lag_s is None else f"{standby.lag_s:.3f} s behind"
        yield line("standby ", Span(standby.name, "name"), f"  {standby.state}, {lag}")


_GRANT = (
    *("--store", "--tenant", "--namespace"),
    values("--place", "PLACE", "only the skill at this place"),
)


@command("store grant", value("caller", "CALLER", "caller who gets access"), *_GRANT)
def grant(args: Namespace, console: Console) -> None:
    """Let a caller see a tenant's skills, or some of them.

    A grant of a namespace includes all below it. Grants add up.

        skillyard store grant team-a --tenant acme
        skillyard store grant team-b --tenant acme --namespace web --place csv-cleaning
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_grant(_store(args), _grant(args)), _granted)


@command("store revoke", value("caller", "CALLER", "caller who loses access"), *_GRANT)
def revoke(args: Namespace, console: Console) -> None:
    """Revoke a grant, or some places of it.

    Without --place, revokes all grants of that namespace, also those of single places.

        skillyard store revoke team-a --tenant acme
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_revoke(_store(args), _grant(args)), _granted)


def _grant(args: Namespace) -> Grant:
    from skillyard.store.values import Grant

    return Grant(args.caller, args.tenant, args.namespace or "", tuple(args.place))


def _granted(result: StoreGranted) -> Iterator[Block]:
    where = f"{result.tenant}/{result.namespace}" if result.namespace else result.tenant
    places = ", ".join(result.places) or "all skills"
    since = f"since generation {result.generation}"
    yield line(Span(result.caller, "name"), f"  {where}: {places}; {since}")


@command(
    "store grants", value("caller", "CALLER", "only grants of this caller", nargs="?"), "--store"
)
def grants(args: Namespace, console: Console) -> None:
    """List the grants.

    skillyard store grants
    """
    from skillyard.store.operations import catalog_store

    console.show(catalog_store.store_grants(_store(args), args.caller), _grants)


def _grants(result: StoreGrants) -> Iterator[Block]:
    if not result.grants:
        yield line("nothing was granted: only who opens the store without a caller sees skills")
        return
    yield table(
        result.grants,
        (Column("caller", "name"), lambda each: each.caller),
        (Column("tenant"), lambda each: each.tenant),
        (Column("namespace"), lambda each: each.namespace or "all"),
        (Column("places", wide=True), lambda each: ", ".join(each.places) or "all"),
    )
