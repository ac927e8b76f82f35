"""The page at ``/``: the search form, the results with reasons, and the status of each source."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import isfinite
from typing import NamedTuple

from skillyard.base.text import plural
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.ranking.match import Match
from skillyard.engine.skill import Skill
from skillyard.hosts.operations.skill_selection import SelectResult
from skillyard.install.search import SearchResult
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.web.addresses import local_address, place_of, search_address
from skillyard.serve.web.rendering import render, text_of
from skillyard.serve.web.words import reason_words, scale_of, score_words

HOME_SKILLS = 24
"""Number of skills that are visible at once on the page without a search."""
MAX_NAMES = 1_000
"""Number of skills that it names; those after the first are folded."""
LIMIT = 10
"""The default number of skills."""
LIMITS = (5, 10, 20, 50)
FITS, PERHAPS = "fits", "perhaps"


class Question(NamedTuple):
    """The submitted request."""

    text: str = ""
    sources: tuple[str, ...] = ()
    """The chosen sources; empty for all."""
    scorer: str = ""
    """Empty for the one of the offer."""
    limit: int = 0
    """0 for the default number."""
    live: bool = False
    """True while a person types: then only the service's own catalog is queried."""

    @property
    def number(self) -> int:
        """The number of skills to show."""
        return self.limit or LIMIT

    @property
    def address(self) -> str:
        """The address of its results, which may be too long to be used."""
        return search_address(
            self.text, sources=self.sources, scorer=self.scorer, limit=self.limit or None
        )


class SearchOffer(NamedTuple):
    """The choices of the form."""

    sources: tuple[str, ...]
    scorers: tuple[str, ...]
    scorer: str
    """The scorer that ranks without a choice."""

    def limits(self, question: Question) -> list[int]:
        """Return the numbers of skills that can be chosen."""
        return sorted({*LIMITS, question.number})


def home_page(
    offer: SearchOffer,
    question: Question,
    counts: SkillCounts,
    skills: Iterable[Skill],
    broken: int,
) -> bytes:
    """Return the page without a search, with the names of the skills that can be chosen.

    ``broken`` is the number of errors in the files of skills that did not load.
    """
    listed = (skill for skill in skills if not skill.hidden and local_address(skill.id))
    names = list(islice(listed, MAX_NAMES))
    return render(
        "home.html",
        offer=offer,
        question=question,
        counts=counts,
        first=names[:HOME_SKILLS],
        more=names[HOME_SKILLS:],
        broken=broken,
    )


def results_page(
    offer: SearchOffer, question: Question, result: SearchResult, selected: SelectResult | None
) -> bytes:
    """Return the page of a search; ``selected`` is the selection of the catalog."""
    floor = selected.min_score if selected is not None else result.floor
    marks = _marks(selected)
    cards, above = [], []
    for place, found in enumerate(result.skills, 1):
        mark = marks.get(found.skill.path, "") if place_of(found.hit) == LOCAL else ""
        cards.append((place, found, mark))
        above.append(found.match is not None and found.score >= floor)
    verdict = None
    if selected is not None:
        elsewhere = sum(
            high and place_of(found.hit) != LOCAL
            for (_, found, _), high in zip(cards, above, strict=True)
        )
        verdict = verdict_of(selected, question.text, question.scorer, elsewhere)
        if verdict.kind == "maybe":
            above = [mark == PERHAPS for _, _, mark in cards]
    first = [card for card, high in zip(cards, above, strict=True) if high]
    rest = [card for card, high in zip(cards, above, strict=True) if not high]
    if verdict is None and not first:
        first, rest = rest, []
    return render(
        "results.html",
        offer=offer,
        question=question,
        result=result,
        scale=scale_of(result.ranker),
        floor=floor,
        below="These fit less well" if isfinite(floor) else "The rest",
        verdict=verdict,
        first=first,
        rest=rest,
    )


def _marks(selected: SelectResult | None) -> dict[str, str]:
    """Return the role of the catalog's skills in a selection, by path."""
    if selected is None:
        return {}
    chosen = selected.selection
    marks = {match.skill.path: PERHAPS for match in chosen.maybe}
    return marks | {match.skill.path: FITS for match in chosen.selected}


