"""The skills of a catalog as cards, and one skill in detail, or one part of it."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput, SkillError
from skillyard.base.shapes import library as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.library import Heading, ReferenceDocument
from skillyard.base.shapes.skills import TriggersDocument
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.resources import Resource, ResourceListing, read_resource, resources_of
from skillyard.engine.skill import SKILL_FIELDS, Skill


class CatalogCard(NamedTuple):
    """What is to know about one skill without its instructions."""

    skill: Skill
    tokens: int
    """Estimated tokens of the instructions."""
    remarks: int
    """How many diagnostics concern its file."""
    shadowed_by: str | None
    """Path of the skill of the same name that goes first, or None."""
    places: tuple[str, ...]
    """Paths of the skill: its own first, then those of its copies and variants."""
    lack: str = ""
    """Why it is not chosen here, whatever the request; empty where its requirements are met."""

    def document(self) -> dict[str, Any]:
        """Return the shape of a card, and what else the skill has of the table of fields."""
        skill = self.skill
        shape = from_attributes(
            shapes.Card,
            skill,
            places=self.places,
            layout=skill.origin,
            triggers=from_attributes(TriggersDocument, skill.triggers),
            tokens=self.tokens,
            shadowed_by=self.shadowed_by,
            remarks=self.remarks,
            lack=self.lack,
        )
        further = {
            each.name: each.encode(value)
            for each in _FURTHER
            if (value := getattr(skill, each.name)) != each.default
        }
        members: dict[str, Any] = encode(shape)
        return members | further


_FURTHER = tuple(
    each
    for each in SKILL_FIELDS.values()
    if each.wire and each.name not in {*shapes.Card.__dataclass_fields__, "origin"}
)
"""The fields that follow the members of the shape; ``origin`` is its ``layout``."""


class ListResult(NamedTuple):
    """Every skill and convention document, and everything that was remarked."""

    roots: tuple[str, ...]
    cards: tuple[CatalogCard, ...]
    """One for each skill: copies and variants are places of the one that wins."""
    diagnostics: tuple[Diagnostic, ...]
    counts: SkillCounts
    """Of the whole catalog, whatever part of it is listed."""

    def document(self) -> shapes.Listing:
        """Return ``skillyard.list/1``."""
        return shapes.Listing(
            skills=tuple(card.document() for card in self.cards),
            counts=self.counts.document(),
            diagnostics=tuple(each.document() for each in self.diagnostics),
        )


def card(catalog: Catalog, skill: Skill) -> CatalogCard:
    """Return the card of one skill of the catalog."""
    remarks = sum(each.path == skill.path for each in catalog.diagnostics)
    return _card(
        catalog, skill, remarks, catalog.shadowed.get(skill), RequirementChecker(catalog.named)
    )


def list_skills(catalog: Catalog, *, tags: tuple[str, ...] = ()) -> ListResult:
    """Return the cards of all skills, or of those with one of the tags.

    Shadowed skills and convention documents are among them, copies and variants are not.
    """
    remarks = Counter(each.path for each in catalog.diagnostics)
    shadowed = catalog.shadowed
    checker = RequirementChecker(catalog.named)
    cards = tuple(
        _card(catalog, skill, remarks[skill.path], shadowed.get(skill), checker)
        for skill in catalog
        if skill.path not in catalog.further and (not tags or has_tag(skill, tags))
    )
    return ListResult(catalog.roots, cards, catalog.diagnostics, catalog.counts)


def _card(
    catalog: Catalog,
    skill: Skill,
    remarks: int,
    winner: Skill | None,
    checker: RequirementChecker,
) -> CatalogCard:
    tokens = estimate_tokens(skill.body or "")
    shadowed_by = winner.path if winner is not None else None
    places = catalog.places(skill)
    return CatalogCard(skill, tokens, remarks, shadowed_by, places, checker.lack(skill))


PARTS = ("card", "outline", "body", "files")
"""The parts of a skill; any other section is a heading of its instructions."""
_DEEPEST = 6


class ShowResult(NamedTuple):
    """One skill. ``section`` says which part was asked for; None is all of it."""

    card: CatalogCard
    section: str | None
    outline: tuple[Heading, ...]
    body: str
    """The instructions, or the one section of them; untrusted text, clean it to print."""
    files: tuple[Resource, ...]
    references: tuple[ReferenceDocument, ...]
    """Filled when references were asked for."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is to be said about the files."""

    def document(self) -> shapes.Shown:
        """Return ``skillyard.show/1``."""
        return shapes.Shown(
            section=self.section,
            skill=self.card.document(),
            outline=self.outline,
            body=self.body,
            files=tuple(from_attributes(shapes.File, file) for file in self.files),
            references=self.references,
            diagnostics=tuple(each.document() for each in self.diagnostics),
        )


