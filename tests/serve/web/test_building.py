"""The page of an index in the making: how far it is, for people, readers and browsers alike."""

from __future__ import annotations

from skillyard.engine.index.library_summary import Progress
from skillyard.serve.web.pages import building_page, progress_words
from tests.serve.web.page_parser import read
from tests.tables import for_each


@for_each(
    ("progress", "words", "bar"),
    [
        (Progress(1_200, 10_471, 20.0), "1,200 of 10,471 files, about 20 s left",
         {"value": "1200", "max": "10471"}),
        (Progress(0, None, None), "0 files so far", {}),
        (Progress(1, None, None), "1 file so far", {}),
        (Progress(0, 1, 600.0), "0 of 1 file, about 10 min left", {"value": "0", "max": "1"}),
        (Progress(12, 10, 0.0), "12 of 10 files, about 1 s left", {"value": "10", "max": "10"}),
        (Progress(0, 0, None), "0 of 0 files", {}),
        (Progress(5, 10, float("nan")), "5 of 10 files", {"value": "5", "max": "10"}),
        (Progress(5, 10, -3.0), "5 of 10 files", {"value": "5", "max": "10"}),
        (Progress(5, 10, float("inf")), "5 of 10 files", {"value": "5", "max": "10"}),
    ],
)  # fmt: skip
def test_it_says_how_far_it_is_and_draws_it(
    progress: Progress, words: str, bar: dict[str, str]
) -> None:
    assert progress_words(progress) == words
    page = read(building_page(progress))
    assert words in page.text()
    (drawn,) = page.all("progress")
    assert {k: v for k, v in drawn.attributes.items() if k in ("value", "max")} == bar
    assert drawn.attributes["aria-label"]


def test_a_browser_without_scripts_loads_it_again_and_one_with_them_does_not() -> None:
    """Who reads with a keyboard or a screen reader would lose the place each time (WCAG 2.2.1)."""
    html = building_page(Progress(0, None, None)).decode()
    assert html.count("http-equiv") == 1
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in html
    assert read(html).all("p", role="status", aria_live="polite")