class NamedSkill(NamedTuple):
    """A skill in the heading."""

    name: str
    address: str | None
    score: str = ""


class Verdict(NamedTuple):
    """A selection, a question or an abstention, in words."""

    kind: str
    """``fits``, ``maybe``, ``elsewhere`` (only remote skills fit) or ``none``."""
    title: str
    """A short form, for the window's title."""
    heading: str
    sentences: tuple[str, ...]
    """The paragraphs below the heading."""
    skills: tuple[NamedSkill, ...] = ()
    """The skills that the heading names at its end."""


def verdict_of(selected: SelectResult, query: str, scorer: str = "", elsewhere: int = 0) -> Verdict:
    """Return the verdict of a selection among the skills of the catalog.

    ``elsewhere`` is the number of remote skills that reach the floor. ``query`` and ``scorer`` are
    added to the addresses of the named skills.
    """
    verdict = _verdict(selected, query, scorer, elsewhere)
    if not selected.note:
        return verdict
    return verdict._replace(sentences=(*verdict.sentences, selected.note))


def _verdict(selected: SelectResult, query: str, scorer: str, elsewhere: int) -> Verdict:
    chosen = selected.selection
    if chosen.selected:
        return _fits(selected, query, scorer)
    if elsewhere:
        fit = f"{plural(elsewhere, 'skill')} from elsewhere {'fits' if elsewhere == 1 else 'fit'}"
        takes = (
            f"It takes {selected.min_score:.3g} to be chosen. No skill of this catalog has that."
        )
        return Verdict("elsewhere", fit, fit, (takes,))
    if chosen.maybe:
        return _maybe(selected, query, scorer)
    return Verdict("none", "No skill fits", "No skill fits this request", (_why_none(selected),))


def _fits(selected: SelectResult, query: str, scorer: str) -> Verdict:
    chosen = selected.selection.selected
    several, first = len(chosen) > 1, chosen[0]
    title = f"Fits: {text_of(first.skill.name, 60)}"
    if several:
        title = f"{title} and {len(chosen) - 1:,} more"
    reasons = reason_words(first.reason)
    score = f"scores {score_words(first.score)}, where {selected.min_score:.3g} is enough"
    words = f"{'The first' if several else 'It'} {score}"
    sentence = f"{words}: {reasons}." if reasons else f"{words}."
    return Verdict(
        "fits",
        title,
        "These fit: " if several else "Fits: ",
        (sentence, selected.question.replace("**", "")) if selected.question else (sentence,),
        tuple(_named(match, query, scorer) for match in chosen),
    )


def _maybe(selected: SelectResult, query: str, scorer: str) -> Verdict:
    near = selected.selection.maybe
    meant = "Is it what you mean?" if len(near) == 1 else "Is one of them what you mean?"
    rest = "It comes near, but stays" if len(near) == 1 else "They come near, but stay"
    return Verdict(
        "maybe",
        f"Perhaps: {text_of(near[0].skill.name, 60)}",
        "Perhaps: ",
        (f"{meant} {rest} under the {selected.min_score:.3g} that a choice takes.",),
        tuple(_named(each, query, scorer)._replace(score=score_words(each.score)) for each in near),
    )


def _why_none(selected: SelectResult) -> str:
    chosen = selected.selection
    if selected.query.empty:
        return "There is nothing in the request to go by."
    if not selected.counts.skills:
        return "There are no skills in this library."
    among = selected.counts.selectable
    if not chosen.rejected:
        if not among:
            return "The skills here are taken only when they are called by name."
        return f"None of {plural(among, 'skill')} has anything in common with it."
    best = chosen.rejected[0]
    closest = f"Of {plural(among, 'skill')}, {text_of(best.skill.name)} comes closest"
    closest = f"{closest} with {score_words(best.score)}"
    if best.score >= selected.min_score:
        return f"{closest}, but none may be chosen."
    return f"{closest}; it takes {selected.min_score:.3g} to be chosen."


def _named(match: Match, query: str, scorer: str) -> NamedSkill:
    address = local_address(match.skill.id, query, scorer)
    return NamedSkill(text_of(match.skill.name), address)
