"""The verdict: whether any skill fits. It is the first statement of a result page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from skillyard.base.text import plural
from skillyard.engine.ranking.match import Match
from skillyard.hosts.operations.skill_selection import Selected
from skillyard.serve.web.addresses import local_address
from skillyard.serve.web.markup import Content, Markup, concat, tag
from skillyard.serve.web.parts import text_of
from skillyard.serve.web.words import reason_words, score_words


class Verdict(NamedTuple):
    """A selection, a question or an abstention, in words."""

    kind: str
    """``fits``, ``maybe``, ``elsewhere`` (only remote skills fit) or ``none``."""
    title: str
    """A short form, for the window's title."""
    heading: Content
    detail: Content
    """The sentence below the heading."""

    def block(self, level: str = "h2") -> Markup:
        """Return it as a part of a page. The address of a search targets its heading."""
        return tag(
            "div",
            tag(level, self.heading, id="verdict", tabindex=-1, dir="auto"),
            tag("div", self.detail, class_="said", dir="auto") if self.detail else None,
            class_=f"verdict {self.kind}",
        )


def verdict_of(selected: Selected, query: str, scorer: str = "", elsewhere: int = 0) -> Verdict:
    """Return the verdict of a selection among the skills of the catalog.

    ``elsewhere`` is the number of remote skills that reach the floor. ``query`` and ``scorer`` are
    added to the addresses of the named skills.
    """
    verdict = _verdict(selected, query, scorer, elsewhere)
    if not selected.note:
        return verdict
    return verdict._replace(detail=concat(verdict.detail, tag("p", selected.note)))


def _verdict(selected: Selected, query: str, scorer: str, elsewhere: int) -> Verdict:
    chosen = selected.selection
    floor = f"{selected.min_score:.3g}"
    if chosen.selected:
        return _fits(selected, query, scorer)
    if elsewhere:
        fit = f"{plural(elsewhere, 'skill')} from elsewhere {'fits' if elsewhere == 1 else 'fit'}"
        words = tag("p", f"It takes {floor} to be chosen. No skill of this catalog has that.")
        return Verdict("elsewhere", fit, fit, words)
    if chosen.maybe:
        return _maybe(selected, query, scorer)
    why = tag("p", _why_none(selected))
    return Verdict("none", "No skill fits", "No skill fits this request", why)


def _fits(selected: Selected, query: str, scorer: str) -> Verdict:
    chosen = selected.selection.selected
    names = [_skill_link(match, query, scorer) for match in chosen]
    title = f"Fits: {text_of(chosen[0].skill.name, 60)}"
    if len(chosen) > 1:
        title = f"{title} and {len(chosen) - 1:,} more"
    first = chosen[0]
    reasons = reason_words(first.reason)
    score = f"scores {score_words(first.score)}, where {selected.min_score:.3g} is enough"
    words = f"{'The first' if len(chosen) > 1 else 'It'} {score}"
    return Verdict(
        "fits",
        title,
        concat("Fits: " if len(chosen) == 1 else "These fit: ", _join_with_commas(names)),
        concat(
            tag("p", f"{words}: {reasons}." if reasons else f"{words}."),
            tag("p", selected.question.replace("**", "")) if selected.question else None,
        ),
    )


def _maybe(selected: Selected, query: str, scorer: str) -> Verdict:
    near = selected.selection.maybe
    names = [
        concat(_skill_link(match, query, scorer), " ", tag("span", score_words(match.score)))
        for match in near
    ]
    meant = "Is it what you mean?" if len(near) == 1 else "Is one of them what you mean?"
    rest = "It comes near, but stays" if len(near) == 1 else "They come near, but stay"
    return Verdict(
        "maybe",
        f"Perhaps: {text_of(near[0].skill.name, 60)}",
        concat("Perhaps: ", _join_with_commas(names)),
        tag("p", f"{meant} {rest} under the {selected.min_score:.3g} that a choice takes."),
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


def _skill_link(match: Match, query: str, scorer: str) -> Markup:
    address = local_address(match.skill.id, query, scorer)
    text = text_of(match.skill.name)
    return tag("a", text, href=address, dir="auto") if address else tag("bdi", text)


def _join_with_commas(items: Iterable[Markup]) -> Markup:
    pieces: list[Content] = []
    for item in items:
        pieces += [", ", item] if pieces else [item]
    return concat(*pieces)
