"""The search service: over-fetch from every source, merge, fetch contents, rank, trim."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeGuard

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput, SkillError, SkillNotFound, SourceFailed
from skillyard.base.shapes.skills import SourceStatus
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import Match, eligible, in_order
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, bind, check_scorer, resolve
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.skill import Skill
from skillyard.install.search.result import FoundSkill, SearchResult, found_skill, pointer, unhide
from skillyard.install.sources.build import build_sources, build_transport, response_cache
from skillyard.install.sources.protocol import Hit, Hits, Package, RankingSource, Source
from skillyard.install.sources.responses import ResponseCache
from skillyard.install.sources.settings import Settings, load_settings
from skillyard.install.sources.transport import Transport

MAX_SKILLS = 100
MAX_CONCURRENT_FETCHES = 32
MAX_REMOTE_CHARACTERS = 2_000
"""Maximum length of a query that leaves this machine."""


class SearchService:
    """Searches sources. An asynchronous context manager; safe for concurrent searches.

    ``sources`` are names or :class:`~skillyard.install.sources.protocol.Source` objects (default:
    those that the settings enable), ``ranker`` a scorer, its name or a documented ``Ranker``
    (default: that of the settings, ``hybrid``). ``cache=False`` stores nothing on disk.
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
        """Raises UnknownName, InvalidInput, SkillIoError for invalid settings."""
        if ranker is not None:
            check_scorer(ranker, "ranker")
        self.settings = load_settings() if settings is None else settings
        self.ranker: Scorer = resolve(self.settings.ranker if ranker is None else ranker)
        if transport is None:
            responses = response_cache(self.settings) if cache is True else cache or None
            transport = build_transport(self.settings, responses)
        self.transport = transport
        self.sources = self._build(sources, catalog)
        self._ranking = tuple(each for each in self.sources if isinstance(each, RankingSource))
        """The sources that rank their own skills with the default scorer."""
        self._room = asyncio.Semaphore(MAX_CONCURRENT_FETCHES)

    def _build(
        self, sources: Iterable[str | Source] | None, catalog: Catalog | None
    ) -> tuple[Source, ...]:
        if sources is None:
            return tuple(build_sources(self.settings, self.transport, None, catalog))
        instances: list[Source] = []
        for source in sources:
            if isinstance(source, str):
                instances += build_sources(self.settings, self.transport, [source], catalog)
            elif isinstance(source, Source):
                instances.append(source)
            else:
                raise InvalidInput("a source is a name, or an object with name, search and fetch")
        return tuple(instances)

    async def __aenter__(self) -> Self:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.transport.__aexit__(*error)

    @check_arguments
    async def search(
        self,
        query: str,
        limit: int = 10,
        include_content: bool = True,
        include_references: bool = False,
    ) -> SearchResult:
        """Return up to ``limit`` skills (1..100) for the query, best first.

        Without content nothing is fetched, and every skill is ranked by its metadata. The result
        names each source that failed and contains the skills of the others. Raises InvalidInput.
        """
        text = _check_query(query, limit)
        candidates, statuses = await self._candidates(text, self.per_source(limit))
        skills = await asyncio.gather(
            *(self._content(each, include_content, include_references) for each in candidates)
        )
        request = Query(text, include_references=include_references)
        return SearchResult(
            text,
            tuple(self._rank(request, self.per_source(limit), skills)[:limit]),
            statuses,
            self.ranker.name,
            len(candidates),
            self.ranker.default_policy.min_score,
        )

    @check_arguments
    def per_source(self, limit: int) -> int:
        """Return how many skills to request from a source: twice the limit, or the minimum."""
        return max(2 * limit, self.settings.over_fetch_floor)

    @check_arguments
    async def get(self, source: str, skill_id: str, *, references: bool = False) -> FoundSkill:
        """Return one skill of ``owner/repo`` (or a domain) by its id.

        Raises SourceFailed with the reason of the last source tried.
        """
        if (
            not source.strip()
            or skill_id in ("", ".", "..")
            or _ODD.search(source + skill_id)
            or "/" in skill_id
        ):
            raise SourceFailed("refused", f"{skill_id!r} of {source!r} names no skill")
        hits = [Hit(source, skill_id, each.name, name=skill_id) for each in self.sources]
        if not hits:
            raise SourceFailed("not_found", "no source is switched on")
        candidate = SearchCandidate(hits[0], tuple(hits))
        result = await self._content(candidate, True, references)
        if result.failure is not None:
            raise result.failure
        return result

    @check_arguments
    async def find(self, name: str, *, references: bool = False) -> FoundSkill:
        """Return the skill with this name or id; of several, the best ranked one.

        ``owner/repo/id`` is fetched without a search. Raises SkillNotFound with similar names, and
        SourceFailed when every source failed.
        """
        parts = name.strip().strip("/").split("/")
        if len(parts) > 2:
            return await self.get("/".join(parts[:-1]), parts[-1], references=references)
        text = _check_query(name, MAX_SKILLS)
        candidates, statuses = await self._candidates(text, MAX_SKILLS)
        folded = _fold(text)
        exact = [c for c in candidates if folded in (_fold(c.hit.id), _fold(c.hit.name))]
        if exact:
            skills = await asyncio.gather(*(self._content(c, True, references) for c in exact))
            return self._rank(Query(text, include_references=references), MAX_SKILLS, skills)[0]
        for found_one in (await self.search(text, include_references=references)).skills:
            if folded == _fold(found_one.skill.name):  # its folder has another name
                return found_one
        if statuses and all(status.state == "failed" for status in statuses):
            gravest = min(statuses, key=lambda status: _gravity(status.code))
            raise SourceFailed(gravest.code, gravest.message, retry_after_s=gravest.retry_after_s)
        raise SkillNotFound(name, [c.hit.key for c in candidates[:3]])

    async def _candidates(
        self, text: str, limit: int
    ) -> tuple[list[SearchCandidate], tuple[SourceStatus, ...]]:
        """Return what the sources find, merged, and the status of each."""
        answers = await asyncio.gather(
            *(self._query_source(source, text, limit) for source in self.sources)
        )
        return merge_hits(hits for hits, _ in answers), tuple(status for _, status in answers)

    async def _query_source(
        self, source: Source, text: str, limit: int
    ) -> tuple[Sequence[Hit], SourceStatus]:
        try:
            async with asyncio.timeout(self.settings.source_timeout_s):
                # A source that ranks is a catalog on this machine: it gets the whole request.
                here = isinstance(source, RankingSource)
                answer = await source.search(text if here else text[:MAX_REMOTE_CHARACTERS], limit)
                hits = list(answer)[:limit]
            if not all(isinstance(hit, Hit) for hit in hits):
                raise SourceFailed("bad_answer", f"{source.name} gave something else than hits")
        except TimeoutError:
            message = f"no answer in {self.settings.source_timeout_s:g} s"
            return (), SourceStatus(source.name, "failed", 0, "timeout", message)
        except SourceFailed as error:
            return (), _failed(source, "failed", 0, [error])
        except Exception as error:  # noqa: BLE001 - a failing source must not stop the others
            message = f"{type(error).__name__}: {error}"
            return (), SourceStatus(source.name, "failed", 0, "bad_answer", message)
        failures = answer.failures if isinstance(answer, Hits) else ()
        if failures:
            return hits, _failed(source, "partial", len(hits), failures)
        return hits, SourceStatus(source.name, "ok", len(hits))

    async def _content(
        self, candidate: SearchCandidate, include_content: bool, references: bool
    ) -> FoundSkill:
        """Return the candidate with its content, from the first source that has it."""
        hit, found_by = candidate.hit, candidate.found_by
        if not include_content:
            return FoundSkill(pointer(hit), hit, found_by)
        failures: list[SourceFailed] = []
        for record in candidate.hits:
            if not references and _has_body(record.skill):
                return FoundSkill(_at_hand(record.skill, hit), hit, found_by)
            request = record._replace(path=record.path if record.path is not None else hit.path)
            try:
                package = await self.fetch(request, references=references)
            except SourceFailed as error:
                failures.append(error)
                if _has_body(record.skill):
                    return FoundSkill(_at_hand(record.skill, hit), hit, found_by)
                continue
            return found_skill(hit, package, found_by)
        failure = min(failures, key=lambda error: _gravity(error.code))
        return FoundSkill(pointer(hit), hit, found_by, failure=failure)

    async def fetch(self, hit: Hit, *, references: bool = False) -> Package:
        """Return the files of a skill from the source that listed it. Raises SourceFailed."""
        source = next(source for source in self.sources if source.name == hit.found_by)
        try:
            async with self._room:
                package = await source.fetch(hit, references=references)
        except SourceFailed:
            raise
        except Exception as error:  # noqa: BLE001 - one body must not cost the others
            what = f"{hit.key}: {type(error).__name__}: {error}"
            raise SourceFailed("bad_answer", what) from None
        if "SKILL.md" not in package.files:
            raise SourceFailed("not_found", f"{hit.key}: what came holds no SKILL.md")
        return package

    def _rank(
        self, query: Query, per_source: int, skills: Iterable[FoundSkill]
    ) -> list[FoundSkill]:
        """Return the skills in order: those with content first, then by rank."""
        candidates = _once_each(skills)
        if self.ranker == resolve(DEFAULT_SCORER):
            return self._rank_by_default(query, per_source, candidates)
        shown = [unhide(each.skill) for each in candidates]
        scored = bind(shown, self.ranker).prepare(query)
        pairs = in_order(eligible(shown, query, zeros=True, scored=scored), scored)
        places = {id(skill): (place, score) for place, (skill, score) in enumerate(pairs)}
        ranked = []
        for candidate, skill in zip(candidates, shown, strict=True):
            place, score = places.get(id(skill), (len(pairs), None))
            if score is not None:
                match = Match(skill, score, level_of(self.ranker.levels, score), scored)
                candidate = candidate._replace(match=match)
            ranked.append((place, candidate))
        ranked.sort(key=lambda each: (not each[1].skill.body, each[0], each[1].hit.key))
        return [candidate for _, candidate in ranked]

    def _rank_by_default(
        self, query: Query, per_source: int, candidates: Sequence[FoundSkill]
    ) -> list[FoundSkill]:
        """Return the skills by the default scorer, those with content first.

        Skills that a source has ranked among all of its skills keep that score. The others are
        ranked among themselves. Scores are probabilities, so both are comparable.
        """
        ranking = {source.name for source in self._ranking}
        known: dict[str, Match] = {}
        if not all(ranking.isdisjoint(each.found_by) for each in candidates):
            for source in self._ranking:
                known |= source.matches(query.text, per_source)
        alone = [unhide(each.skill) for each in candidates if ranking.isdisjoint(each.found_by)]
        scored = bind(alone, self.ranker).prepare(query)
        scores = {id(skill): score for skill, score in scored.scores()}
        others = iter(alone)
        ranked = []
        for candidate in candidates:
            match = known.get(candidate.hit.key)
            if ranking.isdisjoint(candidate.found_by):
                skill = next(others)
                score = scores.get(id(skill), 0.0)
                match = Match(skill, score, level_of(self.ranker.levels, score), scored)
            ranked.append(candidate._replace(match=match))
        return sorted(
            ranked,
            key=lambda each: (not each.skill.body, -each.score, each.skill.key, each.hit.key),
        )


