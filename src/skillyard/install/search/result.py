"""The result of a federated search: skills read from fetched files, and the status of each source.

The body of a skill is kept even when its frontmatter is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import Diagnostic, SkillError, SourceFailed
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.shapes import skills as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.engine.formats.agentskills import SkillText, parse_document
from skillyard.engine.formats.frontmatter import decode, split, unify_lines
from skillyard.engine.ranking.match import Match
from skillyard.engine.skill import SKILL_FIELDS, Origin, Reference, Skill
from skillyard.install.sources.protocol import Hit, Package

MARKDOWN = (".md", ".markdown", ".mdx")


def pointer(hit: Hit) -> Skill:
    """Return a skill without content, from the metadata of the sources."""
    return Skill(
        hit.name or hit.id,
        hit.description,
        None,
        slug=hit.id,
        source=hit.source,
        install_count=hit.install_count,
        curated=hit.curated,
        tags=(hit.category,) if hit.category and hit.curated else (),
    )


def found_skill(hit: Hit, package: Package, found_by: Sequence[str]) -> FoundSkill:
    """Return the skill in fetched files. Never raises: faults become diagnostics.

    When the frontmatter cannot be read, name and description come from the sources and the body is
    kept.
    """
    path = f"{hit.source}/{hit.id}/SKILL.md"
    diagnostics: list[Diagnostic] = []
    data = package.files.get("SKILL.md", b"")
    try:
        text = decode(data, path)
    except SkillError as error:
        diagnostics.append(error.diagnostic("warning")._replace(path=path))
        text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    try:
        document = SkillText(path, hit.id, Origin.AGENTSKILLS)
        parsed = parse_document(document, text, strict=False)
        skill = parsed.skill
        diagnostics += parsed.diagnostics
    except SkillError as error:
        diagnostics.append(error.diagnostic("warning")._replace(path=path))
        skill = Skill(hit.name or hit.id, hit.description, _body(text, path))
    skill = skill.replace(
        path="",
        slug=hit.id,
        source=hit.source,
        origin=None,
        description=skill.description or hit.description,
        install_count=hit.install_count,
        curated=hit.curated,
        references=references_in(package.files),
    )
    return FoundSkill(skill, hit, tuple(found_by), None, package, text, tuple(diagnostics))


def unhide(skill: Skill) -> Skill:
    """Return a skill as a search shows it, without the flags that hide skills."""
    return skill.replace(trigger=False, disable_model_invocation=False)


def _body(text: str, path: str) -> str:
    unified = unify_lines(text)
    try:
        return split(unified, path, DEFAULT_LIMITS).body
    except SkillError:
        return unified.strip()


def references_in(files: Mapping[str, bytes]) -> tuple[Reference, ...]:
    """Return the Markdown files beside a SKILL.md, sorted by path."""
    return tuple(
        Reference(
            path.rpartition("/")[2],
            path,
            files[path][: DEFAULT_LIMITS.resource_bytes].decode("utf-8", "replace"),
        )
        for path in sorted(files)
        if path != "SKILL.md" and path.lower().endswith(MARKDOWN)
    )


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
    ) -> shapes.SkillDocument:
        """Return the skill as a document shows it.

        ``refs.skills_sh`` and ``refs.github`` are strings, empty without an address, because
        Skyll's own client accepts nothing else.
        """
        skill, package, match = self.skill, self.package, self.match
        raw_url = "" if package is None else package.raw_url
        return shapes.SkillDocument(
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
    triggers = from_attributes(shapes.TriggersDocument, skill.triggers) if declared else None
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
    sources: tuple[shapes.SourceStatus, ...]
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

    def document(self, **texts: bool) -> shapes.SearchDocument:
        """Return ``skillyard.search/1``: Skyll's shape, with the status of each source.

        ``texts`` are the options of :meth:`FoundSkill.document`.
        """
        return shapes.SearchDocument(
            query=self.query,
            count=self.count,
            skills=tuple(each.document(**texts) for each in self.skills),
            ranker=self.ranker,
            floor=None if self.floor == float("-inf") else self.floor,
            abstained=self.abstained,
            considered=self.considered,
            partial=self.partial,
            sources=self.sources,
            note=self.note or None,
        )

    def to_dict(self, **texts: bool) -> dict[str, Any]:
        """Return the document as JSON."""
        encoded: dict[str, Any] = encode(self.document(**texts))
        return {**encoded, "skills": _encodable(encoded["skills"])}
