"""Add a skill: resolve a name or an address, fetch it, write it to a folder and the lock file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput, SourceFailed
from skillyard.base.io.files import is_below
from skillyard.base.lookalikes import look_alikes
from skillyard.base.shapes import installation as shapes
from skillyard.base.text import folder_name
from skillyard.engine.discovery.hosts import HOST_FOLDERS, host_roots, note_added_source
from skillyard.install.copies.file_paths import name_in_shell, shown_path
from skillyard.install.copies.installed import InstallRefused, manifest_at, note_installed
from skillyard.install.copies.lockfile import (
    LOCAL,
    LockedSkill,
    ProjectLock,
    UserLock,
    portable_source,
    project_lock_path,
    user_lock_path,
)
from skillyard.install.copies.placement import Placed, content_digest
from skillyard.install.copies.verdict import check_accept
from skillyard.install.operations.admission import SignatureCheck, admit, check_package, check_pin
from skillyard.install.operations.destinations import (
    SHARED,
    InstallPlaces,
    check_inside,
    host_folders,
    link_skill,
    places_of,
)
from skillyard.install.operations.project import named_folder
from skillyard.install.origins.locked import locked_skill, skill_folder_of, user_entry
from skillyard.install.origins.resolve import find_target, whole_package
from skillyard.install.origins.target import HEAD, parse_target
from skillyard.install.search import FoundSkill, SearchService
from skillyard.install.sources.protocol import Package


class AddOptions(NamedTuple):
    """How a skill is added."""

    into: str | None = None
    """A folder of skills. Without one and without agents, the one that the lock names is meant,
    else that of ``here``, else ``.agents/skills``."""
    agents: Sequence[str] = ()
    """Hosts, for which it goes into the folders that they read in the project, or of the user.

    Several share one folder by links, or have one each with ``copy``.
    """
    here: Callable[[], Sequence[str]] = tuple
    """Returns the hosts of this machine that are meant, once a place is needed."""
    skill: str = ""
    """The skill that is meant, of a source that holds several."""
    user: bool = False
    copy: bool = False
    link: bool = False
    """A link to a folder on this machine is made, and no copy."""
    dry_run: bool = False
    """Everything is done but writing."""
    accept_look_alike: bool = False
    accept: Mapping[str, str] = {}
    """The reason for each rule of the scan whose findings are accepted. They go into the lock file
    with the digests of the files, and hold until these change."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of skills."""
        if self.into is not None:
            return (self.into,)
        shared = os.path.join(os.path.dirname(project_lock_path(".")), *SHARED.split("/"))
        return host_folders(self.agents, user=self.user) or (shared,)

    def places(self, name: str) -> InstallPlaces:
        """Return where a skill of that name goes."""
        if self.link:
            return InstallPlaces((), self.folders)
        return places_of(self.folders, name, copy=self.copy, user=self.user)


def add_skill(target: str, options: AddOptions) -> shapes.Added:
    """Fetch one skill, and write it to a folder of its name.

    ``docs/guides/add-skills.md`` lists the forms of ``target``. Raises SeveralSkills where it holds
    several and none is named, SkillNotFound, SourceFailed
    (its content cannot be fetched, or is not a skill), InvalidInput (a look-alike or another signer
    that was not accepted, options that do not go together), UnknownName (a rule, an agent),
    InstallRefused (a finding of high severity in a skill to be written, a signature that is not
    valid), PolicyRefused, and what ``placement.place_copies`` raises.
    """
    accept = dict(check_accept(options.accept))
    if options.accept_look_alike:
        accept.setdefault("look_alike_name", "--yes")
    into, agents = options.into, options.agents
    flags = {"--agent": bool(agents), "--global": options.user, "--copy": options.copy}
    for option in (name for name, is_set in flags.items() if is_set):
        if into is not None:
            raise InvalidInput(f"--into names the one folder for it: leave out --into or {option}")
        if not (agents or options.here()):
            raise InvalidInput(f"{option} needs --agent, which says for whom")
    if options.link and (options.copy or (into is None and not agents)):
        raise InvalidInput("--link needs --into or --agent, which says where, and no --copy")
    lock = ProjectLock(project_lock_path("." if into is None else into))
    if options.user:
        lock = UserLock(user_lock_path())
    return asyncio.run(_add(target, options._replace(accept=accept), lock))


