"""Parse a skill from fetched files. The body is kept even when the frontmatter is invalid."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.agentskills import SkillText, parse_document
from skillyard.engine.formats.frontmatter import decode, split, unify_lines
from skillyard.engine.skill import Origin, Reference, Skill
from skillyard.install.sources.protocol import Hit, Package


class PackageContent(NamedTuple):
    """A parsed skill and the diagnostics of its files."""

    skill: Skill
    raw: str
    """The unchanged text of its SKILL.md."""
    diagnostics: tuple[Diagnostic, ...]


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


def read_package(hit: Hit, package: Package) -> PackageContent:
    """Parse the skill of a package. Never raises: faults become diagnostics.

    When the frontmatter cannot be read, name and description come from the sources and the body is
    kept.
    """
    path = f"{hit.source}/{hit.id}/SKILL.md"
    diagnostics: list[Diagnostic] = []
    data = package.files.get("SKILL.md", b"")
    try:
        text = decode(data, path)
    except SkillError as error:
        diagnostics.append(_diagnostic(error, path))
        text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    try:
        document = SkillText(path, hit.id, Origin.AGENTSKILLS)
        parsed = parse_document(document, text, strict=False)
        skill = parsed.skill
        diagnostics += parsed.diagnostics
    except SkillError as error:
        diagnostics.append(_diagnostic(error, path))
        skill = Skill(hit.name or hit.id, hit.description, _body(text, path))
    skill = skill.replace(
        path="",
        slug=hit.id,
        source=hit.source,
        origin=None,
        description=skill.description or hit.description,
        install_count=hit.install_count,
        curated=hit.curated,
        references=_references(package),
    )
    return PackageContent(skill, text, tuple(diagnostics))


def unhide(skill: Skill) -> Skill:
    """Return a skill as a search shows it, without the flags that hide skills."""
    return skill.replace(trigger=False, disable_model_invocation=False)


def own(skill: Skill) -> Skill:
    """Return the skill, or a copy when it contains mutable values."""
    metadata = skill.metadata
    plain = not metadata or all(isinstance(value, _PLAIN) for value in metadata.values())
    return skill if plain else type(skill)(**skill.fields())  # metadata is copied


_PLAIN = (str, int, float, type(None))
"""Immutable types of values."""


def _body(text: str, path: str) -> str:
    unified = unify_lines(text)
    try:
        return split(unified, path, DEFAULT_LIMITS).body
    except SkillError:
        return unified.strip()


def _diagnostic(error: SkillError, path: str) -> Diagnostic:
    return Diagnostic(
        error.code or "unreadable",
        "warning",
        path,
        error.message,
        error.hint,
        error.line,
        error.column,
    )


def _references(package: Package) -> tuple[Reference, ...]:
    paths = (path for path in sorted(package.files) if path != "SKILL.md")
    return tuple(
        Reference(
            path.rpartition("/")[2],
            path,
            package.files[path][: DEFAULT_LIMITS.resource_bytes].decode("utf-8", "replace"),
        )
        for path in paths
        if path.lower().endswith((".md", ".markdown", ".mdx"))
    )
