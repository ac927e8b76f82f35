"""From the files of a skill to the skill. A body is never lost, whatever stands before it."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.errors import Diagnostic, SkillError
from skillyard.formats.agentskills import Document, parse_document
from skillyard.formats.frontmatter import decode, split, unify_lines
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Origin, Reference, Skill
from skillyard.sources.protocol import Hit, Package

__all__ = ["Content", "pointer", "read_package"]


class Content(NamedTuple):
    """A skill that was read, and what was noticed on the way."""

    skill: Skill
    raw: str
    """The text of its SKILL.md as it came."""
    diagnostics: tuple[Diagnostic, ...]


def pointer(hit: Hit) -> Skill:
    """Return a skill without content: what the sources say of it."""
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


def read_package(hit: Hit, package: Package, limits: Limits = DEFAULT_LIMITS) -> Content:
    """Return the skill of a package. Never raises: what cannot be read is said.

    Where the frontmatter cannot be read, the name and description are what the sources say, and
    the body is kept.
    """
    shown = f"{hit.source}/{hit.id}/SKILL.md"
    diagnostics: list[Diagnostic] = []
    data = package.files.get("SKILL.md", b"")
    try:
        text = decode(data, shown)
    except SkillError as error:
        diagnostics.append(_said(error, shown))
        text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    try:
        document = Document(shown, hit.id, Origin.AGENTSKILLS)
        parsed = parse_document(document, text, strict=False, limits=limits)
        skill = parsed.skill
        diagnostics += parsed.diagnostics
    except SkillError as error:
        diagnostics.append(_said(error, shown))
        skill = Skill(hit.name or hit.id, hit.description, _body(text, shown, limits))
    skill = skill.replace(
        path="",
        slug=hit.id,
        source=hit.source,
        origin=None,
        description=skill.description or hit.description,
        install_count=hit.install_count,
        curated=hit.curated,
        references=_references(package, limits),
    )
    return Content(skill, text, tuple(diagnostics))


def _body(text: str, shown: str, limits: Limits) -> str:
    unified = unify_lines(text)
    try:
        return split(unified, shown, limits).body
    except SkillError:
        return unified.strip()


def _said(error: SkillError, path: str) -> Diagnostic:
    return Diagnostic(
        error.code or "unreadable",
        "warning",
        path,
        error.message,
        error.hint,
        error.line,
        error.column,
    )


def _references(package: Package, limits: Limits) -> tuple[Reference, ...]:
    return tuple(
        Reference(
            path.rpartition("/")[2],
            path,
            package.files[path][: limits.resource_bytes].decode("utf-8", "replace"),
        )
        for path in sorted(package.files)
        if path != "SKILL.md" and path.lower().endswith((".md", ".markdown", ".mdx"))
    )
