"""The page at ``/``: the search form, the results with reasons, and the status of each source."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.skill import Skill
from skillyard.hosts.operations.skill_selection import Selected
from skillyard.install.search import FoundSkill, SearchResult
from skillyard.serve.runtime.browse import BrowseIndex
from skillyard.serve.web.addresses import LOCAL, local_address, place_of, search_address
from skillyard.serve.web.rendering import render
from skillyard.serve.web.scale import scale_of
from skillyard.serve.web.verdict import verdict_of

HOME_SKILLS = 24
"""Number of skills on the page without a search."""
RESULTS = "verdict"
"""The id of the heading of the results, which the form's address targets."""
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
    def address(self) -> str:
        """The address of its results, which may be too long to be used."""
        return search_address(
            self.text, sources=self.sources, scorer=self.scorer, limit=self.limit or None
        )


class Offer(NamedTuple):
    """The choices of the form."""

    sources: tuple[str, ...]
    scorers: tuple[str, ...]
    scorer: str
    """The scorer that ranks without a choice."""
    limit: int
    """The default number of skills."""

    def limits(self, question: Question) -> list[int]:
        """Return the numbers of skills that can be chosen."""
        return sorted({*LIMITS, question.limit or self.limit})


class Library(NamedTuple):
    """The contents of the catalog, for the page without a search."""

    counts: SkillCounts
    shelf: BrowseIndex | None = None
    """None when there are too many skills to be listed."""
    looked: tuple[str, ...] = ()
    """The searched folders, if the client may know them."""
    broken: int = 0
    """Errors in the files of skills that did not load."""

    def first(self) -> list[Skill]:
        """Return the skills that the page names."""
        listed = () if self.shelf is None else self.shelf.skills
        named = [skill for skill in listed if not skill.hidden][:HOME_SKILLS]
        return [skill for skill in named if local_address(skill.id)]


def home_page(offer: Offer, question: Question, library: Library) -> bytes:
    """Return the page without a search."""
    return render("home.html", offer=offer, question=question, library=library)


def results_page(
    offer: Offer, question: Question, result: SearchResult, selected: Selected | None
) -> bytes:
    """Return the page of a search; ``selected`` is the selection of the catalog."""
    floor = selected.min_score if selected is not None else result.floor
    marks = _marks(selected)
    cards, above = [], []
    for place, found in enumerate(result.skills, 1):
        cards.append((place, found, _mark_of(found, marks)))
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
        below=f"Below {floor:.3g}, which is what a choice takes" if isfinite(floor) else "The rest",
        verdict=verdict,
        first=first,
        rest=rest,
    )


def _marks(selected: Selected | None) -> dict[str, str]:
    """Return the role of the catalog's skills in a selection, by path."""
    if selected is None:
        return {}
    chosen = selected.selection
    marks = {match.skill.path: PERHAPS for match in chosen.maybe}
    return marks | {match.skill.path: FITS for match in chosen.selected}


def _mark_of(found: FoundSkill, marks: dict[str, str]) -> str:
    return marks.get(found.skill.path, "") if place_of(found.hit) == LOCAL else ""
