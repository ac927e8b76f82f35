"""The list of all skills: in order, by tag, page by page, and the same work however many."""

from __future__ import annotations

import skillyard as sy
from skillyard.engine.catalog.counts import NO_SKILLS
from skillyard.serve.runtime.snapshot import BrowseIndex, browse_index_of
from skillyard.serve.web.pages import MAX_TAGS, PAGE_SIZE, browse_page
from tests.serve.web.page_parser import Page, harm, read


def shelf(*skills: sy.Skill) -> BrowseIndex:
    catalog = sy.Catalog.from_skills(skills)
    found = browse_index_of(catalog)
    assert found is not None
    return found


def shown(on: BrowseIndex | None, tag: str = "", page: int = 1) -> Page:
    made = read(browse_page(on, NO_SKILLS, tag, page))
    assert harm(made) == []
    return made


def names(page: Page) -> list[str]:
    return ["".join(each.text) for each in page.all("h3")]


MANY = shelf(
    *(
        sy.Skill(f"skill-{n:05}", "Does it.", "x", tags=("all", f"tag-{n}", f"Mod-{n % 7}"))
        for n in range(10_000)
    )
)


def test_ten_thousand_skills_with_as_many_tags_make_no_larger_page() -> None:
    page = browse_page(MANY, NO_SKILLS, "", 1)
    assert len(page) < 150_000
    assert len(read(page).all("li")) < MAX_TAGS + PAGE_SIZE + 20
    assert "rarer ones are not named here" in read(page).text()
