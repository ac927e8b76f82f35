"""The page at ``/``: the search form, what was found and why, and what each source did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from skillyard.catalog.counts import SkillCounts
from skillyard.search import FoundSkill, SearchResult, SourceStatus
from skillyard.service import Selected
from skillyard.skill import Skill
from skillyard.text import plural
from skillyard.web.addresses import (
    HOME,
    LOCAL,
    install_line,
    local_address,
    place_of,
    search_address,
    skill_address,
)
from skillyard.web.layout import document
from skillyard.web.markup import Content, Markup, joined, outward, tag
from skillyard.web.parts import copy_button, copy_line, lead, note, text_of
from skillyard.web.signals import evidence, score_badge, signal_bars, strongest, tree
from skillyard.web.words import chosen_words, failure_words, number, status_words

__all__ = ["Offer", "Question", "found_page", "home_page", "search_form"]

SHOWN = 24
"""Skills that the page without a search names."""
DESCRIPTION = 400
LONGEST_QUERY = 200
LIMITS = (5, 10, 20, 50)


class Offer(NamedTuple):
    """What the form lets a person choose from."""

    sources: tuple[str, ...]
    scorers: tuple[str, ...]
    scorer: str
    """The scorer that ranks where none is chosen."""
    limit: int
    """How many skills are shown where no number is chosen."""


class Question(NamedTuple):
    """What was asked."""

    text: str = ""
    sources: tuple[str, ...] = ()
    """Those that were chosen; empty for all."""
    scorer: str = ""
    """Empty for the one that ranks where none is chosen."""
    limit: int = 0
    """0 for the number that is shown where none is chosen."""
    live: bool = False
    """True while a person types: only this service's own catalog is asked then."""


def home_page(offer: Offer, named: Sequence[Skill], asked: Question, counts: SkillCounts) -> bytes:
    """Return the page without a search; ``named`` are the skills that a request can choose.

    They are empty where there are too many to be named; ``counts`` says how many there are.
    """
    first = [
        tag("li", tag("a", text_of(skill.name), href=local_address(skill.id), dir="auto"))
        for skill in named[:SHOWN]
        if local_address(skill.id)
    ]
    more = counts.selectable - len(first) if first else 0
    left_out = f" ({counts.left_out})" if counts.left_out else ""
    browse = joined(
        tag("h2", "In this catalog"),
        lead(f"{plural(counts.skills, 'skill')}{left_out} at hand, without asking anybody else."),
        tag("ul", first, tag("li", f"and {more:,} more", class_="aside") if more else None,
            class_="names"),
    )  # fmt: skip
    empty = lead("The catalog of this service holds no skills. Others are found by searching.")
    return document(
        "",
        _hero(),
        search_form(offer, asked),
        _results(tag("section", browse if counts.skills else empty, class_="browse")),
        here=HOME,
    )


def found_page(
    offer: Offer, asked: Question, result: SearchResult, selected: Selected | None
) -> bytes:
    """Return the page of a search; ``selected`` is what the catalog would choose by itself."""
    full = strongest(found.match for found in result.skills)
    chosen = _chosen(selected)
    cards = [
        _card(place, found, asked, full, chosen) for place, found in enumerate(result.skills, 1)
    ]
    floor = None if selected is None or asked.scorer else selected.min_score
    passing = len(cards)
    if floor is not None:
        passing = sum(found.score >= floor for found in result.skills)
    count = plural(result.count, "skill")
    parts = (
        tag("h2", f"{count} for “", tag("bdi", text_of(asked.text)), "”", id="count"),
        _verdict(selected),
        _sources(result.sources, asked),
        tag("ol", cards[:passing], class_="cards") if passing else None,
        _below(floor, cards[passing:], passing),
        _nothing(result) if not cards else None,
        _bars_explained(result, full) if cards else None,
    )
    return document(
        text_of(asked.text, 60),
        _hero(small=True),
        search_form(offer, asked),
        _results(*parts),
        here=HOME,
    )


