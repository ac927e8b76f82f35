"""The result of a federated search: ranked skills and the status of each source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import Diagnostic, SourceFailed
from skillyard.base.shapes import skills as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.engine.ranking.match import Match
from skillyard.engine.skill import SKILL_FIELDS, Skill
from skillyard.install.sources.protocol import Hit, Package


class SourceStatus(NamedTuple):
    """The outcome of one search at one source."""

    name: str
    state: str
    """``ok``, ``partial`` (some of the places that it queries failed) or ``failed``."""
    found: int = 0
    code: str = ""
    """The kind of failure; see :class:`~skillyard.base.errors.SourceFailed`."""
    message: str = ""
    retry_after_s: float | None = None

    def document(self) -> shapes.SourceStatus:
        """Return the status as a document shows it; with ``failure`` only when there is one."""
        failed, after_s = self.state != "ok", self.retry_after_s
        return shapes.SourceStatus(
            name=self.name,
            state=self.state,
            found=self.found,
            code=self.code if failed else None,
            message=self.message if failed else None,
            retry_after_s=None if after_s is None else round(after_s, 1),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        members: dict[str, Any] = encode(self.document())
        return members


class FoundSkill(NamedTuple):
    """One skill of a search result."""

    skill: Skill
    """With its body, unless that could not be fetched."""
    hit: Hit
    found_by: tuple[str, ...]
    """The sources that list it, the preferred one first."""
    match: Match | None = None
    """Its score, level, signals and explanation; None when it was not ranked."""
    package: Package | None = None
    raw: str = ""
    """The unchanged text of its SKILL.md."""
    diagnostics: tuple[Diagnostic, ...] = ()
    failure: SourceFailed | None = None
    """The reason for missing content."""

    @property
    def score(self) -> float:
        """The ranker's score; 0.0 without one."""
        return 0.0 if self.match is None else self.match.score

    def document(
        self, *, include_content: bool = True, include_raw: bool = False, explain: bool = False
    ) -> shapes.Skill:
        """Return the skill as a document shows it.

        ``refs.skills_sh`` and ``refs.github`` are strings, empty without an address, because
        Skyll's own client accepts nothing else.
        """
        skill, package, match = self.skill, self.package, self.match
        raw_url = "" if package is None else package.raw_url
        return shapes.Skill(
            id=self.hit.id,
            title=skill.title or skill.name,
            description=skill.description or None,
            version=skill.version,
            allowed_tools=skill.allowed_tools,
            source=self.hit.source,
            refs=shapes.Addresses(
                skills_sh=_marketplace(self.hit),
                github="" if package is None else package.url,
                raw=raw_url or None,
            ),
            install_count=self.hit.install_count,
            relevance_score=self.score,
            content=skill.body if include_content else None,
            raw_content=self.raw if include_raw and self.raw else None,
            metadata=skill.metadata,
            references=tuple(
                from_attributes(
                    shapes.ReferenceFile,
                    reference,
                    raw_url=_reference_address(raw_url, reference.path),
                )
                for reference in skill.references
            ),
            fetch_error=None if self.failure is None else str(self.failure),
            name=skill.name,
            curated=self.hit.curated,
            found_by=self.found_by,
            level=None if match is None else match.level,
            reason="" if match is None else match.reason,
            signals={} if match is None else match.signals,
            digest=skill.hash,
            commit=None if package is None else package.commit or None,
            age_s=None if package is None else round(package.age_s, 1),
            diagnostics=tuple(diagnostic.document() for diagnostic in self.diagnostics),
            **_frontmatter(skill),
            skipped=() if package is None else tuple(package.skipped),
            explanation=match.explanation.document() if explain and match is not None else None,
        )

    def to_dict(self, **texts: bool) -> dict[str, Any]:
        """Return the JSON shape: Skyll's fields, then skillyard's; options as for a document."""
        members: dict[str, Any] = _encodable(encode(self.document(**texts)))
        return members


def _frontmatter(skill: Skill) -> dict[str, Any]:
    """Return the frontmatter fields that the service sends under their own names."""
    fields = {each.name: getattr(skill, each.name) for each in SKILL_FIELDS.values() if each.wire}
    declared = any(skill.triggers)
    triggers = from_attributes(shapes.Triggers, skill.triggers) if declared else None
    return {**fields, "triggers": triggers}


def _encodable(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which cannot be encoded."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def _marketplace(hit: Hit) -> str:
    has_page = hit.install_count or hit.found_by == "skills.sh"
    return f"https://skills.sh/{quote(hit.source)}/{quote(hit.id, safe='')}" if has_page else ""


def _reference_address(raw_url: str, path: str) -> str | None:
    """Return the address of a reference, relative to the address of the SKILL.md."""
    base, _, name = raw_url.rpartition("/")
    return f"{base}/{quote(path)}" if name == "SKILL.md" else None


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult:
    """The result of one search."""

    query: str
    skills: tuple[FoundSkill, ...]
    """Best first, up to the limit. Skills without content come last."""
    sources: tuple[SourceStatus, ...]
    """One status for each source, in query order."""
    ranker: str
    considered: int = 0
    """Number of distinct skills that the sources returned."""
    floor: float = float("-inf")
    """The score from which the ranker considers a skill fitting; minus infinity without one."""
    note: str = ""
    """Why the default scorer of a service did not rank; empty where it did."""

    def __repr__(self) -> str:
        # Without the texts: an event loop builds this for every result.
        return f"SearchResult({self.query!r}, {self.count} of {self.considered} skills)"

    @property
    def count(self) -> int:
        """The number of skills in the result."""
        return len(self.skills)

    @property
    def abstained(self) -> bool:
        """True when no skill reaches the ranker's floor."""
        return all(each.score < self.floor for each in self.skills)

    @property
    def partial(self) -> bool:
        """True when a source failed, so that the result may be incomplete."""
        return any(status.state != "ok" for status in self.sources)

    @property
    def failed(self) -> bool:
        """True when every source failed."""
        return bool(self.sources) and all(status.state == "failed" for status in self.sources)

    def document(self, **texts: bool) -> shapes.SearchResult:
        """Return ``skillyard.search/1``: Skyll's shape, with the status of each source.

        ``texts`` are the options of :meth:`FoundSkill.document`.
        """
        return shapes.SearchResult(
            query=self.query,
            count=self.count,
            skills=tuple(each.document(**texts) for each in self.skills),
            ranker=self.ranker,
            floor=None if self.floor == float("-inf") else self.floor,
            abstained=self.abstained,
            considered=self.considered,
            partial=self.partial,
            sources=tuple(status.document() for status in self.sources),
            note=self.note or None,
        )

    def to_dict(self, **texts: bool) -> dict[str, Any]:
        """Return the document as JSON."""
        encoded: dict[str, Any] = encode(self.document(**texts))
        return {**encoded, "skills": _encodable(encoded["skills"])}
