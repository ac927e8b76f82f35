"""Renders the results of ranking and selection as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural, shorten
from skillyard.cli.blocks import Block, Column, Line, Span, Table, Tree, line, table, titled

if TYPE_CHECKING:
    from skillyard.engine.operations.skill_explanation import HigherMatch, WhyResult
    from skillyard.engine.ranking.match import Match
    from skillyard.engine.ranking.scorer import Explanation
    from skillyard.hosts.operations.skill_selection import RankResult, SelectResult

DESCRIPTION_CHARS = 160
_LEVEL_STYLES = {"high": "high", "specific": "high", "medium": "medium", "broad": "medium"}


def _level(match: Match) -> Span:
    level = match.level or ""
    return Span(level, _LEVEL_STYLES.get(level, "low"))


def _score(match: Match) -> str:
    return f"{match.score:.2f}"


def ranking(result: RankResult) -> Iterator[Block]:
    """Yield a ranking: rank, name, score, level and reason, then the requested score trees."""
    counts = result.counts
    left_out = f"; {counts.left_out}" if counts.left_out else ""
    if not counts.files:
        yield line("There are no skills to rank.")
        return
    if not result.total:
        among = f" ({result.scorer}, {plural(counts.skills, 'skill')}{left_out})."
        yield line("No skill has a score", Span(among, "dim"))
        return
    yield _ranks(result.matches, result.total > 0 and any(match.level for match in result.matches))
    count = len(result.matches)
    counted = f"{result.total - result.conventions:,} of {plural(counts.skills, 'skill')}"
    if result.conventions:
        counted += f" and {plural(result.conventions, 'convention document')}"
    first = f", the first {count:,} shown" if count < result.total else ""
    yield line(Span(f"{counted} with a score{first}{left_out}; by {result.scorer}", "dim"))
    if result.explain:
        for match in result.matches:
            yield line()
            yield line(Span(match.skill.name, "name"), Span(f"  {match.skill.path}", "dim"))
            yield tree(match.explanation)


def _ranks(matches: Sequence[Match], levels: bool) -> Table:
    level = Column("level", lambda row: _level(row[1]))
    return table(
        enumerate(matches, 1),
        Column("#", lambda row: str(row[0]), "dim", right=True),
        Column("skill", lambda row: row[1].skill.name, "name"),
        Column("score", lambda row: _score(row[1]), "score", right=True),
        *([level] if levels else []),
        Column("why", lambda row: _lack(row[1]) + row[1].reason, wide=True),
    )


def _lack(match: Match) -> str:
    lack = match.rejected_because and f"cannot be chosen: {match.rejected_because}"
    lack = lack or (unchecked(match.unchecked_tools) if match.unchecked_tools else "")
    return lack and f"{lack}; "


_SIGNALS = {"order": "reranking", "avoid": "exclusion", "prior": "popularity"}
"""What a signal is called for people, where its name in documents is another."""


def tree(node: Explanation, signals: Mapping[str, str] = {}) -> Tree:
    """Return an explanation as a tree: value, label and note of every node."""
    name, note = signals.get(node.label, node.label), clean_line(node.note)
    label = line(Span(f"{node.value:.4g}", "score"), f"  {name}")
    if note:
        label = Line((*label.spans, Span(f"  {note}", "dim")))
    below = _SIGNALS if node.label == "points" else {}
    return Tree(label, tuple(tree(part, below) for part in node.parts))


def selection(result: SelectResult) -> Iterator[Block]:
    """Yield a selection: the reason, the rejected skills, and the question when it is close."""
    chosen = result.selection
    if not result.counts.files:
        yield line("There are no skills to choose from.")
        return
    if chosen.abstained:
        yield from _abstention(result)
    for match in chosen.selected:
        yield from _choice(match, result)
    if result.question:
        yield line()
        # The question is Markdown, for a chat; a terminal would show the asterisks.
        yield line(Span(result.question.replace("**", ""), "warning"))
    if chosen.rejected:
        reasons = {match.rejected_because for match in chosen.rejected}
        common = f": {reasons.pop()}" if len(reasons) == 1 else ""
        yield from titled(f"not chosen{clean_line(common)}")
        yield _others(chosen.rejected, bool(reasons))
    yield line()
    looked = [plural(chosen.considered, "candidate")] if chosen.considered else []
    looked += [result.counts.words] if result.counts.left_out or not looked else []
    yield line(Span(f"{' among '.join(looked)}; by {chosen.scorer}", "dim"))


def _abstention(result: SelectResult) -> Iterator[Block]:
    hidden, maybe = result.selection.left_to_user, result.selection.maybe
    if hidden is not None and result.top_k:
        call = Span(clean_line(f"@{hidden.name}"), "name")
        yield line(Span("What fits best is left to you:", "head"), " call it by ", call, ".")
        return
    if maybe:
        from skillyard.engine.selection import labels

        shown = labels([match.skill for match in maybe])
        names = ", ".join(
            f"{name}{place} {_score(match)}"
            for match, (name, place) in zip(maybe, shown, strict=True)
        )
        yield line(Span("No skill surely fits:", "head"), f" none reaches {result.min_score:.3g}.")
        yield line(Span("perhaps: ", "warning"), clean_line(names))
        return
    best = result.selection.rejected[0] if result.selection.rejected else None
    if result.top_k == 0:
        yield line(Span("Nothing was chosen: --top-k is 0.", "head"))
    elif best is None:
        yield line(Span("No skill fits:", "head"), " none has anything in common with the request.")
    else:
        can, is_, why = "can be used", " is ", f"; {clean_line(best.rejected_because)}."
        if best.score < result.min_score:
            can, is_ = "fits", ", "
            why = f", scores {_score(best)}, below the floor of {result.min_score:.3g}."
        yield line(
            Span(f"No skill {can}:", "head"), " the best", is_, Span(best.skill.name, "name"), why
        )


def _choice(match: Match, result: SelectResult) -> Iterator[Block]:
    name, score = Span(match.skill.name, "name"), Span(f"  {_score(match)} ", "score")
    yield line(name, score, _level(match))
    yield line(shorten(match.skill.description, DESCRIPTION_CHARS), indent=2)
    if result.selection.fallback:
        yield _fact("why", "nothing passed the floor; it is the generalist that was asked for")
    else:
        yield _fact("why", match.reason)
    yield _fact("path", match.skill.path)
    if match.variants:
        yield _fact("also at", ", ".join(each.path for each in match.variants))
    if match.required:
        yield _fact("needs", ", ".join(skill.name for skill in match.required))
    if match.unchecked_tools:
        yield _fact("tools", unchecked(match.unchecked_tools))
    if result.explain:
        yield tree(match.explanation)


def unchecked(tools: Iterable[str]) -> str:
    """Return that a skill needs tools that were not checked, and what to do."""
    return f"needs {', '.join(tools)}, which was not checked: name your tools with --tool"


def _fact(label: str, text: str) -> Line:
    return line(Span(f"{label:<6}", "dim"), clean_line(text), indent=2)


def _others(matches: Sequence[Match], reasons: bool) -> Table:
    why_not = Column("why not", lambda match: match.rejected_because, "dim", wide=True)
    return table(
        matches,
        Column("skill", lambda match: match.skill.name, "name"),
        Column("score", _score, "score", right=True),
        *([why_not] if reasons else []),
        Column("what matched", lambda match: match.reason, wide=True),
        head=False,
    )


def reasons(result: WhyResult, *, trees: bool = False) -> Iterator[Block]:
    """Yield the explanation of a skill's rank: three sentences, then the skills that rank higher.

    ``trees`` adds the score trees of the skill and of those before it.
    """
    match = result.match
    yield line(Span(match.skill.name, "name"), Span(f"  {clean_line(match.skill.path)}", "dim"))
    yield line()
    for sentence in result.sentences:
        yield line(sentence)
    if trees:
        yield line()
        yield tree(match.explanation)
    if result.ahead:
        left = result.before - len(result.ahead)
        yield from titled("what ranks higher" + (f" (and {left:,} more)" if left else ""))
        yield _ahead(result.ahead)
        for other in result.ahead if trees else ():
            yield line()
            yield line(Span(other.match.skill.name, "name"))
            yield tree(other.match.explanation)
    if result.advice:
        yield from titled("hints")
        for hint in result.advice:
            yield line("- ", clean_line(hint), indent=2)
    if not trees:
        yield line()
        yield line(Span("--explain shows how the score is computed", "dim"))


def _ahead(others: Sequence[HigherMatch]) -> Table:
    return table(
        others,
        Column("#", lambda other: str(other.rank), "dim", right=True),
        Column("skill", lambda other: other.match.skill.name, "name"),
        Column("score", lambda other: _score(other.match), "score", right=True),
        Column("points ahead", _reasons_of, wide=True),
    )


def _reasons_of(other: HigherMatch) -> str:
    leads = ((_SIGNALS.get(each.signal, each.signal), each.lead) for each in other.signals)
    by = [f"{name} {lead:+.2f}" for name, lead in leads if lead >= 0.005]
    return ", ".join([*by, other.because] if other.because else by)