async def _add(target: str, options: AddOptions, lock: ProjectLock) -> shapes.Added:
    parsed = parse_target(target)
    if options.skill and (parsed.skill_id or parsed.name):
        raise InvalidInput(f"{shown_path(target)!r} names one skill, not a source of several")
    async with SearchService() as search:
        parsed = parsed._replace(skill_id=options.skill) if options.skill else parsed
        query, result = await find_target(search, parsed)
        name = folder_name(result.skill.name or result.hit.id)
        pin = None
        try:
            known = lock.read().in_folder(name)
            if options.into is None and not options.agents:
                named = named_folder(known, lock.path)
                options = options._replace(into=named, agents=() if named else options.here())
            places = options.places(name)
            for folder in () if options.user else (*places.copies, *places.links):
                check_inside(folder, lock.path)
            into = (*places.copies, *places.links)[0]
            is_missing = not os.path.lexists(os.path.join(into, name))
            # A folder that is there is brought up to date, and a named ref goes before the lock.
            if is_missing and query.ref == HEAD and known and known.commit and known.digest:
                pin = known
            ref = query.ref if pin is None else pin.commit or query.ref
            package = await whole_package(search, result, ref)
        except SourceFailed as error:
            raise _of_listing(error, result) if query.name and not pin else error from None
    if options.link and package.source_type != LOCAL:
        raise InvalidInput("--link needs a folder on this machine, like ./folder; leave it out")
    if package.source_type == LOCAL and os.path.realpath(package.url) in {
        os.path.realpath(os.path.join(folder, name)) for folder in places.copies
    }:
        raise InvalidInput(f"{shown_path(package.url)} lies there already; name another folder")
    skill = check_package(package, result.hit.key)
    there: list[str] = []
    with suppress(OSError):
        there = sorted(entry.name for entry in os.scandir(into) if entry.is_dir())
    alike = look_alikes(name, there) if name not in there else ()
    if alike and not options.accept_look_alike:
        raise InvalidInput(
            f"{shown_path(name)} looks like {', '.join(map(shown_path, alike))}, which is there"
            " already; say --yes if it is the one you mean"
        )
    known = lock.read().in_folder(name)
    new = locked_skill(
        name if known is None else known.name, result.hit, package, pin.ref if pin else query.ref
    )
    new = replace(
        _as_locked(new, known, package, lock),
        into=_named_folder(options.into, lock.path, known),
    )
    option = " --global" if options.user else ""
    _check_source(known, new, lock.path, option)
    if pin is not None:
        check_pin(pin, package, option)
    admission = admit(
        new,
        package,
        known=known,
        lock=lock,
        accept=options.accept,
        linked=package.url if options.link else None,
    )
    _check_author(admission.signature, options)
    if package.source_type == LOCAL and not options.dry_run:
        # The user named it, also where edits refuse it: ``update`` then shows them.
        note_added_source(package.url)
    place = os.path.join(into, name)
    above = {os.path.realpath(into), os.path.dirname(os.path.realpath(place))}
    is_users = not options.user and any(
        os.path.realpath(root.path) in above for root in host_roots(["user"])
    )
    source = package.url if options.link else os.path.join(places.copies[0], name)
    for folder in places.links:  # before anything is written
        link_skill(source, folder, name, dry_run=True)
    if options.link:
        placed, *copies = [_linked(admission.entry, package, lock, places, options)]
    else:
        placed, *copies = admission.write(places.copies, known, lock, dry_run=options.dry_run)
    lock_path = lock.path
    if not options.dry_run and not options.link:
        if placed.state == "unchanged" and is_users and known is None:
            lock_path = ""  # it stays theirs: a lock of ours would let the next run replace it
        else:
            _note_places(admission.entry, lock, (placed, *copies))
    links = [
        link_skill(source, folder, name, dry_run=options.dry_run)
        for folder in places.links[options.link :]
    ]
    return shapes.Added(
        skill=result._replace(skill=skill, package=package).to_dict(include_raw=True),
        files=tuple(sorted(package.files)),
        skipped=tuple(package.skipped),
        look_alikes=tuple(alike),
        folder=placed.folder,
        state=placed.state,
        digest=content_digest(package.files),
        copies=tuple(each.folder for each in copies),
        links=tuple(links),
        dry_run=options.dry_run,
        notes=tuple(package.notes),
        lock=lock_path or None,
        findings=admission.findings,
        signature=admission.signature.document(),
    )


