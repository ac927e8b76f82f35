"""Bars and trees: drawn to one scale, bounded, whatever a scorer says."""

from __future__ import annotations

from skillyard import Explanation
from skillyard.serve.web.rendering import MAX_NODES
from skillyard.serve.web.words import Scale
from tests.serve.web.page_parser import Page, harm, read
from tests.serve.web.page_values import macro
from tests.tables import for_each


def words(page: Page) -> str:
    """Return the texts of a part, with a blank between the elements."""
    return " ".join("".join(page.elements[0].text).split())


@for_each(
    ("share", "width"),
    [(0.0, "0%"), (0.5, "50%"), (1.0, "100%"), (7.0, "100%"), (-1.0, "0%"), (1 / 3, "33.3%"),
     (float("nan"), "0%"), (float("inf"), "0%")],
)  # fmt: skip
def test_a_bar_is_never_longer_than_its_rail(share: float, width: str) -> None:
    (fill,) = read(macro("bar", share)).all("rect", class_="fill")
    assert fill.attributes["width"] == width


def test_every_signal_has_its_bar_its_word_and_its_number() -> None:
    page = read(macro("signal_bars", {"query_match": 5.25, "popularity": 0.0}, Scale(10.5, "")))
    assert words(page) == "query match 5.25 popularity 0"
    widths = [rect.attributes["width"] for rect in page.all("rect", class_="fill")]
    assert widths == ["50%", "0%"]
    assert macro("signal_bars", {}, Scale(1.0, "")) == ""


def test_a_line_stands_where_a_choice_begins_and_only_if_that_is_on_the_bar() -> None:
    (mark,) = read(macro("score_bar", 0.25, Scale(1.0, ""), 0.5)).all("rect", class_="mark")
    assert mark.attributes["x"] == "50%"
    for floor in (None, 0.0, 1.0, 7.0, float("-inf")):
        plain = read(macro("score_bar", 0.25, Scale(1.0, ""), floor))
        assert plain.all("rect", class_="fill")
        assert plain.all("rect", class_="mark") == []
    assert macro("score_bar", 3.0, Scale(0.0, ""), 0.5) == ""


def test_a_level_is_said_in_words_and_one_that_is_not_known_gets_no_colour() -> None:
    assert ">high<" in macro("score_badge", 0.9, "high")
    assert 'class="level none"' in macro("score_badge", 0.9, 'odd" level')
    assert "level" not in macro("score_badge", 0.9, None)


def test_a_tree_shows_labels_values_and_notes_and_stops_where_it_is_endless() -> None:
    leaf = Explanation("pdf", 0.25, (), "leaf", "in 3 <skills>")
    page = read(macro("tree", Explanation("words", 0.5, (leaf, leaf))))
    assert harm(page) == []
    assert words(page) == "words 0.50 pdf 0.25 in 3 <skills> pdf 0.25 in 3 <skills>"
    wide = macro("tree", Explanation("all", 1.0, (leaf,) * 10_000))
    assert read(wide).all("li")[-1].text == ["…"]
    assert len(read(wide).all("li")) <= MAX_NODES + 1
    deep = leaf
    for _ in range(500):
        deep = Explanation("more", 1.0, (deep,))
    assert "…" in macro("tree", deep)