def show_skill(
    catalog: Catalog, name: str, *, section: str | None = None, references: bool = False
) -> ShowResult:
    """Return one skill by name, id or slug, with its outline, its text and its files.

    ``section`` is one of :data:`PARTS` or a heading of the instructions, in any case, whole or the
    beginning of it. ``references`` reads the documents beside the skill. Raises SkillNotFound,
    AmbiguousName, and InvalidInput (listing the headings) for a section that is not there.
    """
    skill = catalog.get(name)
    body = skill.body or ""
    outline = headings(body)
    if section is not None and section.lower() not in PARTS:
        body = _section(body, outline, section)
    files = _files(skill)
    documents = (
        tuple(_document(skill, item.path) for item in skill.references) if references else ()
    )
    shown, listed = card(catalog, skill), files.resources
    return ShowResult(shown, section, outline, body, listed, documents, files.diagnostics)


def headings(body: str) -> tuple[Heading, ...]:
    """Return the ``#`` headings of a Markdown text outside code fences, in one pass."""
    outline: list[Heading] = []
    fence = ""
    for number, line in enumerate(body.split("\n"), 1):
        text = line.strip()
        if fence:
            # A fence is closed by a run of its own sign that is at least as long, and nothing else.
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif text.startswith(("```", "~~~")):
            fence = text[: len(text) - len(text.lstrip(text[0]))]
        elif line.startswith("#"):
            heading = _heading(number, line)
            if heading is not None:
                outline.append(heading)
    return tuple(outline)


def _heading(number: int, line: str) -> Heading | None:
    title = line.lstrip("#")
    level = len(line) - len(title)
    if level > _DEEPEST or not title.startswith((" ", "\t")) or not title.strip():
        return None
    return Heading(line=number, level=level, title=title.strip().rstrip("#").rstrip())


def _section(body: str, outline: tuple[Heading, ...], wanted: str) -> str:
    """Return one section with its heading and its sub-sections."""
    folded = wanted.strip().lstrip("#").strip().casefold()
    titles = [heading.title.casefold() for heading in outline]
    place = next((n for n, title in enumerate(titles) if title == folded), None)
    if place is None:
        place = next(
            (n for n, title in enumerate(titles) if folded and title.startswith(folded)), None
        )
    if place is None:
        known = ", ".join(heading.title for heading in outline) or "none"
        parts = ", ".join(PARTS)
        raise InvalidInput(
            f"no section {wanted!r}; the headings are: {known}; the parts are: {parts}"
        )
    start = outline[place]
    later = (h.line for h in outline[place + 1 :] if h.level <= start.level)
    lines = body.split("\n")
    end = next(later, len(lines) + 1)
    return "\n".join(lines[start.line - 1 : end - 1]).rstrip("\n")


def _files(skill: Skill) -> ResourceListing:
    try:
        return resources_of(skill)
    except (SkillError, OSError):  # a single document, or a folder that went away
        return ResourceListing((), ())


def _document(skill: Skill, path: str) -> ReferenceDocument:
    try:
        return ReferenceDocument(path=path, text=read_resource(skill, path).decode("utf-8"))
    except (SkillError, OSError) as error:
        return ReferenceDocument(path=path, text=None, error=getattr(error, "message", str(error)))
    except UnicodeDecodeError:
        return ReferenceDocument(path=path, text=None, error="not UTF-8 text")
