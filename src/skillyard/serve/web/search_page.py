"""The page at ``/``: the search form, the results with reasons, and the status of each source."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from shlex import quote as shell_quote
from typing import NamedTuple

from skillyard.base.text import plural
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.hosts.operations.skill_selection import Selected
from skillyard.install.search import FoundSkill, SearchResult, SourceStatus
from skillyard.serve.runtime.browse import BrowseIndex
from skillyard.serve.web.addresses import (
    BROWSE,
    HOME,
    LOCAL,
    fits,
    install_line,
    local_address,
    place_of,
    search_address,
    skill_address,
)
from skillyard.serve.web.browse_page import tag_list
from skillyard.serve.web.layout import document
from skillyard.serve.web.markup import Content, Markup, concat, outward, tag
from skillyard.serve.web.parts import copy_button, copy_line, lead, note, text_of
from skillyard.serve.web.scale import Scale, scale_of
from skillyard.serve.web.signals import evidence, score_badge, score_bar, signal_bars, tree
from skillyard.serve.web.verdict import verdict_of
from skillyard.serve.web.words import failure_words, status_words

HOME_SKILLS = 24
"""Number of skills on the page without a search."""
TAGS = 12
"""Number of tags on that page."""
DESCRIPTION = 400
MAX_QUERY_CHARACTERS = 20_000
"""Maximum characters of a request; prompts with a page of text are accepted."""
RESULTS = "verdict"
"""The id of the heading of the results, which the form's address targets."""
LIMITS = (5, 10, 20, 50)


class Offer(NamedTuple):
    """The choices of the form."""

    sources: tuple[str, ...]
    scorers: tuple[str, ...]
    scorer: str
    """The scorer that ranks without a choice."""
    limit: int
    """The default number of skills."""


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


class Library(NamedTuple):
    """The contents of the catalog, for the page without a search."""

    counts: SkillCounts
    shelf: BrowseIndex | None = None
    """None when there are too many skills to be listed."""
    looked: tuple[str, ...] = ()
    """The searched folders, if the client may know them."""
    broken: int = 0
    """Errors in the files of skills that did not load."""


def home_page(offer: Offer, question: Question, library: Library) -> bytes:
    """Return the page without a search."""
    browse = _browse(library) if library.counts.skills else _no_skills(library)
    return document(
        "" if library.counts.skills else "There are no skills in this library",
        _hero(),
        search_form(offer, question),
        _results(tag("section", browse, class_="browse", aria_labelledby="library")),
        here=HOME,
    )


def _browse(library: Library) -> Markup:
    counts, shelf = library.counts, library.shelf
    left_out = f" ({counts.left_out})" if counts.left_out else ""
    skills = (
        [] if shelf is None else [skill for skill in shelf.skills if not skill.hidden][:HOME_SKILLS]
    )
    first = [
        tag("li", tag("a", text_of(skill.name), href=local_address(skill.id), dir="auto"))
        for skill in skills
        if local_address(skill.id)
    ]
    more = counts.selectable - len(first) if first else 0
    rest = tag("a", f"and {more:,} more", href=BROWSE, class_="rest")
    return concat(
        tag("h2", "In this catalog", id="library"),
        lead(f"{plural(counts.skills, 'skill')}{left_out} at hand, without asking anybody else."),
        tag("ul", first, tag("li", rest) if more else None, class_="names") if first else None,
        None if shelf is None or not shelf.tags else
        concat(tag("h3", "By tag"), tag_list(shelf.tags[:TAGS], len(shelf.tags))),
    )  # fmt: skip


