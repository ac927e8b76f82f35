"""A cache of the candidates of recent searches, valid while every source would answer the same.

A repeated search sends the same requests, whose responses are in the response cache. Parsing and
merging them costs several times as much as ranking and gives the same skills while every response
is unchanged and fresh.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from skillyard.ranking.match import Match
from skillyard.ranking.protocol import BoundScorer
from skillyard.remote.search.content import SKILL_BYTES, own, size_of
from skillyard.remote.search.result import FoundSkill, SourceStatus
from skillyard.remote.sources.dependencies import (
    Age,
    Dependencies,
    DependencyTracker,
    track_dependencies,
)
from skillyard.remote.sources.lru_bytes import LruBytes
from skillyard.remote.sources.protocol import Package, Source, cache_key_of
from skillyard.skill import Skill

__all__ = ["CACHE_BYTES", "CandidateSet", "SearchCache", "SearchRequest", "UnrankedSkills"]

CACHE_BYTES = 32 * 1024 * 1024
"""Size limit of a cache. Twenty real skills with 143,000 characters count as one MiB."""
ENTRY_BYTES = 2_048
"""Memory of a skill in addition to its texts: its hit and its records."""


class SearchRequest(NamedTuple):
    """The parameters that determine the candidates of a search."""

    text: str
    per_source: int
    """Number of skills requested from each source."""
    include_content: bool
    include_references: bool


class UnrankedSkills(tuple[Skill, ...]):
    """Skills that no source ranks, with the scorers bound to them, so that binding happens once."""

    bound: dict[Any, BoundScorer]

    def __new__(cls, skills: Iterable[Skill] = ()) -> Self:
        """Return the skills without a bound scorer."""
        unranked = super().__new__(cls, skills)
        unranked.bound = {}
        return unranked


class CandidateSet(NamedTuple):
    """The merged candidates of all sources, before ranking."""

    skills: tuple[FoundSkill, ...]
    rankable: tuple[Skill, ...]
    """The same skills in the form in which they are ranked."""
    statuses: tuple[SourceStatus, ...]
    considered: int
    is_plain: bool
    """True when every skill is immutable."""
    unranked: UnrankedSkills = UnrankedSkills()
    """The skills of ``rankable`` that no source has ranked among all of its skills."""
    unranked_positions: tuple[int, ...] = ()
    """The positions of these skills."""
    now: float | None = None
    """When the cache returned it, in seconds since the epoch; None for a new result."""

    def to_rank(self) -> Sequence[Skill]:
        """Return the skills to rank. Searches share only immutable skills."""
        return self.rankable if self.is_plain else [own(skill) for skill in self.rankable]

    def result(self, position: int, match: Match | None) -> FoundSkill:
        """Return one skill for an answer, with its age. It shares no mutable value."""
        candidate = self.skills[position]
        return candidate._replace(
            skill=candidate.skill if self.is_plain else own(candidate.skill),
            match=match,
            package=candidate.package and _copy_package(candidate.package, self.now),
        )

    @property
    def is_complete(self) -> bool:
        """True when no source and no skill failed, and every response has an age."""
        return all(status.state == "ok" for status in self.statuses) and all(
            each.failure is None and (each.package is None or _tells_age(each.package))
            for each in self.skills
        )

    def size(self) -> int:
        """Return the approximate memory in bytes, without counting what other caches also hold."""
        texts_shared = SKILL_BYTES * len(self.rankable)
        return sum(map(_size, self.skills)) + texts_shared + ENTRY_BYTES


def _copy_package(package: Package, now: float | None) -> Package:
    age = package.age_s
    older = float(age) if now is None or not isinstance(age, Age) else age.at(now)
    files, skipped = dict(package.files), list(package.skipped)
    return package._replace(files=files, skipped=skipped, age_s=older)


def _tells_age(package: Package) -> bool:
    """True when the age grows with time, or when there is none."""
    return isinstance(package.age_s, Age) or package.age_s == 0.0


def _size(candidate: FoundSkill) -> int:
    files = {} if candidate.package is None else candidate.package.files
    texts = sum(map(sys.getsizeof, (candidate.raw, *files, *files.values())))
    return texts + size_of(candidate.skill) + ENTRY_BYTES


_Key = tuple[SearchRequest, tuple[str, ...]]
"""A request, and the names of the sources."""


class _State(NamedTuple):
    """The versions of a result's inputs: different after every detectable change."""

    cache_keys: tuple[object, ...]
    transport: object | None
    """The state of the response cache and of the hosts; None when no source uses them."""


class _Entry(NamedTuple):
    candidates: CandidateSet
    state: _State
    since: float
    until: float


class SearchCache:
    """The candidates of recent searches, bounded by bytes. Safe for threads and tasks.

    An entry is used only while every source would return the same: the cache keys are equal, every
    response is fresh, and no process has written to the response cache. Nothing is stored when a
    source has no cache key, when a source or a skill failed, or when a stale response was used.
    """

    def __init__(self, transport: DependencyTracker, *, max_bytes: int = CACHE_BYTES) -> None:
        """``transport`` must be the one that all sources with stored responses use."""
        self.entries: LruBytes[_Key, _Entry] = LruBytes(max_bytes)
        self.transport = transport

    async def get_or_gather(
        self,
        request: SearchRequest,
        sources: Sequence[Source],
        gather: Callable[[], Awaitable[CandidateSet]],
    ) -> CandidateSet:
        """Return the stored candidates of a request, or gather and store them."""
        key = request, tuple(source.name for source in sources)
        state, now = self._state(sources), self.transport.now()
        if state is None:
            return await gather()
        entry = self.entries.get(key)
        if entry is not None and entry.state == state and entry.since <= now < entry.until:
            return entry.candidates._replace(now=now)
        with track_dependencies() as dependencies:
            candidates = await gather()
        unchanged = state == self._state(sources)
        if unchanged and candidates.is_complete and _may_store(state, dependencies):
            entry = _Entry(candidates, state, self.transport.now(), dependencies.until)
            self.entries.put(key, entry, candidates.size() + sys.getsizeof(request.text))
        else:
            self.entries.drop(key)
        return candidates

    def _state(self, sources: Sequence[Source]) -> _State | None:
        """Return the current state of the sources; None when changes could go unnoticed."""
        keys = [cache_key_of(source) for source in sources]
        declared = [key for key in keys if key is not None]
        if len(declared) < len(keys):
            return None
        values = tuple(key.value for key in declared)
        if not any(key.uses_transport for key in declared):
            return _State(values, None)
        responses = self.transport.cache.state()
        if responses is None:
            return None
        hosts = tuple(self.transport.hosts.items())
        return _State(values, (responses, self.transport.offline, hosts))


def _may_store(state: _State, dependencies: Dependencies) -> bool:
    """True when the result depends only on the declared inputs of the sources."""
    undeclared = dependencies.uses_transport and state.transport is None
    return dependencies.is_cacheable and not undeclared