_ODD = re.compile(r"[\x00-\x1f\x7f\\]|\.\.|//")
"""Matches text that is not the name of a source or a skill."""


def _failed(
    source: Source, state: str, count: int, failures: Sequence[SourceFailed]
) -> SourceStatus:
    first, message = failures[0], "; ".join(map(str, failures))
    after_s = None if first.retry_after_s is None else round(first.retry_after_s, 1)
    return SourceStatus(source.name, state, count, first.code, message, after_s)


def _gravity(code: str) -> int:
    """Return the place of a failure: of several, the one that a person can act on is reported."""
    gravest = ("rate_limited", "denied", "timeout", "unreachable")
    return gravest.index(code) if code in gravest else len(gravest)


def _has_body(skill: Skill | None) -> TypeGuard[Skill]:
    """True for a skill whose body is loaded; the file of an indexed skill may be gone by now."""
    try:
        return skill is not None and bool(skill.body)
    except SkillError:
        return False


def _at_hand(skill: Skill, hit: Hit) -> Skill:
    """Return a skill that a source holds itself, with the merged metadata."""
    facts = (hit.source, hit.id, hit.install_count, hit.curated)
    if (skill.source, skill.slug, skill.install_count, skill.curated) == facts:
        return skill
    return skill.replace(
        source=hit.source, slug=hit.id, install_count=hit.install_count, curated=hit.curated
    )