def _no_skills(library: Library) -> Markup:
    """Return hints for an empty catalog."""
    places = [tag("li", tag("code", text_of(place, 600), dir="ltr")) for place in library.looked]
    folder = text_of(library.looked[0], 600) if library.looked else "FOLDER"
    broken = None
    if library.broken:
        broken = tag("p", f"{plural(library.broken, 'error')} kept files from loading: ",
                     tag("code", f"skillyard check {shell_quote(folder)}", dir="ltr"),
                     " names each with its remedy.")  # fmt: skip
    return tag(
        "div",
        tag("h2", "There are no skills in this library", id="library"),
        concat(tag("p", "Looked for folders with a SKILL.md in:"), tag("ul", places)) if places
        else tag("p", "None was found where this service was told to look."),
        broken,
        tag("h3", "What to do next"),
        tag(
            "ul",
            tag("li", "Put a skill there: a folder with a SKILL.md that has a name and a"
                " description. It appears here by itself."),
            tag("li", "Fetch one that others have written: ",
                tag("code", f"skillyard add OWNER/REPO/SKILL --into {shell_quote(folder)}",
                    dir="ltr"), "."),
            tag("li", "Or start the service on another folder: ",
                tag("code", "skillyard serve FOLDER", dir="ltr"), "."),
        ),
        class_="no-skills",
    )  # fmt: skip


def results_page(
    offer: Offer, question: Question, result: SearchResult, selected: Selected | None
) -> bytes:
    """Return the page of a search; ``selected`` is the selection of the catalog."""
    scale = scale_of(result.ranker)
    floor = selected.min_score if selected is not None else result.floor
    marks = _marks(selected)
    above = [each.match is not None and each.score >= floor for each in result.skills]
    verdict = None
    if selected is not None:
        elsewhere = sum(
            high and place_of(each.hit) != LOCAL
            for each, high in zip(result.skills, above, strict=True)
        )
        verdict = verdict_of(selected, question.text, question.scorer, elsewhere)
        if verdict.kind == "maybe":
            above = [_mark_of(each, marks) == PERHAPS for each in result.skills]
    cards = [
        _card(place, each, question, scale, floor, _mark_of(each, marks))
        for place, each in enumerate(result.skills, 1)
    ]
    first = [card for card, high in zip(cards, above, strict=True) if high]
    rest = [card for card, high in zip(cards, above, strict=True) if not high]
    if verdict is None and not first:
        first, rest = rest, []
    count = tag(
        "p", f"{plural(result.count, 'skill')} ranked for “",
        tag("bdi", text_of(question.text)), "”",
        id="count", class_="aside",
    )  # fmt: skip
    ranking_note = None if first else _ranking_note(result, scale)
    plain = tag("h2", "What was found", id="verdict", tabindex=-1)
    kind = "fits" if verdict is None else verdict.kind
    parts = (
        plain if verdict is None else verdict.block(),
        count,
        _sources(result.sources, question),
        _too_long(question),
        tag("ol", first, class_="cards") if first else None,
        _rest(rest, floor, ranking_note, folded=kind != "fits", first=bool(first)),
        _nothing(result) if not cards and (verdict is None or result.partial) else None,
        _ranking_note(result, scale) if first else None,
    )
    title = text_of(question.text, 60)
    return document(
        title if verdict is None else f"{verdict.title} · {title}",
        _hero(small=True),
        search_form(offer, question),
        _results(*parts),
        here=HOME,
    )


def search_form(offer: Offer, question: Question) -> Markup:
    """Return the form of a search, filled with the request."""
    box = tag(
        "textarea",
        question.text,
        id="q",
        name="q",
        rows=1,
        maxlength=MAX_QUERY_CHARACTERS,
        placeholder="For example: fill in a PDF form",
        autocomplete="off",
        spellcheck="false",
        enterkeyhint="search",
        aria_describedby="hint",
        dir="auto",
    )
    return tag(
        "form",
        tag("label", "What do you want to do?", for_="q"),
        tag("div", box, tag("button", "Search", type="submit"), class_="box"),
        tag(
            "p",
            "Say it in your own words, or paste the whole request."
            " A file name or a skill’s name will do too.",
            tag("span", _keys(), class_="keys", hidden=True),
            id="hint",
            class_="aside",
        ),
        tag(
            "details",
            tag("summary", "Filters"),
            _filters(offer, question),
            open=_has_options(question),
        ),
        action=f"{HOME}#{RESULTS}",
        # A long request does not fit an address; a short one is redirected to its address.
        method="post",
        role="search",
        id="search",
    )


