"""The list of all skills: in order, by tag, page by page, and the same work however many."""

from __future__ import annotations

import skillyard as sy
from skillyard.engine.catalog.counts import NO_SKILLS
from skillyard.serve.runtime.snapshot import BrowseIndex, browse_index_of
from skillyard.serve.web.pages import MAX_TAGS, PAGE_SIZE, browse_page
from tests.serve.web.page_parser import Page, harm, read
from tests.tables import for_each


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


@for_each(
    ("asked", "number", "first"),
    [(1, 1, 0), (2, 2, PAGE_SIZE), (200, 200, 9_950), (201, 200, 9_950), (10**6, 200, 9_950)],
)
def test_a_page_holds_its_part_of_the_list_and_beyond_the_end_is_the_last(
    asked: int, number: int, first: int
) -> None:
    page = shown(MANY, page=asked)
    assert names(page) == [f"skill-{n:05}" for n in range(first, first + PAGE_SIZE)]
    assert f"Page {number} of 200" in page.text()
    links = {"".join(a.text): a.attributes["href"] for a in page.all("a")}
    assert ("Next" in links) == (number < 200)
    assert links.get("Previous", "") == (
        "" if number == 1 else f"/page/skills?page={number - 1}" if number > 2 else "/page/skills"
    )


def test_ten_thousand_skills_with_as_many_tags_make_no_larger_page() -> None:
    page = browse_page(MANY, NO_SKILLS, "", 1)
    assert len(page) < 150_000
    assert len(read(page).all("li")) < MAX_TAGS + PAGE_SIZE + 20
    assert "rarer ones are not named here" in read(page).text()


@for_each(
    "text", ["<script>x</script>", "\u202e<b>", "a&b=c#d", "'\"><svg onload=x>", "\u05e9" * 300]
)
def test_no_name_and_no_tag_can_act(text: str) -> None:
    found = shelf(sy.Skill(text, text, text, tags=(text,)))
    page = shown(found)
    assert harm(shown(found, text)) == harm(page) == []
    assert names(page) != []