def _note_places(entry: LockedSkill, lock: ProjectLock, placed: Sequence[Placed]) -> None:
    """Note folders that hold the very files, also those that did before: the user named them."""
    if placed[0].state == "unchanged":
        lock.note(entry)
    places = [each.folder for each in placed]
    for each in placed:
        if (there := manifest_at(each.folder)) is not None:
            note_installed(each.folder, there, entry.digest or "", places=places)


def _check_author(check: SignatureCheck, options: AddOptions) -> None:
    """Raise InvalidInput for a version of another author than before, or of none."""
    if check.change not in ("changed", "lost") or options.accept_look_alike or options.dry_run:
        return
    assert check.before is not None
    now = "this one is not signed" if check.signer is None else f"this one by {check.signer.shown}"
    raise InvalidInput(
        f"what is installed was signed by {check.before.shown}, and {now}; say --yes to take it"
    )


def _as_locked(
    new: LockedSkill, known: LockedSkill | None, package: Package, lock: ProjectLock
) -> LockedSkill:
    """Return a new entry as the lock has it, to be compared."""
    if known is not None:
        new = replace(new, plugin_name=known.plugin_name, extra=known.extra)
    if isinstance(lock, UserLock):
        new = user_entry(new, package)
    elif new.source_type == LOCAL:
        folder = os.path.dirname(os.path.abspath(lock.path))
        new = replace(new, source=portable_source(new.source, folder))
    return new


def _named_folder(into: str | None, lock: str, known: LockedSkill | None) -> str | None:
    """Return the folder of ``--into`` as the lock names it, if no host looks into it."""
    if into is not None:
        folder = os.path.realpath(os.path.dirname(os.path.abspath(lock)))
        path = os.path.relpath(os.path.realpath(into), folder).replace(os.sep, "/")
        if path not in {row.pattern for row in HOST_FOLDERS if row.scope == "project"}:
            return path
    return None if known is None else known.into


def _linked(
    entry: LockedSkill,
    package: Package,
    lock: ProjectLock,
    places: InstallPlaces,
    options: AddOptions,
) -> Placed:
    """Make the first place a link to the folder of a local skill, and note its entry.

    The entry has no digest: whoever edits the folder means it to change.
    """
    folder, name = places.links[0], folder_name(entry.name)
    there = os.path.lexists(os.path.join(folder, name))
    path = link_skill(package.url, folder, name, dry_run=options.dry_run)
    if not options.dry_run:
        lock.note(replace(entry, digest=None, executable_digest=None))
    return Placed(path, "unchanged" if there else "linked")


def _check_source(known: LockedSkill | None, new: LockedSkill, lock: str, option: str) -> None:
    """Raise InstallRefused for a skill of another source than the lock names."""
    if known is None or _is_same_origin(known, new, os.path.dirname(os.path.abspath(lock))):
        return
    remove = f"`skillyard remove{option} {name_in_shell(known.name)}`"
    raise InstallRefused(
        f"the lock has {shown_path(known.name)} from {shown_path(known.source)}, and this one"
        f" is from {shown_path(new.source)}",
        path=lock,
        code="install_source",
        hint=f"{remove}, then add it again, to take what is there now",
    )


def _is_same_origin(known: LockedSkill, new: LockedSkill, folder: str) -> bool:
    """True for a newer version. The common installer names a folder that the skill lies below."""
    sources = {
        (each.source_type == "well-known" and urlsplit(each.source).netloc) or each.source
        for each in (known, new)
    }
    if known.source_type == new.source_type and len(sources) == 1:  # or the host of a site
        return True
    before, now = (skill_folder_of(each, folder) for each in (known, new))
    if before is None or now is None:
        return False
    is_skill = os.path.isfile(os.path.join(before, "SKILL.md"))
    return before == now or (is_below(now, before) and not is_skill)


def _of_listing(error: SourceFailed, result: FoundSkill) -> SourceFailed:
    """Return the failure of a skill that was found by name.

    Where its repository does not have it, the listing is wrong, and not the name.
    """
    if error.code != "not_found":
        return error
    listed = f"{result.hit.key} is listed by {', '.join(result.found_by)}, but is not there"
    hint = "it was moved or removed; choose another one with `skillyard search`"
    return SourceFailed("bad_answer", f"{listed} ({error.what})", hint=hint, status=error.status)
