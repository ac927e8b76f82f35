"""Renders skills from remote sources as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural, shorten
from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.cli.installation_views import signature_lines
from skillyard.cli.views import tree
from skillyard.install.sources.registry import LOCAL

if TYPE_CHECKING:
    from skillyard.install.operations.add import Installation
    from skillyard.install.search import FoundSkill, SearchResult

DESCRIPTION_CHARS = 90


def found_skills(
    result: SearchResult, *, explain: bool = False, empty: bool = False
) -> Iterator[Block]:
    """Yield the result of a search: a table, the outcome of each source, and requested score trees.

    ``empty`` says that the only queried source has no skills.
    """
    if empty and not result.failed:
        yield line("There are no skills to search.")
        return
    if result.failed:
        yield line("No source answered, so nothing was searched")
    elif not result.skills:
        yield line("No skill was found")
    else:
        if result.abstained:
            score = f"{result.skills[0].score:.2f}"
            best = f"the best scores {score}, below the floor of {result.floor:.3g}"
            yield line(Span("No skill surely fits:", "head"), f" {best}.")
        yield _table(result)
    sources = ", ".join(
        f"{status.name} {status.found if status.state == 'ok' else 'failed'}"
        for status in result.sources
    )
    considered = plural(result.considered, "skill")
    note = "; no remote asked" if all(each.name == LOCAL for each in result.sources) else ""
    yield line(Span(f"{considered} from {sources}{note}; ranked by {result.ranker}", "dim"))
    if explain:
        for each in result.skills:
            if each.match is not None:
                yield line()
                yield line(Span(f"{each.hit.source}/{each.hit.id}", "name"))
                yield tree(each.match.explanation)


def _table(result: SearchResult) -> Table:
    decimals = 2 if max(each.score for each in result.skills) <= 1.0 else 1  # a probability, points
    columns = [
        Column("#", "dim", right=True),
        Column("skill", "name"),
        Column("score", "score", True),
        Column("installs", right=True),
        Column("from"),
        Column("what it does"),
    ]
    return Table(
        tuple(columns),
        tuple(
            (
                str(place),
                clean_line(f"{each.hit.source}/{each.hit.id}"),
                f"{each.score:.{decimals}f}",
                f"{each.hit.install_count:,}" if each.hit.install_count else "",
                clean_line(", ".join(each.found_by)),
                _description(each),
            )
            for place, each in enumerate(result.skills, 1)
        ),
    )


def _description(each: FoundSkill) -> str:
    marks = [
        "curated" if each.hit.curated else "",
        _age(each),
        f"no content: {each.failure.code}" if each.failure is not None else "",
    ]
    prefix = "; ".join(mark for mark in marks if mark)
    description = shorten(clean_line(each.skill.description), DESCRIPTION_CHARS)
    return f"[{prefix}] {description}" if prefix else description


def _age(each: FoundSkill) -> str:
    seconds = each.package.age_s if each.package is not None else 0.0
    if seconds < 60:
        return ""
    minutes = seconds / 60
    return f"{minutes:.0f} min old" if minutes < 120 else f"{minutes / 60:.0f} h old"


_DONE = {
    "added": "added",
    "replaced": "updated",
    "unchanged": "is there already",
    "linked": "linked",
}
_WOULD = {
    "added": "would be added",
    "replaced": "would be updated",
    "unchanged": "is there already",
    "linked": "would be linked",
}


def added_skill(added: Installation) -> Iterator[Block]:
    """Yield the files that were written for a skill."""
    placed = added.placed
    assert placed is not None
    verbs = _WOULD if added.dry_run else _DONE
    name = clean_line(added.fetched.skill.name)
    yield line(Span(name, "name"), f"  {verbs[placed.state]}: {clean_line(placed.folder)}")
    for copy in added.copies:
        yield line(f"{verbs[copy.state]}: {clean_line(copy.folder)}", indent=1)
    for link in added.links:
        yield line(f"{verbs['linked']}: {clean_line(link)}", indent=1)
    pinned = f"commit {added.package.commit[:12]}" if added.package.commit else "no commit"
    yield line(
        Span(f"{plural(len(placed.files), 'file')}, {pinned}, {placed.digest[:19]}…", "dim"),
        indent=1,
    )
    for path in placed.files:
        yield line(clean_line(path), indent=1)
    for skipped in added.package.skipped:
        yield line(Span("left out", "low"), f"  {clean_line(skipped)}", indent=1)
    for other in added.look_alikes:
        yield line(Span("looks like", "medium"), f"  {clean_line(other)}", indent=1)
    yield from signature_lines(added.signature.document())
    for each in added.findings:
        place = clean_line(f"{each.path}:{each.line}")
        yield line(
            Span(each.severity, "warning"), f"  {place}: {each.rule} {each.message}", indent=1
        )
    if added.installed is not None:
        state = "for this user" if added.lock else "left as it is"
        yield line(Span(state, "medium"), f"  {clean_line(added.installed.message)}", indent=1)
    for note in added.package.notes:
        yield line(Span("note", "medium"), f"  {clean_line(note)}", indent=1)
    if added.dry_run:
        yield line(Span("nothing was written", "dim"), indent=1)
    elif added.lock:
        yield line(Span(f"noted in {clean_line(added.lock)}", "dim"), indent=1)
