"""The files of several locked skills, fetched at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from skillyard.base.errors import SkillyardError
from skillyard.base.text import clean_line, shorten
from skillyard.install.copies.file_paths import name_in_shell
from skillyard.install.copies.installed import InstallRefused
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.operations.admission import policy_of, with_bundles
from skillyard.install.operations.project import InstalledSkill, LockedProject
from skillyard.install.origins.locked import locked_package, repinned
from skillyard.install.policy.decision import check_source, locked_source
from skillyard.install.search import SearchService
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.settings import Settings, load_settings

ReportFetched: TypeAlias = Callable[[int, int], None]
"""Takes how many skills were fetched, and of how many."""
_AT_ONCE = 8


def fetch_packages(
    skills: Iterable[InstalledSkill],
    project: LockedProject,
    *,
    pinned: bool,
    report: ReportFetched | None = None,
) -> dict[str, Package | SkillyardError]:
    """Return the files of skills by the name of their entry, or why they cannot be had.

    ``pinned`` asks for the commits of the entries, and returns nothing that they do not pin;
    otherwise the newest of their branches or tags. Raises SkillIoError and InvalidInput for
    settings and the policy.
    """
    entries = [skill.entry for skill in skills]
    if not entries:
        return {}
    settings = with_bundles(load_settings(), project.folder, entries)
    fetched = _fetch_all(entries, pinned, project, settings, report)
    return dict(zip([entry.name for entry in entries], asyncio.run(fetched), strict=True))


async def _fetch_all(
    entries: Sequence[LockedSkill],
    pinned: bool,
    project: LockedProject,
    settings: Settings,
    report: ReportFetched | None,
) -> list[Package | SkillyardError]:
    room, done = asyncio.Semaphore(_AT_ONCE), 0
    policy = policy_of(project.lock)

    async def fetch(entry: LockedSkill) -> Package | SkillyardError:
        nonlocal done
        result: Package | SkillyardError
        async with room:
            try:
                check_source(policy, locked_source(entry, None))
                result = await locked_package(search, entry, pinned=pinned, folder=project.folder)
                if pinned:
                    check_pin(entry, result)
            except SkillyardError as error:
                result = error
        done += 1
        if report is not None:
            report(done, len(entries))
        return result

    async with SearchService(settings=settings) as search:
        return await asyncio.gather(*map(fetch, entries))


def check_pin(entry: LockedSkill, package: Package) -> None:
    """Raise InstallRefused for files that are not those of the entry."""
    new, is_digest = repinned(entry, package), entry.digest is not None
    expected = entry.digest if is_digest else entry.content_hash
    actual = (new.digest if is_digest else new.content_hash) or ""
    if expected is not None and entry.pins_same(new):
        return
    name = shorten(clean_line(entry.name), 80)
    hint = f"`skillyard update {name_in_shell(entry.name)}` shows what changed, and pins it"
    if expected is None:
        raise InstallRefused(
            f"the lock pins no content of {name}", path="", code="install_pin", hint=hint
        )
    if expected == actual:
        raise InstallRefused(
            f"what came for {name} is not what the lock pins: other files may be executed",
            path="",
            code="install_pin",
            hint=hint,
        )
    left_out = (
        f" ({len(package.skipped)} left out: {package.skipped[0]})" if package.skipped else ""
    )
    raise InstallRefused(
        f"what came for {name} is not what the lock pins: it has"
        f" {clean_line(expected)[:19]}…, and this is"
        f" {actual[:19]}…{left_out}",
        path="",
        code="install_pin",
        hint=hint,
    )