def _keys() -> Markup:
    def key(name: str) -> Markup:
        return tag("span", name, class_="key")

    return concat(
        *(" ", key("/"), " searches, ", key("↑"), " ", key("↓"), " move, "),
        *(key("Enter"), " asks every source, "),
        *(key("Shift"), " ", key("Enter"), " starts a line, ", key("Esc"), " returns."),
    )


def _has_options(question: Question) -> bool:
    return bool(question.sources or question.scorer or question.limit)


def _filters(offer: Offer, question: Question) -> Markup:
    boxes = [
        tag(
            "label",
            tag(
                "input",
                type="checkbox",
                name="source",
                value=name,
                checked=name in question.sources,
            ),
            " ",
            "this catalog" if name == LOCAL else name,
        )
        for name in offer.sources
        if len(offer.sources) > 1
    ]
    limits = sorted({*LIMITS, question.limit or offer.limit})
    return tag(
        "div",
        tag("fieldset", tag("legend", "Sources (none ticked: all)"), boxes) if boxes else None,
        tag(
            "div",
            tag("label", "Ranked by", for_="scorer"),
            _choice(
                "scorer", [(name, name) for name in offer.scorers], question.scorer, offer.scorer
            ),
        ),
        tag(
            "div",
            tag("label", "How many", for_="limit"),
            _choice(
                "limit",
                [(str(limit), str(limit)) for limit in limits],
                str(question.limit or ""),
                str(offer.limit),
            ),
        ),
        class_="filters",
    )


def _choice(name: str, options: Iterable[tuple[str, str]], chosen: str, default: str) -> Markup:
    tags = [
        tag("option", label, value=value, selected=value == (chosen or default))
        for value, label in options
    ]
    return tag("select", tags, id=name, name=name)


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
    """Return the part of the page that a search replaces, with its live region."""
    return concat(
        tag("p", id="said", class_="unseen", role="status", aria_live="polite"),
        tag("div", *content, id="results"),
    )


FITS, PERHAPS = "fits", "perhaps"


def _marks(selected: Selected | None) -> dict[str, str]:
    """Return the role of the catalog's skills in a selection, by path."""
    if selected is None:
        return {}
    chosen = selected.selection
    marks = {match.skill.path: PERHAPS for match in chosen.maybe}
    return marks | {match.skill.path: FITS for match in chosen.selected}


def _mark_of(found_skill: FoundSkill, marks: Mapping[str, str]) -> str:
    return marks.get(found_skill.skill.path, "") if place_of(found_skill.hit) == LOCAL else ""


def _too_long(question: Question) -> Markup | None:
    if fits(_address(question)):
        return None
    return tag(
        "p",
        "This request is too long for an address: this page cannot be kept as a bookmark, and a"
        " skill’s own page does not explain its rank for it. Its card here does.",
        class_="aside after",
    )


def _address(question: Question) -> str:
    return search_address(
        question.text,
        sources=question.sources,
        scorer=question.scorer,
        limit=question.limit or None,
    )


def _sources(statuses: Collection[SourceStatus], question: Question) -> Markup:
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
    if all(status.name == LOCAL for status in statuses):
        rows.append(tag("li", "No remote source was asked."))
    if question.live:
        rest = _address(question)
        if fits(rest):
            rows.append(tag("li", tag("a", "Ask the other sources too", href=rest), " (Enter)"))
    return tag("ul", rows, class_="sources", aria_label="What each source did")