def search_form(offer: Offer, asked: Question) -> Markup:
    """Return the form of a search, filled with what was asked."""
    box = tag(
        "input",
        type="search",
        id="q",
        name="q",
        value=asked.text,
        maxlength=LONGEST_QUERY,
        placeholder="For example: fill in a PDF form",
        autocomplete="off",
        spellcheck="false",
        aria_describedby="hint",
        dir="auto",
    )
    return tag(
        "form",
        tag("label", "What do you want to do?", for_="q"),
        tag("div", box, tag("button", "Search", type="submit"), class_="box"),
        tag(
            "p",
            "Say it in your own words. A file name or a skill’s name will do too.",
            tag("span", _keys(), class_="keys", hidden=True),
            id="hint",
            class_="aside",
        ),
        tag("details", tag("summary", "Filters"), _filters(offer, asked), open=_narrowed(asked)),
        action=HOME,
        method="get",
        role="search",
        id="search",
    )


def _keys() -> Markup:
    def key(name: str) -> Markup:
        return tag("span", name, class_="key")

    return joined(
        *(" ", key("/"), " searches, ", key("↑"), " ", key("↓"), " move, "),
        *(key("Enter"), " opens, ", key("Esc"), " returns."),
    )


def _narrowed(asked: Question) -> bool:
    return bool(asked.sources or asked.scorer or asked.limit)


def _filters(offer: Offer, asked: Question) -> Markup:
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="source", value=name, checked=name in asked.sources),
            " ",
            "this catalog" if name == LOCAL else name,
        )
        for name in offer.sources
        if len(offer.sources) > 1
    ]
    limits = sorted({*LIMITS, asked.limit or offer.limit})
    return tag(
        "div",
        tag("fieldset", tag("legend", "Sources (none ticked: all)"), boxes) if boxes else None,
        tag(
            "div",
            tag("label", "Ranked by", for_="scorer"),
            _choice("scorer", [(name, name) for name in offer.scorers], asked.scorer, offer.scorer),
        ),
        tag(
            "div",
            tag("label", "How many", for_="limit"),
            _choice(
                "limit",
                [(str(limit), str(limit)) for limit in limits],
                str(asked.limit or ""),
                str(offer.limit),
            ),
        ),
        class_="filters",
    )


def _choice(name: str, options: Iterable[tuple[str, str]], chosen: str, default: str) -> Markup:
    listed = [
        tag("option", label, value=value, selected=value == (chosen or default))
        for value, label in options
    ]
    return tag("select", listed, id=name, name=name)


def _hero(*, small: bool = False) -> Markup:
    if small:
        return tag("h1", "Search", class_="unseen")
    return tag(
        "div",
        tag("h1", "Find the skill that fits"),
        lead("Ranked with the reasons shown, and an honest answer when none fits."),
        class_="hero",
    )


def _results(*content: Content) -> Markup:
    """Return the part of the page that a search changes, and the line that says so aloud."""
    return joined(
        tag("p", id="said", class_="unseen", role="status", aria_live="polite"),
        tag("div", *content, id="results"),
    )


def _chosen(selected: Selected | None) -> frozenset[str]:
    """Return the paths of the catalog's skills that a selection would take."""
    if selected is None:
        return frozenset()
    return frozenset(match.skill.path for match in selected.selection.selected)


def _verdict(selected: Selected | None) -> Markup | None:
    """Return whether one of the catalog's skills fits: the ranking alone never says so."""
    if selected is None or selected.query.empty:
        return None
    kind = "plain" if selected.selection.abstained else "good"
    return note(chosen_words(selected), kind=kind)


def _sources(statuses: Collection[SourceStatus], asked: Question) -> Markup:
    rows = [
        tag(
            "li",
            tag("span", class_=f"dot {status.state}", aria_hidden="true"),
            tag("strong", "this catalog" if status.name == LOCAL else text_of(status.name)),
            ": ",
            status_words(status),
        )
        for status in statuses
    ]
    if asked.live:
        rest = search_address(
            asked.text, sources=asked.sources, scorer=asked.scorer, limit=asked.limit or None
        )
        rows.append(tag("li", tag("a", "Ask the other sources too", href=rest), " (Enter)"))
    return tag("ul", rows, class_="sources", aria_label="What each source did")


