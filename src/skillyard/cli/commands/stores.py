"""``store``: a catalog store that several machines share."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillyard.base.text import plural
from skillyard.cli.blocks import (
    Block,
    Column,
    Span,
    fields,
    finding,
    line,
    numbers,
    place_of,
    table,
)
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE, STOPPED
from skillyard.cli.options import Option, command, flag, library, value, values, view_of, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillyard.cli.options import View
    from skillyard.store.operations.catalog_store import (
        PublishedVersion,
        StoreChanged,
        StoreGranted,
        StoreGrants,
        StoreHistory,
        StoreLog,
        StoreMigrated,
    )
    from skillyard.store.operations.folder_publish import Step, StorePublished
    from skillyard.store.values import Generation, Grant, StoreStatus

MAX_ERRORS = 20
"""Maximum number of listed errors; ``--json`` has more."""
_KINDS = ("added", "changed", "unchanged", "withdrawn")


def _address(args: Namespace, _: Console) -> str:
    from skillyard.store.opening import store_address

    return store_address(args.store)


def _publisher(args: Namespace, _: Console) -> str:
    from skillyard.store.opening import publisher_name

    return publisher_name(args.publisher)


def _grant(args: Namespace, _: Console) -> Grant:
    from skillyard.store.values import Grant

    return Grant(args.caller, args.tenant, args.namespace, tuple(args.place))


def _store_view(
    name: str,
    *options: str | Option,
    code: Callable[[Any, Namespace], bool] | None = None,
    doc: str = "",
) -> Callable[[View], View]:
    """Declare the command of the operation ``store_…`` that has its name."""
    operation = f"skillyard.store.operations.catalog_store:{name.replace(' ', '_')}"
    providers = {"url": _address, "publisher": _publisher, "grant": _grant}
    return view_of(operation, name, "--store", *options, provide=providers, code=code, doc=doc)


@_store_view(
    "store migrate",
    doc="""Migrate the tables of a catalog store to this version.

    There is no way back: older versions of skillyard refuse a migrated store.

        skillyard store migrate
    """,
)
@_store_view(
    "store init",
    doc="""Create the tables of a catalog store.

    An existing store is left unchanged. In PostgreSQL this also creates the role skillyard_reader,
    which needs CREATEROLE.

        skillyard store init --store sqlite:///catalog.db
    """,
)
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

    Skills that are published already are not sent, so a second run, or a run after an interrupt,
    publishes only what is left. Bad files are reported and skipped; the exit code is then
    1. On an interrupt it completes the current batch and exits with 3.

        skillyard store publish skills --tenant acme
        skillyard store publish skills --tenant acme --namespace web --prune
    """
    from skillyard.base.io.platforms import stop_on_interrupt
    from skillyard.base.io.processes import processors
    from skillyard.cli.source import unbound_library_of
    from skillyard.store.opening import open_store
    from skillyard.store.operations.folder_publish import WAIT_S, PublishOptions, publish_folders

    publisher, jobs = _publisher(args, console), processors() if args.jobs is None else args.jobs
    where = (args.tenant, publisher, args.namespace, args.source, args.durability)
    options = PublishOptions(*where, jobs, args.batch, args.prune, args.dry_run)
    library = unbound_library_of(args)
    roots = () if library is None else library.roots
    with stop_on_interrupt() as stop, console.progress("publishing") as show:

        def tell(step: Step) -> None:
            if show is not None:
                show(step.done, None)

        with open_store(_address(args, console), statement_timeout_s=WAIT_S) as store:
            report = publish_folders(store, roots, options, stop=stop, tell=tell)
    console.show(report, _published)
    if not report.complete:
        console.note("interrupted: what is counted stands; publish again to go on")
        return STOPPED
    unpruned = options.prune and not report.pruned
    if unpruned:
        console.note("nothing was pruned: not everything could be read")
    return NEGATIVE if report.diagnostics or report.left_out or unpruned else 0


def _published(result: StorePublished) -> Iterator[Block]:
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
        place = place_of(each.path, each.line)
        yield from finding(place, each.severity, each.code, each.message, fix=each.hint)
    more = len(result.diagnostics) - MAX_ERRORS + result.left_out
    if more > 0:
        yield line(Span(f"and {plural(more, 'error')} more", "dim"))


