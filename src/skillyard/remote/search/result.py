"""The answer of a federated search: skills in order, and what each source did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from skillyard.arguments import check_arguments
from skillyard.errors import Diagnostic
from skillyard.ranking.match import Match
from skillyard.remote.sources.protocol import Hit, Package, SourceFailed
from skillyard.skill import Skill

__all__ = ["FoundSkill", "SearchResult", "SourceStatus"]


class SourceStatus(NamedTuple):
    """What one source did for one search."""

    name: str
    state: str
    """``ok``, ``partial`` (some of the places it asks failed) or ``failed``."""
    found: int = 0
    code: str = ""
    """The kind of failure; see :class:`~skillyard.remote.sources.protocol.SourceFailed`."""
    message: str = ""
    retry_after_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape; a failure only where there is one."""
        shape: dict[str, Any] = {"name": self.name, "state": self.state, "found": self.found}
        if self.state != "ok":
            shape |= {"code": self.code, "message": self.message}
        if self.retry_after_s is not None:
            shape["retry_after_s"] = round(self.retry_after_s, 1)
        return shape


class FoundSkill(NamedTuple):
    """One skill of the answer."""

    skill: Skill
    """With its body, or without one where it could not be had."""
    hit: Hit
    found_by: tuple[str, ...]
    """The sources that know it, the preferred one first."""
    match: Match | None = None
    """Its score, level, signals and explanation; None where it was not ranked."""
    package: Package | None = None
    raw: str = ""
    """The text of its SKILL.md as it came."""
    diagnostics: tuple[Diagnostic, ...] = ()
    failure: SourceFailed | None = None
    """Why there is no content."""
    tokens: int | None = None
    """Estimated tokens of its texts, where a service has counted them."""
    omitted: bool = False
    """True where a service left out its texts to keep a token budget."""

    @property
    def score(self) -> float:
        """The ranker's score; 0.0 where it gave none."""
        return 0.0 if self.match is None else self.match.score

    def to_dict(
        self,
        *,
        include_content: bool = True,
        include_raw: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]:
        """Return the JSON shape: Skyll's fields, then ours.

        ``refs.skills_sh`` and ``refs.github`` are text, empty where there is no address: Skyll's
        own client takes nothing else.
        """
        skill, package = self.skill, self.package
        raw_url = "" if package is None else package.raw_url
        shape: dict[str, Any] = {
            "id": self.hit.id,
            "title": skill.title or skill.name,
            "description": skill.description or None,
            "version": skill.version,
            "allowed_tools": list(skill.allowed_tools),
            "source": self.hit.source,
            "refs": {
                "skills_sh": _marketplace(self.hit),
                "github": "" if package is None else package.url,
                "raw": raw_url or None,
            },
            "install_count": self.hit.install_count,
            "relevance_score": self.score,
            "content": skill.body if include_content else None,
            "raw_content": self.raw if include_raw and self.raw else None,
            "metadata": dict(skill.metadata),
            "references": [
                {
                    "name": reference.name,
                    "path": reference.path,
                    "content": reference.content,
                    "raw_url": _beside(raw_url, reference.path),
                }
                for reference in skill.references
            ],
            "fetch_error": None if self.failure is None else str(self.failure),
            "name": skill.name,
            "curated": self.hit.curated,
            "found_by": list(self.found_by),
            "level": None if self.match is None else self.match.level,
            "reason": "" if self.match is None else self.match.reason,
            "signals": {} if self.match is None else dict(self.match.signals),
            "digest": skill.hash,
            "commit": None if package is None else package.commit or None,
            "age_s": None if package is None else round(package.age_s, 1),
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }
        if package is not None and package.skipped:
            shape["skipped"] = list(package.skipped)
        if self.tokens is not None:
            shape |= {"tokens": self.tokens, "omitted": self.omitted}
        if explain and self.match is not None:
            shape["explanation"] = self.match.explanation.to_dict()
        return {key: _encodable(value) for key, value in shape.items()}


def _encodable(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which no encoding of text has."""
    if isinstance(value, str):
        return value if value.isascii() else _text(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def _marketplace(hit: Hit) -> str:
    listed = hit.install_count or hit.found_by == "skills.sh"
    return f"https://skills.sh/{quote(hit.source)}/{quote(hit.id, safe='')}" if listed else ""


def _beside(raw_url: str, path: str) -> str | None:
    """Return where a reference lies, beside the SKILL.md of a file address."""
    base, _, name = raw_url.rpartition("/")
    return f"{base}/{quote(path)}" if name == "SKILL.md" else None


@check_arguments
@dataclass(frozen=True, slots=True, repr=False)
class SearchResult:
    """The answer to one search."""

    query: str
    skills: tuple[FoundSkill, ...]
    """Best first, up to the limit; those without content last."""
    sources: tuple[SourceStatus, ...]
    """One for each source, in the order in which they were asked."""
    ranker: str
    considered: int = 0
    """Different skills that the sources named."""
    floor: float = float("-inf")
    """The score from which the ranker says that a skill fits; minus infinity where it says none."""

    def __repr__(self) -> str:
        # Without the texts: an event loop makes this of every result that it hands on.
        return f"SearchResult({self.query!r}, {self.count} of {self.considered} skills)"

    @property
    def count(self) -> int:
        """How many skills the answer holds."""
        return len(self.skills)

    @property
    def abstained(self) -> bool:
        """True when no skill of the answer reaches the ranker's floor: none of them fits."""
        return all(found.score < self.floor for found in self.skills)

    @property
    def partial(self) -> bool:
        """True when a source failed: there may be more."""
        return any(status.state != "ok" for status in self.sources)

    @property
    def failed(self) -> bool:
        """True when every source failed."""
        return bool(self.sources) and all(status.state == "failed" for status in self.sources)

    def to_dict(
        self,
        *,
        include_content: bool = True,
        include_raw: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]:
        """Return ``skillyard.search/1``: Skyll's shape, with what each source did."""
        return {
            "schema": "skillyard.search/1",
            "query": self.query,
            "count": self.count,
            "skills": [
                found.to_dict(
                    include_content=include_content, include_raw=include_raw, explain=explain
                )
                for found in self.skills
            ],
            "ranker": self.ranker,
            "floor": None if self.floor == float("-inf") else self.floor,
            "abstained": self.abstained,
            "considered": self.considered,
            "partial": self.partial,
            "sources": [status.to_dict() for status in self.sources],
        }
