"""Renders skills as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import Block, Column, Span, Table, Text, line, place_of, table, titled
from skillyard.engine.context.listing import CUT, LEFT_OUT, NAME_ONLY, NOT_READ, WHOLE
from skillyard.engine.skill import SKILL_FIELDS

if TYPE_CHECKING:
    from skillyard.engine.operations.skill_details import CatalogCard, ListResult, ShowResult
    from skillyard.engine.skill import Skill, SkillField
    from skillyard.hosts.operations.prompts import HostSummary


def listing(result: ListResult) -> Iterator[Block]:
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
            where = place_of(item.path, item.line, item.column)
            yield line(f"{where}: ", code, Span(clean_line(item.message), "dim"))


def _cards(cards: Sequence[CatalogCard], scoped: bool) -> Table:
    """Return a row for each card. A narrow terminal drops the layout first, then the path."""
    scope = Column("scope", lambda card: card.skill.scope, drop=3)
    remarks = Column("remarks", _remarks, "warning", cut="end")
    return table(
        cards,
        Column("skill", lambda card: card.skill.name, "name", cut="end", least=24),
        Column("layout", lambda card: card.skill.origin or "-", "dim", drop=5, least=11),
        *([scope] if scoped else []),
        Column("tokens", lambda card: f"{card.tokens:,}", right=True, drop=1),
        Column(
            "tags", lambda card: ", ".join(card.skill.tags), "tag", wide=True, cut="end", drop=2
        ),
        *([remarks] if any(map(_remarks, cards)) else []),
        Column(
            "path", lambda card: card.skill.path, "dim", wide=True, cut="start", drop=4, least=20
        ),
    )


def _remarks(card: CatalogCard) -> str:
    marks = ["internal" if card.skill.internal else "hidden"] if card.skill.hidden else []
    marks += ["shadowed"] if card.shadowed_by is not None else []
    marks += [f"{len(card.places)} places"] if len(card.places) > 1 else []
    marks += ["lacks a requirement"] if card.lack else []
    others = card.remarks - (card.shadowed_by is not None)
    marks += [plural(others, "remark")] if others > 0 else []
    return ", ".join(marks)


def skill_blocks(result: ShowResult) -> Iterator[Block]:
    """Yield the blocks of one skill, or of the requested section."""
    part = result.section.lower() if result.section else None
    if part in (None, "card"):
        yield from _card(result.card)
    if part in (None, "outline") and result.outline:
        if part is None:
            yield from titled("outline")
        top = min(heading.level for heading in result.outline)
        for heading in result.outline:
            yield line(clean_line(heading.title), indent=2 * (heading.level - top + 1))
    if part in (None, "files") and result.files:
        if part is None:
            yield from titled("files")
        yield table(
            result.files,
            Column("path", lambda file: file.path),
            Column("kind", lambda file: file.kind, "dim"),
            Column("bytes", lambda file: f"{file.size:,}", right=True),
        )
        for each in result.diagnostics:
            yield line(Span(clean_line(f"{each.message}: {each.hint}"), "dim"), indent=2)
    if part not in ("card", "outline", "files"):
        if part is None:
            yield from titled("instructions")
            yield line()
        yield Text(result.body)
    for document in result.references:
        yield from titled(document.path)
        yield line()
        yield Text(document.text if document.text is not None else f"({document.error})")


def _card(card: CatalogCard) -> Iterator[Block]:
    skill = card.skill
    yield line(Span(skill.name, "name"), *([f"  {skill.title}"] if skill.title else []))
    yield line(clean_line(skill.description), indent=2)
    yield line()
    yield Table(
        (Column("field", style="dim"), Column("value", wide=True)), _facts(card), head=False
    )


def _facts(card: CatalogCard) -> list[list[Span | str]]:
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


_HOST_STYLES = {WHOLE: "high", CUT: "medium"}
_HOST_WORDS = {WHOLE: "whole", CUT: "cut", NAME_ONLY: "by name only", LEFT_OUT: "left out"}


def host_head(result: HostSummary) -> str:
    """Return one line: the host's budget, the size of the listing, and the outcome."""
    listing, unit = result.listing, result.listing.rule.unit
    own = f", {listing.own:,} of them for its own skills" if listing.own else ""
    room = f"{listing.needed:,} {unit} needed, {listing.budget or 0:,} allowed{own}"
    if listing.budget is None:
        room = f"no known budget, {listing.needed:,} {unit} needed"
    counts = {word: listing.count(state) for state, word in _HOST_WORDS.items()}
    counted = [f"{number:,} {word}" for word, number in counts.items() if number]
    return f"{listing.rule.title}: {room}; {', '.join(counted) or 'no skill is listed'}"


def host_table(result: HostSummary) -> Iterator[Block]:
    """Yield the listing of a host: each skill, its state, the shown part of its description."""
    listing, rule = result.listing, result.listing.rule
    yield line(host_head(result))
    if not listing.entries:
        return
    yield table(
        listing.entries,
        Column("skill", lambda entry: entry.skill.name, "name"),
        Column("state", lambda entry: Span(entry.state, _HOST_STYLES.get(entry.state, "low"))),
        Column("shown", lambda entry: f"{len(entry.text):,}/{entry.chars:,}", right=True),
        Column(
            "as the model reads it", lambda entry: entry.text or entry.why, wide=True, cut="end"
        ),
    )
    dropped = listing.count(CUT) + listing.count(NAME_ONLY) + listing.count(LEFT_OUT)
    if dropped and rule.by_use:
        yield line(Span("Which descriptions stay depends on use: the most used first.", "dim"))
    if dropped:
        count = plural(dropped, "skill")
        yield line(Span(f"{count} cut or dropped. To change it: {rule.remedy}.", "dim"))
    elif rule.refused_in_names and listing.count(NOT_READ):
        yield line(Span(f"To have a skill listed, give it {rule.remedy}.", "dim"))
    yield line(Span(f"Source: {rule.source}.", "dim"))
