"""What the sources have on a request, and how it is given again while all of it stands.

A search that is asked again asks the same sources for the same answers, which their cache has.
Going through all of them costs several times what ranking does, and brings the same skills as
long as no answer has changed and each is still fresh.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from skillyard.catalog import Catalog
from skillyard.ranking.match import Match
from skillyard.ranking.protocol import BoundScorer
from skillyard.remote.search.content import SKILL_BYTES, own, size_of
from skillyard.remote.search.noting import Age, Notes, Noting, noted
from skillyard.remote.search.result import FoundSkill, SourceStatus
from skillyard.remote.sources.github import GitHubSource
from skillyard.remote.sources.local import LocalSource
from skillyard.remote.sources.protocol import Package, Source
from skillyard.remote.sources.registry_file import RegistryFile
from skillyard.remote.sources.remembering import Remembered
from skillyard.remote.sources.server import ServerSource
from skillyard.remote.sources.skills_sh import SkillsSh
from skillyard.remote.sources.well_known import WellKnown
from skillyard.skill import Skill

__all__ = ["KEPT_BYTES", "Asked", "Gathered", "KeptGathered", "ground_of"]

KEPT_BYTES = 32 * 1024 * 1024
"""What may be kept of requests. Twenty real skills with 143,000 characters count as one MiB."""
ENTRY_BYTES = 2_048
"""What a skill takes in memory beside its texts: what was found of it, and its records."""
FROM_ANSWERS = (GitHubSource, RegistryFile, ServerSource, SkillsSh, WellKnown)
"""Sources that never change, and make what they give of the transport's answers alone."""


class Asked(NamedTuple):
    """What decides what is gathered."""

    text: str
    per_source: int
    """For how many skills each source is asked."""
    include_content: bool
    include_references: bool


class Others(tuple[Skill, ...]):
    """Skills with the scorers that were bound to them: what that costs is spent once."""

    bound: dict[Any, BoundScorer]

    def __new__(cls, skills: Iterable[Skill] = ()) -> Self:
        made = super().__new__(cls, skills)
        made.bound = {}
        return made


class Gathered(NamedTuple):
    """What all sources together have on a request, each skill once, before it is ranked."""

    found: tuple[FoundSkill, ...]
    shown: tuple[Skill, ...]
    """The same skills as they are ranked."""
    statuses: tuple[SourceStatus, ...]
    considered: int
    plain: bool
    """True where nobody can change anything in any of the skills."""
    others: Others = Others()
    """Those of ``shown`` that no source has ranked among all of its skills …"""
    places: tuple[int, ...] = ()
    """… and their places."""
    now: float | None = None
    """When it is given again, in seconds since the epoch; None for what has just come."""

    def ranked(self) -> Sequence[Skill]:
        """Return the skills to rank: no other search gets one in which something can change."""
        return self.shown if self.plain else [own(skill) for skill in self.shown]

    def given(self, number: int, match: Match | None) -> FoundSkill:
        """Return one skill for the answer, with its age; it shares nothing that can change."""
        found = self.found[number]
        return found._replace(
            skill=found.skill if self.plain else own(found.skill),
            match=match,
            package=found.package and _given(found.package, self.now),
        )

    @property
    def whole(self) -> bool:
        """True where no source and no skill failed, and every age can be told later."""
        return all(status.state == "ok" for status in self.statuses) and all(
            each.failure is None and (each.package is None or _tells_age(each.package))
            for each in self.found
        )

    def size(self) -> int:
        """Return about how many bytes this takes in memory, were none of it in another cache."""
        texts_shared = SKILL_BYTES * len(self.shown)
        return sum(map(_size, self.found)) + texts_shared + ENTRY_BYTES


def _given(package: Package, now: float | None) -> Package:
    age = package.age_s
    older = float(age) if now is None or not isinstance(age, Age) else age.at(now)
    files, skipped = dict(package.files), list(package.skipped)
    return package._replace(files=files, skipped=skipped, age_s=older)


def _tells_age(package: Package) -> bool:
    """True for an age that grows with the time, and for what has none."""
    return isinstance(package.age_s, Age) or package.age_s == 0.0


def _size(found: FoundSkill) -> int:
    files = {} if found.package is None else found.package.files
    texts = sum(map(sys.getsizeof, (found.raw, *files, *files.values())))
    return texts + size_of(found.skill) + ENTRY_BYTES


_Key = tuple[Asked, tuple[str, ...]]
"""A request, and the names of the sources."""


class _Kept(NamedTuple):
    gathered: Gathered
    ground: object
    """What it stands on."""
    since: float
    until: float


class KeptGathered:
    """What was gathered last, within a bound of bytes. Safe for threads and tasks.

    Given again is only what a new gathering would bring: every answer that it was made of is
    fresh, and nothing was written to their cache since, by whatever process. Where a source or a
    skill failed, or an answer came from the cache because its remote was away, nothing is kept.
    """

    def __init__(self, transport: Noting, *, most_bytes: int = KEPT_BYTES) -> None:
        """``transport`` is the one through which every source asks whose answers are kept."""
        self.remembered: Remembered[_Key, _Kept] = Remembered(most_bytes)
        self.transport = transport

    async def of(
        self,
        asked: Asked,
        sources: Sequence[Source],
        gather: Callable[[], Awaitable[Gathered]],
    ) -> Gathered:
        """Return what is kept for a request, else what ``gather`` brings from the sources."""
        key = asked, tuple(source.name for source in sources)
        ground, now = self._ground(sources), self.transport.now()
        if ground is None:
            return await gather()
        kept = self.remembered.get(key)
        if kept is not None and kept.ground == ground and kept.since <= now < kept.until:
            return kept.gathered._replace(now=now)
        with noted() as notes:
            gathered = await gather()
        self._keep(key, gathered, notes, ground if ground == self._ground(sources) else None)
        return gathered

    def _keep(self, key: _Key, gathered: Gathered, notes: Notes, ground: object | None) -> None:
        """Keep what was gathered, unless a part of it was written meanwhile or does not stand."""
        if ground is not None and notes.stands and gathered.whole:
            kept = _Kept(gathered, ground, self.transport.now(), notes.until)
            self.remembered.put(key, kept, gathered.size() + sys.getsizeof(key[0].text))
        else:
            self.remembered.drop(key)

    def _ground(self, sources: Sequence[Source]) -> object | None:
        """Return what is another one after every change to what is gathered from.

        None where that cannot be told.
        """
        grounds = tuple(map(ground_of, sources))
        if None in grounds:
            return None
        if not any(type(ground) in FROM_ANSWERS for ground in grounds):
            return grounds  # nothing remote is asked, and no cache is looked at
        state = self.transport.cache.state()
        if state is None:
            return None
        return state, self.transport.offline, tuple(self.transport.hosts.items()), grounds


def ground_of(source: Source) -> object | None:
    """Return what a source's answers stand on: another one after every change to them.

    A source says so itself in ``ground``. One that only repeats what its transport gave is its own
    ground. None where a change may go unseen.
    """
    if type(source) in FROM_ANSWERS:
        return source
    if type(source) is LocalSource:
        # A catalog of another kind may read its files when it is asked.
        return source.catalog if type(source.catalog) is Catalog else None
    return getattr(source, "ground", None)