def _below(floor: float | None, cards: list[Markup], start: int) -> Markup | None:
    """Return the cards that a choice would leave out, apart from those that it would take."""
    if floor is None or not cards:
        return None
    said = f"Below {number(floor)}, which is what a choice takes"
    return joined(
        tag("p", said, class_="divider"), tag("ol", cards, class_="cards", start=start + 1)
    )


def _nothing(result: SearchResult) -> Markup:
    if result.partial:
        return lead("Nothing was found, but not every source answered.")
    return lead("Nothing was found. Fewer or other words may find more.")


def _bars_explained(result: SearchResult, full: float) -> Markup:
    said = f"Ranked by {result.ranker} among {plural(result.considered, 'skill')} that were found."
    bars = " Bars share one scale: the longest is the largest signal on this page."
    return tag("p", said, bars if full > 0 else None, class_="aside")


def _card(
    place: int, found: FoundSkill, asked: Question, full: float, chosen: frozenset[str]
) -> Markup:
    skill, hit, match = found.skill, found.hit, found.match
    name = text_of(skill.title or skill.name) or "(no name)"
    source = place_of(hit)
    address = skill_address(source, hit.id, q=asked.text, scorer=asked.scorer)
    title = tag("a", name, href=address, class_="open") if address else tag("span", name)
    fits = source == LOCAL and skill.path in chosen
    line = install_line(hit)
    card = tag(
        "article",
        tag(
            "div",
            tag("h3", title, id=f"hit-{place}", dir="auto"),
            score_badge(match.score, match.level) if match is not None else None,
            class_="head",
        ),
        _meta(found, source, fits=fits),
        tag("p", text_of(skill.description, DESCRIPTION), class_="description", dir="auto"),
        _lost(found),
        signal_bars(match.signals, full) if match is not None else None,
        evidence(match) if match is not None else None,
        copy_line("install line", line) if line else None,
        tag(
            "div",
            copy_button(" id", text=_copied_id(hit.source, hit.id)),
            _why(found),
            class_="more",
        ),
        aria_labelledby=f"hit-{place}",
    )
    return tag("li", card, class_="card", value=place)


def _copied_id(source: str, skill_id: str) -> str:
    return text_of(skill_id if source == LOCAL else f"{source}/{skill_id}", 600)


def _meta(found: FoundSkill, source: str, *, fits: bool) -> Markup:
    hit = found.hit
    others = [name for name in found.found_by if name != hit.found_by]
    pieces: list[Content] = [
        tag("span", "fits", class_="tag good") if fits else None,
        tag("span", "this catalog" if source == LOCAL else text_of(hit.source), class_="tag"),
        tag("span", "curated", class_="tag") if hit.curated else None,
        tag("code", text_of(hit.id), dir="ltr"),
        tag("span", f"{hit.install_count:,} installs") if hit.install_count > 0 else None,
        tag("span", f"from {hit.found_by}") if hit.found_by not in (source, hit.source) else None,
        tag("span", f"also in {', '.join(text_of(name) for name in others)}") if others else None,
        _outside(found),
    ]
    return tag("p", [joined(piece, " ") for piece in pieces if piece], class_="meta")


def _outside(found: FoundSkill) -> Markup | None:
    """Return a link to where a person can look at a remote skill."""
    address = None if found.package is None else outward(found.package.url)
    if address is None:
        return None
    return tag("a", "where it lives", href=address, rel="noopener noreferrer nofollow")


def _lost(found: FoundSkill) -> Markup | None:
    if found.failure is None:
        return None
    said = failure_words(found.failure.code, found.failure.retry_after_s)
    return note(f"Its instructions could not be had: {said}.", kind="bad")


def _why(found: FoundSkill) -> Markup | None:
    if found.match is None:
        return None
    return tag("details", tag("summary", "Why this rank"), tree(found.match.explanation))
