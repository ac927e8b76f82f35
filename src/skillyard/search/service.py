"""The five steps: over-fetch from every source, merge, fetch contents, rank, trim."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from skillyard.errors import InvalidInput, SkillNotFound
from skillyard.ranking.match import Match, eligible, in_order
from skillyard.ranking.query import Query
from skillyard.ranking.registry import bind, resolve
from skillyard.ranking.scorer import Scorer, level_of
from skillyard.search.content import pointer, read_package
from skillyard.search.merging import Candidate, merged
from skillyard.search.result import FoundSkill, SearchResult, SourceStatus
from skillyard.skill import Skill
from skillyard.sources.protocol import Hit, Source, SourceFailed
from skillyard.sources.registry import build_sources, build_transport, response_cache
from skillyard.sources.settings import Settings, load_settings

if TYPE_CHECKING:
    from skillyard.catalog import Catalog
    from skillyard.sources.responses import ResponseCache
    from skillyard.sources.transport import Transport

__all__ = ["SearchService"]

MOST = 100
"""Skills of one answer."""
MOST_CHARACTERS = 2_000
"""Of a query that leaves this machine."""


class SearchService:
    """Searches sources. An asynchronous context; safe for many searches at once.

    ``sources`` are names or :class:`~skillyard.sources.protocol.Source` objects (default: those
    that the settings enable), ``ranker`` a scorer, its name or a documented ``Ranker`` (default:
    the settings', which is ``relevance``). ``cache=False`` keeps nothing.
    """

    def __init__(
        self,
        sources: Iterable[str | Source] | None = None,
        ranker: str | Scorer | Any | None = None,
        *,
        settings: Settings | None = None,
        catalog: Catalog | None = None,
        cache: ResponseCache | bool = True,
        transport: Transport | None = None,
    ) -> None:
        """Raises UnknownName, InvalidInput, SkillIoError for settings that cannot be used."""
        self.settings = load_settings() if settings is None else settings
        self.ranker: Scorer = resolve(self.settings.ranker if ranker is None else ranker)
        if transport is None:
            kept = response_cache(self.settings) if cache is True else cache or None
            transport = build_transport(self.settings, kept)
        self.transport = transport
        self.sources = self._built(sources, catalog)

    def _built(
        self, sources: Iterable[str | Source] | None, catalog: Catalog | None
    ) -> tuple[Source, ...]:
        if sources is None:
            return tuple(build_sources(self.settings, self.transport, None, catalog))
        found: list[Source] = []
        for source in sources:
            if isinstance(source, str):
                found += build_sources(self.settings, self.transport, [source], catalog)
            elif isinstance(source, Source):
                found.append(source)
            else:
                raise InvalidInput("a source is a name, or an object with name, search and fetch")
        return tuple(found)

    async def __aenter__(self) -> Self:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.transport.__aexit__(*error)

    async def search(
        self,
        query: str,
        limit: int = 10,
        include_content: bool = True,
        include_references: bool = False,
    ) -> SearchResult:
        """Return up to ``limit`` skills (1..100) for the query, best first.

        Without content nothing is fetched, and every skill is ranked as one that has none. A source
        that fails is named in the answer, which holds what the others found. Raises InvalidInput.
        """
        text = _checked(query, limit)
        answers = await asyncio.gather(
            *(self._ask(source, text, self.per_source(limit)) for source in self.sources)
        )
        candidates = merged(hits for hits, _ in answers)
        found = await asyncio.gather(
            *(self._content(c, include_content, include_references) for c in candidates)
        )
        ranked = self._ranked(text, _once_each(found), include_references)
        statuses = tuple(status for _, status in answers)
        return SearchResult(
            text, tuple(ranked[:limit]), statuses, self.ranker.name, len(candidates)
        )

    def per_source(self, limit: int) -> int:
        """Return for how many skills each source is asked: twice the limit, or the floor."""
        return max(2 * limit, self.settings.over_fetch_floor)

    async def get(self, source: str, skill_id: str, *, references: bool = False) -> FoundSkill:
        """Return one skill of ``owner/repo`` (or a domain) by its id.

        Raises SourceFailed with the reason of the last source that was asked for it.
        """
        hits = [Hit(source, skill_id, each.name, name=skill_id) for each in self.sources]
        if not hits:
            raise SourceFailed("not_found", "no source is switched on")
        candidate = Candidate(hits[0], tuple(hits))
        found = await self._content(candidate, True, references)
        if found.failure is not None:
            raise found.failure
        return found

    async def find(self, name: str, *, references: bool = False) -> FoundSkill:
        """Return the skill that is called so, or has that id; of several, the best ranked one.

        Raises SkillNotFound, with the nearest names, and SourceFailed when every source failed.
        """
        answer = await self.search(name, include_references=references)
        wanted = _folded(name)
        for found in answer.skills:
            if wanted in (_folded(found.hit.id), _folded(found.skill.name)):
                return found
        if answer.failed:
            first = answer.sources[0]
            raise SourceFailed(first.code, first.message, retry_after_s=first.retry_after_s)
        near = [f"{found.hit.source}/{found.hit.id}" for found in answer.skills[:3]]
        raise SkillNotFound(name, near)

    async def _ask(
        self, source: Source, text: str, limit: int
    ) -> tuple[Sequence[Hit], SourceStatus]:
        try:
            async with asyncio.timeout(self.settings.source_timeout_s):
                hits = list(await source.search(text[:MOST_CHARACTERS], limit))[:limit]
        except TimeoutError:
            message = f"no answer in {self.settings.source_timeout_s:g} s"
            return (), SourceStatus(source.name, "failed", 0, "timeout", message)
        except SourceFailed as error:
            failed = (error.code, str(error), error.retry_after_s)
            return (), SourceStatus(source.name, "failed", 0, *failed)
        return hits, SourceStatus(source.name, "ok", len(hits))

    async def _content(
        self, candidate: Candidate, include_content: bool, references: bool
    ) -> FoundSkill:
        """Return the candidate with its content, from the first source that has it."""
        hit = candidate.hit
        empty = FoundSkill(pointer(hit), hit, candidate.found_by)
        if not include_content:
            return empty
        by_name = {source.name: source for source in self.sources}
        failure: SourceFailed | None = None
        for record in candidate.hits:
            asked = record._replace(path=record.path if record.path is not None else hit.path)
            try:
                package = await by_name[record.found_by].fetch(asked, references=references)
            except SourceFailed as error:
                failure = _worse(failure, error)
                continue
            content = read_package(hit, package)
            return empty._replace(
                skill=content.skill,
                package=package,
                raw=content.raw,
                diagnostics=content.diagnostics,
            )
        return empty._replace(failure=failure)

    def _ranked(self, text: str, found: Sequence[FoundSkill], references: bool) -> list[FoundSkill]:
        """Return the skills in order: those with content first, then as the ranker has them."""
        # Hidden from automatic choice is not hidden from who looks for it.
        skills = [
            each.skill.replace(trigger=False, disable_model_invocation=False) for each in found
        ]
        query = Query(text, include_references=references)
        scored = bind(skills, self.ranker).prepare(query)
        pairs = in_order(eligible(skills, query, zeros=True, scored=scored), scored)
        levels = self.ranker.levels
        matches = {
            id(skill): Match(skill, score, level_of(levels, score), scored)
            for skill, score in pairs
        }
        place = {id(skill): number for number, (skill, _) in enumerate(pairs)}
        order = sorted(
            range(len(found)),
            key=lambda number: (
                not found[number].skill.body,
                place.get(id(skills[number]), len(place)),
                found[number].hit.key,
            ),
        )
        return [found[n]._replace(match=matches.get(id(skills[n]))) for n in order]


_GRAVITY: Mapping[str, int] = {"rate_limited": 0, "denied": 1, "timeout": 2, "unreachable": 3}
"""Of two failures the one that a person can do something about is told."""


def _worse(one: SourceFailed | None, other: SourceFailed) -> SourceFailed:
    if one is None:
        return other
    most = len(_GRAVITY)
    return min(one, other, key=lambda error: _GRAVITY.get(error.code, most))


def _once_each(found: Iterable[FoundSkill]) -> list[FoundSkill]:
    """Return the skills without those that turned out to be one: the same text from one source."""
    kept: dict[tuple[str, Any], FoundSkill] = {}
    for each in found:
        what: Any = each.raw or (each.hit.id.lower(),)
        key = (each.hit.source.lower(), what)
        if key in kept:
            kept[key] = _joined(kept[key], each)
        else:
            kept[key] = each
    return list(kept.values())


def _joined(one: FoundSkill, other: FoundSkill) -> FoundSkill:
    """Return two records of one skill as one: the more installed, with both their marks."""
    best, second = (other, one) if other.hit.install_count > one.hit.install_count else (one, other)
    curated = one.hit.curated or other.hit.curated
    hit = best.hit._replace(curated=curated)
    skill: Skill = best.skill.replace(curated=curated)
    found_by = tuple(dict.fromkeys((*best.found_by, *second.found_by)))
    return best._replace(hit=hit, skill=skill, found_by=found_by)


def _checked(query: str, limit: int) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty: say what is looked for")
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be an integer of 1 to {MOST}")
    return query.strip()


def _folded(text: str) -> str:
    return "-".join(text.casefold().replace("_", "-").split())
