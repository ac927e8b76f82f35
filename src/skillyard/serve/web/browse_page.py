"""The page that lists all skills of the catalog, or those with one tag, page by page."""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.base.text import plural
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.skill import Skill
from skillyard.serve.runtime.browse import BrowseIndex, BrowseTag
from skillyard.serve.web.addresses import BROWSE, browse_address, local_address
from skillyard.serve.web.layout import document
from skillyard.serve.web.markup import Content, Markup, concat, tag
from skillyard.serve.web.parts import lead, text_of

PAGE_SIZE = 50
"""Skills per page."""
TAGS = 30
"""Tags that are visible at once; further ones are folded."""
MAX_TAGS = 500
"""Maximum number of tags that are named."""
DESCRIPTION = 200
TAGS_OF_ONE = 6


def browse_page(shelf: BrowseIndex | None, counts: SkillCounts, tag_name: str, page: int) -> bytes:
    """Return one page of the list. ``page`` counts from 1; larger numbers give the last page.

    ``shelf`` is None when there are too many skills to be listed.
    """
    title = "All skills" if not tag_name else f"Skills tagged “{text_of(tag_name)}”"
    heading = tag("h1", title, dir="auto")
    if shelf is None:
        too_many = f"{plural(counts.skills, 'skill')} are too many to be listed."
        link = tag("a", "a search", href="/")
        body = tag("p", f"{too_many} What you need is found by ", link, ".", class_="lead")
        return document(title, heading, body, here=BROWSE)
    chosen = shelf.find_tag(tag_name) if tag_name else None
    skills = chosen.skills if chosen else () if tag_name else shelf.skills
    pages = max(1, -(-len(skills) // PAGE_SIZE))
    page = min(page, pages)
    start = (page - 1) * PAGE_SIZE
    on_page = skills[start : start + PAGE_SIZE]
    where = f"page {page:,} of {pages:,}" if pages > 1 else ""
    return document(
        f"{title}, {where}" if where else title,
        heading,
        _count_line(counts, tag_name, len(skills), where),
        _tags(shelf, chosen),
        _list(on_page) if on_page else None,
        _pages(tag_name, page, pages),
        here=BROWSE,
    )


def _count_line(counts: SkillCounts, tag_name: str, count: int, where: str) -> Markup:
    if tag_name:
        back = tag("a", "All skills", href=BROWSE)
        words = plural(count, "skill") if count else "No skill has this tag"
        return lead(words, f", {where}" if where else "", ". ", back)
    left_out = f" ({counts.left_out})" if counts.left_out else ""
    return lead(f"{plural(counts.skills, 'skill')}{left_out}", f", {where}" if where else "", ".")


def tag_list(tags: Sequence[BrowseTag], total: int, chosen: BrowseTag | None = None) -> Markup:
    """Return tags with their number of skills; ``total`` is the number of all tags."""
    rows = [
        tag("li", tag("a", tag("bdi", text_of(each.name, 60)), " ",
                      tag("span", f"{len(each.skills):,}", class_="count"),
                      href=browse_address(each.key),
                      aria_current="true" if each is chosen else None))
        for each in tags
    ]  # fmt: skip
    if total > len(tags):
        rest = tag("a", f"{plural(total, 'tag')} in all", href=f"{BROWSE}#tags", class_="rest")
        rows.append(tag("li", rest))
    return tag("ul", rows, class_="names tags")


def _tags(shelf: BrowseIndex, chosen: BrowseTag | None) -> Markup | None:
    if not shelf.tags:
        return None
    first, more = shelf.tags[:TAGS], shelf.tags[TAGS:MAX_TAGS]
    if chosen is not None and chosen not in first:
        first = [chosen, *first]
    rare = len(shelf.tags) - MAX_TAGS
    folded: Content = None
    if more:
        folded = tag(
            "details",
            tag("summary", f"{len(more):,} more tags"),
            tag_list(more, len(more), chosen),
            tag("p", f"{rare:,} rarer ones are not named here.", class_="aside after")
            if rare > 0
            else None,
        )
    return tag(
        "nav",
        tag("h2", "Tags", id="tags"),
        tag_list(first, len(first), chosen),
        folded,
        aria_labelledby="tags",
        class_="by-tag",
    )


def _list(skills: Sequence[Skill]) -> Markup:
    return concat(
        tag("h2", "Skills", id="skills"),
        tag("ul", [_row(skill) for skill in skills], class_="listed", aria_labelledby="skills"),
    )


def _row(skill: Skill) -> Markup:
    name = text_of(skill.name)
    address = local_address(skill.id)
    tags: list[Content] = [
        concat(" ", tag("a", text_of(each, 60), href=browse_address(each[:200]), class_="tag"))
        for each in list(dict.fromkeys(skill.tags))[:TAGS_OF_ONE]
    ]
    if skill.hidden:
        tags.insert(0, concat(" ", tag("span", "by name only", class_="tag")))
    return tag(
        "li",
        tag("h3", tag("a", name, href=address) if address else name, dir="auto"),
        tag("p", text_of(skill.description, DESCRIPTION), dir="auto"),
        tag("p", tags, class_="meta", dir="auto") if tags else None,
    )


def _pages(tag_name: str, page: int, pages: int) -> Markup | None:
    """Return the links to other pages."""
    if pages == 1:
        return None

    def to(name: str, number: int, rel: str = "") -> Markup:
        if number == page or not 1 <= number <= pages:
            return tag("li", tag("span", name, class_="off"))
        address = browse_address(tag_name, number)
        return tag("li", tag("a", name, href=address, rel=rel or None))

    return tag(
        "nav",
        tag("ul", to("First", 1), to("Previous", page - 1, "prev"),
            tag("li", tag("span", f"Page {page:,} of {pages:,}", aria_current="page")),
            to("Next", page + 1, "next"), to("Last", pages)),
        aria_label="Pages of the list",
        class_="pages",
    )  # fmt: skip
