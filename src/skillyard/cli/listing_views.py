"""Renders the listing of a host as blocks: its size, and the state of each skill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.engine.context.listing import CUT, LEFT_OUT, NAME_ONLY, NOT_READ, WHOLE

if TYPE_CHECKING:
    from skillyard.engine.context.listing import HostListing, ListingEntry
    from skillyard.hosts.operations.prompts import HostSummary

_STYLES = {WHOLE: "high", CUT: "medium"}
_WORDS = ((WHOLE, "whole"), (CUT, "cut"), (NAME_ONLY, "by name only"), (LEFT_OUT, "left out"))


def host_head(result: HostSummary) -> str:
    """Return one line: the host's budget, the size of the listing, and the outcome."""
    listing = result.listing
    counted = [f"{listing.count(state):,} {word}" for state, word in _WORDS if listing.count(state)]
    return f"{listing.rule.title}: {_room(listing)}; {', '.join(counted) or 'no skill is listed'}"


def _room(listing: HostListing) -> str:
    unit = listing.rule.unit
    if listing.budget is None:
        return f"no known budget, {listing.needed:,} {unit} needed"
    own = f", {listing.own:,} of them for its own skills" if listing.own else ""
    return f"{listing.needed:,} {unit} needed, {listing.budget:,} allowed{own}"


def host_table(result: HostSummary) -> Iterator[Block]:
    """Yield the listing: each skill with its state and the shown part of its description."""
    listing = result.listing
    yield line(host_head(result))
    if not listing.entries:
        return
    yield Table(
        (
            Column("skill", "name"),
            Column("state"),
            Column("shown", right=True),
            Column("as the model reads it", wide=True, cut="end"),
        ),
        [_row(entry) for entry in listing.entries],
    )
    yield from _remarks(result)


def _row(entry: ListingEntry) -> list[Span | str]:
    state = Span(entry.state, _STYLES.get(entry.state, "low"))
    length = f"{len(entry.text):,}/{entry.chars:,}"
    return [entry.skill.name, state, length, entry.text or entry.why]


def _remarks(result: HostSummary) -> Iterator[Block]:
    listing = result.listing
    rule = listing.rule
    dropped = listing.count(CUT) + listing.count(NAME_ONLY) + listing.count(LEFT_OUT)
    if dropped and result.by == "order" and not result.fit and rule.by_use:
        yield line(Span("Which descriptions stay depends on use; --use says what was used.", "dim"))
    if dropped:
        count = plural(dropped, "skill")
        yield line(Span(f"{count} cut or dropped. To change it: {rule.remedy}; or --fit.", "dim"))
    elif rule.refused_in_names and listing.count(NOT_READ):
        yield line(Span(f"To have a skill listed, give it {rule.remedy}.", "dim"))
    yield line(Span(f"Source: {rule.source}.", "dim"))
