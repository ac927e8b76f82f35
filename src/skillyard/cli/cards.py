"""Renders skills as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import Block, Column, Span, Table, Text, line
from skillyard.engine.skill import SKILL_FIELDS

if TYPE_CHECKING:
    from skillyard.base.errors import Diagnostic
    from skillyard.base.shapes.library import Heading
    from skillyard.engine.operations.skill_details import Shown
    from skillyard.engine.operations.skill_listing import Card, Listing
    from skillyard.engine.resources import Resource
    from skillyard.engine.skill import Skill, SkillField


def listing(result: Listing) -> Iterator[Block]:
    """Yield a table of all skills, then the files that did not load and the other remarks."""
    if result.cards:
        scopes = {card.skill.scope for card in result.cards}
        yield _cards(result.cards, bool(scopes - {"project"}))
        tokens = sum(card.tokens for card in result.cards)
        counts = result.counts
        total = len(result.cards) + counts.copies
        part = f"{len(result.cards):,} shown of " if total != counts.files else ""
        yield line(Span(f"{part}{counts.words}, about {tokens:,} tokens", "dim"))
    errors = [each for each in result.diagnostics if each.severity == "error"]
    others = [each for each in result.diagnostics if each.severity != "error"]
    for title, style, items in (("did not load", "error", errors), ("remarks", "warning", others)):
        if items:
            yield line()
            yield line(Span(title, style))
        for item in items:
            code = Span(f"{item.code} " if items is others else "", "dim")
            yield line(f"{_where(item)}: ", code, Span(clean_line(item.message), "dim"))


def _cards(cards: Sequence[Card], scoped: bool) -> Table:
    """Return a row for each card. A narrow terminal drops the layout first, then the path."""
    remarked = any(map(_remarks, cards))
    columns = [Column("skill", "name", cut="end", least=18), Column("layout", "dim", drop=5)]
    columns += [Column("scope", drop=3)] if scoped else []
    columns += [Column("tokens", right=True, drop=1)]
    columns += [Column("tags", "tag", wide=True, cut="end", drop=2)]
    columns += [Column("remarks", "warning", cut="end")] if remarked else []
    columns += [Column("path", "dim", wide=True, cut="start", drop=4, least=18)]
    rows = []
    for card in cards:
        skill = card.skill
        row = [skill.name, skill.origin or "-", *([skill.scope] if scoped else [])]
        row += [f"{card.tokens:,}", ", ".join(skill.tags)]
        rows.append([*row, *([_remarks(card)] if remarked else []), skill.path])
    return Table(tuple(columns), rows)


def _remarks(card: Card) -> str:
    marks = ["internal" if card.skill.internal else "hidden"] if card.skill.hidden else []
    marks += ["shadowed"] if card.shadowed_by is not None else []
    marks += [f"{len(card.places)} places"] if len(card.places) > 1 else []
    marks += ["lacks a requirement"] if card.lack else []
    others = card.remarks - (card.shadowed_by is not None)
    marks += [plural(others, "remark")] if others > 0 else []
    return ", ".join(marks)


def _where(diagnostic: Diagnostic) -> str:
    path = clean_line(diagnostic.path)
    if diagnostic.line is None:
        return path
    return f"{path}:{diagnostic.line}" + (
        f":{diagnostic.column}" if diagnostic.column is not None else ""
    )


def skill_blocks(result: Shown) -> Iterator[Block]:
    """Yield the blocks of one skill, or of the requested section."""
    part = result.section.lower() if result.section else None
    if part in (None, "card"):
        yield from _card(result.card)
    if part in (None, "outline") and result.outline:
        yield from _outline(result.outline, part is None)
    if part in (None, "files") and result.files:
        yield from _files(result.files, part is None)
        for each in result.diagnostics:
            yield line(Span(clean_line(f"{each.message}: {each.hint}"), "dim"), indent=2)
    if part not in ("card", "outline", "files"):
        if part is None:
            yield line()
            yield line(Span("instructions", "head"))
            yield line()
        yield Text(result.body)
    for document in result.references:
        yield line()
        yield line(Span(document.path, "head"))
        yield line()
        yield Text(document.text if document.text is not None else f"({document.error})")


def _card(card: Card) -> Iterator[Block]:
    skill = card.skill
    yield line(Span(skill.name, "name"), *([f"  {skill.title}"] if skill.title else []))
    yield line(clean_line(skill.description), indent=2)
    yield line()
    yield Table((Column("field", "dim"), Column("value", wide=True)), _facts(card), head=False)


def _facts(card: Card) -> list[list[Span | str]]:
    """Return the rows of a card. Absent fields have no row."""
    skill = card.skill
    facts = {
        "path": skill.path,
        "also at": ", ".join(card.places[1:]),
        "id": skill.id,
        "slug": skill.slug if skill.slug != skill.name else "",
        "layout": f"{skill.origin or 'built in code'}, {skill.scope} scope",
        "tokens": f"about {card.tokens:,}",
        "tags": ", ".join(skill.tags),
        "keywords": ", ".join(skill.keywords),
        "file patterns": ", ".join(skill.triggers.files),
        "trigger keywords": ", ".join(skill.triggers.keywords),
        "trigger phrases": ", ".join(skill.triggers.phrases),
        "priority": str(skill.priority) if skill.priority else "",
        **{each.page.lower(): _fact(skill, each) for each in SKILL_FIELDS.values() if each.page},
        "hidden": f"yes: call it by @{skill.name}" if skill.hidden else "",
        "not chosen": card.lack,
        "shadowed by": card.shadowed_by,
        "remarks": f"{card.remarks:,}: skillyard check says which" if card.remarks else "",
    }
    return [[label, value] for label, value in facts.items() if value]


def _fact(skill: Skill, each: SkillField) -> str:
    value = getattr(skill, each.name)
    if isinstance(value, tuple):
        return ("; " if each.name == "safety_notes" else ", ").join(value)
    return str(value or "")


def _outline(outline: Sequence[Heading], titled: bool) -> Iterator[Block]:
    if titled:
        yield line()
        yield line(Span("outline", "head"))
    top = min(heading.level for heading in outline)
    for heading in outline:
        yield line(clean_line(heading.title), indent=2 * (heading.level - top + 1))


def _files(files: Sequence[Resource], titled: bool) -> Iterator[Block]:
    if titled:
        yield line()
        yield line(Span("files", "head"))
    columns = (Column("path"), Column("kind", "dim"), Column("bytes", right=True))
    yield Table(columns, [[file.path, file.kind, f"{file.size:,}"] for file in files])