def _once_each(skills: Iterable[FoundSkill]) -> list[FoundSkill]:
    """Return the skills without duplicates: the same folder of one source."""
    by_key: dict[tuple[str, str], FoundSkill] = {}
    for each in skills:
        path = each.package.path if each.package is not None else ""
        key = (each.hit.source.lower(), f"/{path}" if path else each.hit.id.lower())
        by_key[key] = _merge(by_key[key], each) if key in by_key else each
    return list(by_key.values())


def _merge(one: FoundSkill, other: FoundSkill) -> FoundSkill:
    """Merge two records of one skill: the more installed one, with the marks of both."""
    best, second = (other, one) if other.hit.install_count > one.hit.install_count else (one, other)
    curated = one.hit.curated or other.hit.curated
    hit = best.hit._replace(curated=curated)
    skill: Skill = best.skill.replace(curated=curated)
    found_by = tuple(dict.fromkeys((*best.found_by, *second.found_by)))
    return best._replace(hit=hit, skill=skill, found_by=found_by)


def _check_query(query: str, limit: int) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty: say what is looked for")
    if type(limit) is not int or not 1 <= limit <= MAX_SKILLS:
        raise InvalidInput(f"limit must be an integer of 1 to {MAX_SKILLS}")
    return query.strip()


def _fold(text: str) -> str:
    return "-".join(text.casefold().replace("_", "-").split())


