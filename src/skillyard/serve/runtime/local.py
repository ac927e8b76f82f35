"""The catalog of this service as a source of a search.

Files are read with the path checks of :mod:`skillyard.engine.resources`, and only files that are
unchanged since the snapshot are shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from typing import TypeVar

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.io.files import sha256
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.formats.frontmatter import join_document
from skillyard.engine.ranking.match import Match, rank
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.resources import list_resources, read_file, read_resource
from skillyard.engine.skill import Origin, Skill
from skillyard.install.search import FoundSkill
from skillyard.install.search.result import MARKDOWN, references_in
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.runtime.snapshot import Ranking, Snapshot

T = TypeVar("T")

REFERENCES = 64
"""Maximum number of Markdown files of one skill that are read."""


class CatalogSource:
    """The skills of one snapshot, ranked by ``hybrid`` or ``hybrid+NAME``.

    Work runs in the threads of a pool, or without one in the calling thread, which it blocks. With
    ``raw`` the file of a skill is read again for its text; otherwise the snapshot's data is used.
    """

    name = LOCAL

    def __init__(
        self,
        snapshot: Snapshot,
        pool: Executor | None,
        *,
        raw: bool = False,
        scorer: str = DEFAULT_SCORER,
    ) -> None:
        self._snapshot = snapshot
        self._scorer = scorer
        self.note = ""
        """Why ``hybrid`` ranked in place of ``hybrid+NAME``; empty when it did not."""
        self._pool = pool
        self._raw = raw
        self._skill_by_key: dict[str, Skill] = {}
        self._ranked: dict[tuple[str, int], dict[str, Match]] = {}

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best skills for the query."""
        return await self._in_thread(lambda: self._rank(query, limit))

    def _rank(self, query: str, limit: int) -> list[Hit]:
        matches = self.matches(query, limit)
        hits = [hit_of(self._snapshot, match.skill) for match in matches.values()]
        self._skill_by_key |= {key: match.skill for key, match in matches.items()}
        if self._raw:
            return [hit._replace(skill=None) for hit in hits]
        return hits

    def matches(self, query: str, limit: int) -> dict[str, Match]:
        """Return the matches of a query, by the keys of their hits, best first."""
        # Kept here and not by functools.cache: a bound method would hold the source in a circle,
        # and the collector would pause the service to free thousands of them.
        known = self._ranked.get((query, limit))
        if known is None:
            known = self._ranked[query, limit] = self._match(query, limit)
        return known

    def _match(self, query: str, limit: int) -> dict[str, Match]:
        def work(ranking: Ranking) -> list[Match]:
            self.note = ranking.note
            return rank(ranking.catalog, query, scorer=ranking.scorer, limit=limit)

        ranked = self._snapshot.answer(self._scorer, work)
        return {hit_of(self._snapshot, match.skill).key: match for match in ranked}

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's file and, on request, its Markdown files. Raises SourceFailed."""
        return await self._in_thread(lambda: self._package(hit, references or whole))

    def _package(self, hit: Hit, references: bool) -> Package:
        skill = self._skill_by_key.get(hit.key)
        if skill is None:
            raise SourceFailed("not_found", f"{hit.key} is not in this catalog")
        files = {"SKILL.md": file_of(skill)}
        if references:
            files = _documents(skill) | files
        return Package(files, hit.source)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._pool is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def hit_of(snapshot: Snapshot, skill: Skill) -> Hit:
    """Return a skill as a hit; its id is the slug if that is unique."""
    source, skill_id = skill.source or LOCAL, skill.slug
    try:
        alone = snapshot.whole.get(skill_id).path == skill.path
    except SkillError:
        alone = False
    skill_id = skill_id if alone else skill.id
    return Hit(
        source,
        skill_id,
        LOCAL,
        name=skill.name,
        description=skill.description,
        install_count=skill.install_count,
        curated=skill.curated,
        # Its references are read when they are requested.
        skill=skill.replace(references=(), source=source, slug=skill_id),
    )


def file_of(skill: Skill) -> bytes:
    """Return the bytes of a skill's file, as in the snapshot. Raises SourceFailed.

    For a skill from a store they are generated; they may differ from the original in blanks.
    """
    if skill.stored:
        return join_document(skill.frontmatter, skill.body or "", skill.hash)
    limit = DEFAULT_LIMITS.skill_file_bytes
    try:
        if is_document(skill):
            data = read_file(skill.path, limit, skill.name).data
        else:
            data = read_resource(skill, _file_name(skill))
    except SkillError:
        raise SourceFailed("not_found", f"the file of {skill.name} cannot be read") from None
    if sha256(data).hex() != skill.hash:
        raise SourceFailed("bad_answer", f"the file of {skill.name} is being changed; ask again")
    return data


def is_document(skill: Skill) -> bool:
    """True for a skill that is a single document without a folder of its own."""
    if skill.stored:  # its place does not show what it was
        return skill.origin in (Origin.RUNTIME, Origin.CONVENTION)
    return _file_name(skill).lower() != "skill.md"


def _file_name(skill: Skill) -> str:
    return skill.path.replace("\\", "/").rpartition("/")[2]


def _documents(skill: Skill) -> dict[str, bytes]:
    """Return the Markdown files beside a skill by path, without unreadable ones."""
    documents: dict[str, bytes] = {}
    if is_document(skill):
        return documents
    with suppress(SkillError):
        paths = [item.path for item in list_resources(skill)]
        for path in [path for path in paths if path.lower().endswith(MARKDOWN)][:REFERENCES]:
            with suppress(SkillError):
                documents[path] = read_resource(skill, path)
    return documents


def find_skill(snapshot: Snapshot, name: str, *, references: bool, raw: bool) -> FoundSkill:
    """Return a skill of the snapshot by name, id or slug.

    Raises SkillNotFound, AmbiguousName, and SourceFailed when its file has changed.
    """
    skill = snapshot.whole.get(name)
    hit = hit_of(snapshot, skill)
    documents = _documents(skill) if references else {}
    with_references = skill.replace(references=references_in(documents))
    text = file_of(skill).decode("utf-8", "replace") if raw else ""
    return FoundSkill(with_references, hit, (LOCAL,), raw=text)


def tokens_of(found_skill: FoundSkill) -> int:
    """Return the estimated tokens of a skill's texts, those of its references included."""
    skill = found_skill.skill
    texts = (skill.body, *(reference.content for reference in skill.references))
    return sum(estimate_tokens(text) for text in texts if text)