def _rest(
    cards: list[Markup], floor: float, ranking_note: Content, *, folded: bool, first: bool
) -> Markup | None:
    """Return the cards of skills that are not selected, separated from the first ones."""
    if not cards:
        return None
    card_list = tag("ol", cards, class_="cards")
    if folded:
        heading = "The rest of the ranking" if first else "The ranking all the same"
        summary = tag("summary", f"{heading} ({plural(len(cards), 'skill')})")
        return tag("details", summary, card_list, ranking_note, class_="folded")
    heading = "The rest"
    if math.isfinite(floor):
        heading = f"Below {floor:.3g}, which is what a choice takes"
    return concat(tag("p", heading, class_="divider") if first else None, card_list, ranking_note)


def _nothing(result: SearchResult) -> Markup:
    if result.partial:
        return lead("Nothing was found, but not every source answered.")
    return lead("Nothing was found. Fewer or other words may find more.")


def _ranking_note(result: SearchResult, scale: Scale) -> Markup:
    words = f"Ranked by {result.ranker} among {plural(result.considered, 'skill')}."
    return tag("p", f"{words} {scale.words}", class_="aside")


def _card(
    place: int, found_skill: FoundSkill, question: Question, scale: Scale, floor: float, mark: str
) -> Markup:
    skill, hit, match = found_skill.skill, found_skill.hit, found_skill.match
    name = text_of(skill.title or skill.name) or "(no name)"
    source = place_of(hit)
    address = skill_address(source, hit.id, q=question.text, scorer=question.scorer)
    title = tag("a", name, href=address, class_="open") if address else tag("span", name)
    line = install_line(hit)
    card = tag(
        "article",
        tag(
            "div",
            tag("h3", title, id=f"hit-{place}", dir="auto"),
            score_badge(match.score, match.level) if match is not None else None,
            class_="head",
        ),
        score_bar(match.score, scale, floor) if match is not None else None,
        _meta(found_skill, source, mark),
        tag("p", text_of(skill.description, DESCRIPTION), class_="description", dir="auto"),
        _failure_note(found_skill),
        signal_bars(match.signals, scale) if match is not None else None,
        evidence(match) if match is not None else None,
        copy_line("install line", line) if line else None,
        tag(
            "div",
            copy_button(" id", text=_id_text(hit.source, hit.id)),
            _why(found_skill),
            class_="more",
        ),
        aria_labelledby=f"hit-{place}",
    )
    return tag("li", card, class_=f"card {mark}".strip(), value=place)


def _id_text(source: str, skill_id: str) -> str:
    return text_of(skill_id if source == LOCAL else f"{source}/{skill_id}", 600)


def _meta(found_skill: FoundSkill, source: str, mark: str) -> Markup:
    hit = found_skill.hit
    others = [name for name in found_skill.found_by if name != hit.found_by]
    pieces: list[Content] = [
        tag("span", mark, class_="tag good" if mark == FITS else "tag fair") if mark else None,
        tag("span", "this catalog" if source == LOCAL else text_of(hit.source), class_="tag"),
        tag("span", "curated", class_="tag") if hit.curated else None,
        tag("code", text_of(hit.id), dir="ltr"),
        tag("span", f"{hit.install_count:,} installs") if hit.install_count > 0 else None,
        tag("span", f"from {hit.found_by}") if hit.found_by not in (source, hit.source) else None,
        tag("span", f"also in {', '.join(text_of(name) for name in others)}") if others else None,
        _outside(found_skill),
    ]
    return tag("p", [concat(piece, " ") for piece in pieces if piece], class_="meta")


def _outside(found_skill: FoundSkill) -> Markup | None:
    """Return a link to the public page of a remote skill."""
    address = None if found_skill.package is None else outward(found_skill.package.url)
    if address is None:
        return None
    return tag("a", "where it lives", href=address, rel="noopener noreferrer nofollow")


def _failure_note(found_skill: FoundSkill) -> Markup | None:
    if found_skill.failure is None:
        return None
    words = failure_words(found_skill.failure.code, found_skill.failure.retry_after_s)
    return note(f"Its instructions could not be had: {words}.", kind="bad")


def _why(found_skill: FoundSkill) -> Markup | None:
    if found_skill.match is None:
        return None
    return tag("details", tag("summary", "Why this rank"), tree(found_skill.match.explanation))