class SearchCandidate(NamedTuple):
    """One skill with the record of each source."""

    hit: Hit
    """The merged metadata of all records."""
    hits: tuple[Hit, ...]
    """The records, the preferred one first. Each is fetched by the source that returned it."""

    @property
    def found_by(self) -> tuple[str, ...]:
        """The names of the sources that list the skill, in order of preference."""
        return tuple(dict.fromkeys(hit.found_by for hit in self.hits))


def merge_hits(hits_by_source: Iterable[Sequence[Hit]]) -> list[SearchCandidate]:
    """Return one candidate for each source and id, in order of first appearance.

    A record with an install count is preferred; the curated mark, the description, the category and
    the registered path come from any record that has them (spec/skyll.md §2.3, row 19).
    """
    by_key: dict[str, list[Hit]] = {}
    for hits in hits_by_source:
        for hit in hits:
            by_key.setdefault(hit.key, []).append(hit)
    return [_one(hits) for hits in by_key.values()]


def _one(hits: list[Hit]) -> SearchCandidate:
    if len(hits) == 1:
        return SearchCandidate(hits[0], (hits[0],))
    ordered = sorted(hits, key=lambda hit: (hit.skill is None, not hit.install_count))
    best = ordered[0]
    return SearchCandidate(
        best._replace(
            name=_first(hit.name for hit in ordered),
            description=_first(hit.description for hit in ordered),
            category=_first(hit.category for hit in ordered),
            install_count=max(hit.install_count for hit in ordered),
            curated=any(hit.curated for hit in ordered),
            path=next((hit.path for hit in ordered if hit.path is not None), None),
        ),
        tuple(ordered),
    )


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def search_skills(
    query: str,
    *,
    sources: Sequence[str] | None = None,
    limit: int = 10,
    references: bool = False,
    ranker: str | None = None,
    catalog: Catalog | None = None,
) -> SearchResult:
    """Search the sources. Raises InvalidInput, UnknownName, SkillIoError."""

    async def run() -> SearchResult:
        async with SearchService(sources, ranker, catalog=catalog) as search:
            return await search.search(query, limit, include_references=references)

    return asyncio.run(run())
