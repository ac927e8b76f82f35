"""The protocol of a source: search for remote skills and fetch their files."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from skillyard.base.errors import SourceFailed
from skillyard.engine.ranking.match import Match
from skillyard.engine.skill import Skill

T = TypeVar("T")


class Hit(NamedTuple):
    """One skill as a source lists it, before its content is fetched."""

    source: str
    """Where the skill is: ``owner/repo``, a domain, or ``local``."""
    id: str
    """Its short identifier there: the name of the folder, or the marketplace's identifier."""
    found_by: str
    """Name of the source that listed it."""
    name: str = ""
    description: str = ""
    install_count: int = 0
    curated: bool = False
    category: str = ""
    path: str | None = None
    """Its folder below the repository's root, if known; empty for the root."""
    url: str = ""
    """URL of its SKILL.md or archive, if known."""
    digest: str = ""
    """``sha256:…`` of the content at ``url``, if the source gives one."""
    kind: str = ""
    """``archive`` when ``url`` is the URL of an archive."""
    skill: Skill | None = None
    """The skill, if the source has already read it."""

    @property
    def key(self) -> str:
        """Equal for two hits of the same skill."""
        return f"{self.source}/{self.id}".lower()


class Package(NamedTuple):
    """The files of one skill and their exact origin."""

    files: Mapping[str, bytes]
    """``SKILL.md`` and the requested files beside it, by path below the skill's folder."""
    source: str
    path: str = ""
    """The skill's folder below the repository's root."""
    commit: str = ""
    """The commit at which the files were read, if the source has commits."""
    url: str = ""
    """URL of a page for people."""
    raw_url: str = ""
    """URL of its SKILL.md."""
    age_s: float = 0.0
    """Age of the response in seconds, when it comes from the cache without revalidation."""
    skipped: Sequence[str] = ()
    """Files that exist and were left out, each with the reason."""
    executable: frozenset[str] | None = None
    """Paths of executable files; None where the source does not report them."""
    source_type: str = ""
    """The source type in a lock file (``git``, ``local``…); empty for GitHub and well-known sites.
    """
    ref: str = ""
    """The named branch or tag, when the target does not contain it."""
    notes: Sequence[str] = ()
    """Remarks for the user on how the files were fetched."""


class Hits(list[Hit]):
    """Hits of a source with several parts, some of which failed."""

    def __init__(self, hits: Iterable[Hit], failures: Iterable[SourceFailed] = ()) -> None:
        super().__init__(hits)
        self.failures = tuple(failures)


def hits_by_words(
    query: str, texts: Iterable[tuple[str, Hit]], first: Callable[[Hit], Any] = lambda hit: 0
) -> list[Hit]:
    """Return the hits whose text shares words with the query, most shared words first.

    ``first`` goes before the number of words. Of equal ones the key decides.
    """
    from skillyard.engine.analysis import STANDARD

    terms = set(STANDARD.terms(query))
    counted = [(len(terms.intersection(STANDARD.terms(text))), hit) for text, hit in texts]
    shared = [pair for pair in counted if pair[0]]
    shared.sort(key=lambda pair: (first(pair[1]), -pair[0], pair[1].key))
    return [hit for _, hit in shared]


async def all_parts(parts: Iterable[Awaitable[T]]) -> tuple[list[T | None], list[SourceFailed]]:
    """Return what each part of a source answers, None for one that failed, and the failures.

    Raises SourceFailed where all of them failed.
    """
    answers = await gather(*parts, return_exceptions=True)
    failures = [answer for answer in answers if isinstance(answer, SourceFailed)]
    if failures and len(failures) == len(answers):
        raise failures[0]
    results: list[T | None] = []
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, SourceFailed):
            raise answer
        results.append(None if isinstance(answer, BaseException) else answer)
    return results, failures


@runtime_checkable
class Source(Protocol):
    """Searches for skills and fetches them. Safe for concurrent use."""

    @property
    def name(self) -> str:
        """The name in settings and results."""
        ...

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return up to ``limit`` skills, best first by the source's own order. Raises SourceFailed.

        A source with several parts returns :class:`Hits` when some of them failed.
        """
        ...

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return the files of a skill that it listed. Raises SourceFailed.

        ``references`` adds the Markdown files that belong to the skill, ``whole`` every file, as
        far as the source has them.
        """
        ...


@runtime_checkable
class RankingSource(Source, Protocol):
    """A source that ranks all of its skills with the default scorer, not only those it returns."""

    def matches(self, query: str, limit: int) -> Mapping[str, Match]:
        """Return the match of each skill that :meth:`search` returns, by the key of its hit."""
        ...