@_store_view(
    "store rollback",
    value("generation", "GENERATION", "number of the generation, as in the log"),
    *("--tenant", "--publisher", "--durability"),
    doc="""Restore a tenant's skills to an earlier generation.

    This makes a new generation, so it can be undone in the same way.

        skillyard store rollback 41 --tenant acme
    """,
)
@_store_view(
    "store withdraw",
    words("places", "PLACE", "place of a skill in the catalog"),
    *("--tenant", "--namespace", "--source", "--publisher", "--durability"),
    code=lambda result, args: bool(result.unchanged),
    doc="""Withdraw skills from the catalog; their history stays.

    Exits with 1 when there was no skill at a place.

        skillyard store withdraw tools/old-one --tenant acme
    """,
)
def _changed(result: StoreChanged) -> Iterator[Block]:
    counts = ", ".join(f"{getattr(result, kind):,} {kind}" for kind in _KINDS)
    head = f"  {result.tenant}, generation {result.generation}: "
    yield line(Span(result.store, "name"), head, counts)


@_store_view("store log", value("--limit", "K", "show the last K generations", default=20))
def _generations(result: StoreLog) -> Iterator[Block]:
    """List the last generations, newest first.

    skillyard store log --limit 5
    """
    if not result.generations:
        yield line("nothing was published yet")
        return
    yield table(
        result.generations,
        *numbers("#=generation"),
        _WHEN,
        *fields("action", "tenant", "by=publisher"),
        *numbers("added", "changed", "withdrawn"),
    )


def _when(each: Generation | PublishedVersion) -> str:
    return f"{datetime.fromtimestamp(each.published_at, UTC):%Y-%m-%d %H:%M}"


_WHEN = Column("when (UTC)", _when)


@_store_view(
    "store history",
    value("place", "PLACE", "place of the skill, now or in the past"),
    *("--tenant", "--namespace", "--source"),
)
def _versions(result: StoreHistory) -> Iterator[Block]:
    """List every version of a skill, oldest first.

    skillyard store history csv-cleaning --tenant acme
    """
    place = f"{result.source}#{result.place}" if result.source else result.place
    yield line(Span("/".join(filter(None, (result.tenant, result.namespace, place))), "name"))
    yield table(
        result.versions,
        *numbers("#=version", "generation"),
        _WHEN,
        *fields("by=publisher"),
        *numbers("installs=install_count"),
        Column("files", lambda each: str(len(each.files)), right=True),
        *fields("id"),
        Column("commit", lambda each: (each.commit or "")[:12]),
    )


@_store_view("store status")
def _status(status: StoreStatus) -> Iterator[Block]:
    """Show the state of a catalog store: schema, generation, skills, standbys.

    skillyard store status --store postgresql://owner@db/skills
    """
    yield line(Span(status.store, "name"), f"  {status.backend}, schema {status.schema_version}")
    yield line(f"{plural(status.skills, 'skill')}, generation {status.generation}")
    if not status.writable:
        yield line(Span("read only: a standby, or a file without the right to write", "warning"))
    for standby in status.standbys:
        lag = "idle" if standby.lag_s is None else f"{standby.lag_s:.3f} s behind"
        yield line("standby ", Span(standby.name, "name"), f"  {standby.state}, {lag}")


_GRANT = ("--tenant", "--namespace", values("--place", "PLACE", "only the skill at this place"))


@_store_view(
    "store revoke",
    value("caller", "CALLER", "caller who loses access"),
    *_GRANT,
    doc="""Revoke a grant, or some places of it.

    Without --place, revokes all grants of that namespace, also those of single places.

        skillyard store revoke team-a --tenant acme
    """,
)
@_store_view(
    "store grant",
    value("caller", "CALLER", "caller who gets access"),
    *_GRANT,
    doc="""Let a caller see a tenant's skills, or some of them.

    A grant of a namespace includes all below it. Grants add up.

        skillyard store grant team-a --tenant acme
        skillyard store grant team-b --tenant acme --namespace web --place csv-cleaning
    """,
)
def _granted(result: StoreGranted) -> Iterator[Block]:
    where = f"{result.tenant}/{result.namespace}" if result.namespace else result.tenant
    places = ", ".join(result.places) or "all skills"
    since = f"since generation {result.generation}"
    yield line(Span(result.caller, "name"), f"  {where}: {places}; {since}")


@_store_view("store grants", value("caller", "CALLER", "only grants of this caller", nargs="?"))
def _grants(result: StoreGrants) -> Iterator[Block]:
    """List the grants.

    skillyard store grants
    """
    if not result.grants:
        yield line("nothing was granted: only who opens the store without a caller sees skills")
        return
    yield table(
        result.grants,
        *fields("caller", "tenant"),
        Column("namespace", lambda each: each.namespace or "all"),
        Column("places", lambda each: ", ".join(each.places) or "all", wide=True),
    )
