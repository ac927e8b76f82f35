"""Each page, made from values: what it shows, and that no text can act in it.

``python -m tests.serve.web.test_pages`` writes the kept page anew; look at the difference before
you keep it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.base.text import clean_line
from skillyard.install.search import FoundSkill
from skillyard.install.sources.protocol import Hit
from skillyard.serve.web.search_page import Question, results_page
from skillyard.serve.web.skill_page import SkillView, skill_page
from tests.hostile import tree
from tests.serve.web.page_parser import harm, read
from tests.serve.web.page_values import OFFER, example, pages_of
from tests.tables import for_each

GOLDEN = Path(__file__).parent / "golden" / "search.html"
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(2)>", '"><svg onload=alert(3)>',
    "' onmouseover='alert(4)", "</textarea><script>alert(5)</script>", "javascript:alert(6)",
    "</title><script>", "<!--", "]]>", "\u202e<b>\u2066", "https://a.example/\"onclick='x'",
    "../../../etc/passwd", "{{constructor}}", "%3Cscript%3E", "&lt;script&gt;", "a | b | c",
]  # fmt: skip
texts = st.sampled_from(HOSTILE) | st.text(
    alphabet=st.characters(exclude_categories=["Cc", "Cs"]), max_size=40
)


def golden_page() -> str:
    asked = Question("fill in a pdf form", ("local",), "", 5)
    html = results_page(OFFER, asked, example(), None).decode("utf-8")
    # A line for each element, so that a difference can be read.
    return re.sub(r"(?<=>)(?=<(?!/))", "\n", html)


def test_the_page_of_a_search_is_the_one_that_was_looked_at() -> None:
    assert golden_page() == GOLDEN.read_text(encoding="utf-8")


@settings(max_examples=20)
@given(texts)
def test_no_text_in_any_field_can_act_and_it_is_still_there(text: str) -> None:
    for body in pages_of(text):
        page = read(body)
        assert harm(page) == []
        shown = clean_line(page.text().replace("\r", "\n"))
        assert clean_line(text)[:100] in shown


@for_each("area", ["html", "inject", "term", "uni", "scan"])
def test_the_hostile_skills_are_shown_harmlessly(area: str, tmp_path: Path) -> None:
    seen = 0
    for case in tree.cases(area):
        try:
            root = tree.build(case, tmp_path)
        except (OSError, NotImplementedError):
            continue
        for skill in sy.load_catalog(str(root)).skills:
            hit = Hit("local", skill.slug, "local", name=skill.name)
            page = read(skill_page(SkillView(FoundSkill(skill, hit, ("local",)))))
            assert harm(page) == []
            assert clean_line(skill.description)[:300] in clean_line(page.text())
            seen += 1
    assert seen


def test_what_stands_below_the_floor_is_said_without_a_number() -> None:
    best = max(found.score for found in example().skills)
    html = results_page(OFFER, Question("fill in a pdf form"), replace(example(), floor=best), None)
    page = read(html)
    assert len(page.all("p", class_="divider")) == 1
    assert "These fit less well" in page.text()


def test_a_search_shows_each_hit_with_its_signals_evidence_and_command() -> None:
    page = read(results_page(OFFER, Question("fill in a pdf form"), example(), None))
    cards = page.all("article")
    assert len(cards) == 3
    assert [link.attributes["href"] for link in page.all("a", class_="open")] == [
        "/page/skills/docs.example/forms?q=fill+in+a+pdf+form",
        "/page/skills/local/pdf-forms?q=fill+in+a+pdf+form",
        "/page/skills/acme/skills/tables?q=fill+in+a+pdf+form",
    ]
    for word in (
        "description", "Matched", "skillyard add acme/skills/tables", "1,200 installs", "curated",
        "rate-limited, try again in 40 s", "1 skill found, but one place cannot be reached",
        "Its instructions could not be had: did not answer in time.", "Why this rank",
    ):  # fmt: skip
        assert word in page.text()
    assert {button.attributes["data-copy"] for button in page.all("button", class_="copy")} == {
        "pdf-forms", "acme/skills/tables", "docs.example/forms",
        "skillyard add acme/skills/tables", "skillyard add 'https://docs.example#forms'",
    }  # fmt: skip
    drawn = iter(bar.attributes["width"] for bar in page.all("rect", class_="fill"))
    for found in example().skills:
        assert found.match is not None
        # Of overlap a full bar is 5, whatever the best of an answer has.
        for value in (found.match.score, *found.match.signals.values()):
            assert next(drawn) == f"{round(100 * min(1, value / 5), 1):g}%"
    assert next(drawn, None) is None


if __name__ == "__main__":
    GOLDEN.write_text(golden_page(), encoding="utf-8")
