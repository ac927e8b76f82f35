"""The verdict: whether any skill fits. It is the first statement of a result page."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.text import plural
from skillyard.engine.ranking.match import Match
from skillyard.hosts.operations.skill_selection import Selected
from skillyard.serve.web.addresses import local_address
from skillyard.serve.web.rendering import text_of
from skillyard.serve.web.words import reason_words, score_words


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


def verdict_of(selected: Selected, query: str, scorer: str = "", elsewhere: int = 0) -> Verdict:
    """Return the verdict of a selection among the skills of the catalog.

    ``elsewhere`` is the number of remote skills that reach the floor. ``query`` and ``scorer`` are
    added to the addresses of the named skills.
    """
    verdict = _verdict(selected, query, scorer, elsewhere)
    if not selected.note:
        return verdict
    return verdict._replace(sentences=(*verdict.sentences, selected.note))


def _verdict(selected: Selected, query: str, scorer: str, elsewhere: int) -> Verdict:
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


def _fits(selected: Selected, query: str, scorer: str) -> Verdict:
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


def _maybe(selected: Selected, query: str, scorer: str) -> Verdict:
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


def _why_none(selected: Selected) -> str:
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
