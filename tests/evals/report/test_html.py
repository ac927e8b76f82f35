"""The pages: whole whatever they are made from, harmless, short, the same for the same input."""

from __future__ import annotations

import copy
import re
import sys
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.report.cases import LETTERS, MAX_CASES, case_groups
from skillyard.evals.report.render import CasePart, environment, html, html_cases
from skillyard.evals.report.report import build_report
from skillyard.evals.report.words import visible_line
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile, small, text_of
from tests.evals.report.making_head import SKILLS
from tests.serve.web.page_parser import Page, harm, read
from tests.tables import for_each

POLICY = re.compile(
    r"default-src 'none'; style-src 'sha256-([A-Za-z0-9+/=]+)'; base-uri 'none'; form-action 'none'"
)
CASES = "report.cases.html"


def page_of(envelopes: Any, **arguments: Any) -> Page:
    return read(html(build_report(envelopes, **arguments), cases_link=CASES))


def cases_page_of(envelopes: Any, text_of: Any = text_of, **arguments: Any) -> Page:
    parts = [CasePart("Cases", case_groups(each, text_of)) for each in envelopes]
    report = build_report(envelopes, **arguments)
    return read(html_cases(report, parts, report_link="report.html"))


def faults(page: Page) -> list[str]:
    """What could run or reach out; the page's own policy is the one meta that may act."""
    acting = [e.attributes["http-equiv"] for e in page.all("meta") if "http-equiv" in e.attributes]
    assert acting == ["Content-Security-Policy"]
    ours = {"a meta that acts", *(f"<a href={each!r}>" for each in page.addresses() if _ours(each))}
    return [fault for fault in harm(page) if fault not in ours]


def _ours(address: str) -> bool:
    return re.fullmatch(r"report(\.cases)?\.html(#case-[0-9a-f]{12})?", address) is not None


def flat(text: str) -> str:
    return " ".join(text.split())


def words(page: Page) -> tuple[int, int]:
    """How many words are seen while every part is closed, and how many there are in all."""
    total = len(page.text().split())
    folded = sum(len("".join(each.text).split()) for each in page.all("details"))
    headings = sum(len("".join(each.text).split()) for each in page.all("summary"))
    return total - folded + headings, total


@cache
def whole_page() -> Page:
    """Return the page of all layers; reading it takes half a second."""
    return page_of(every(), changes=CHANGES)


@cache
def size_page() -> Page:
    return page_of([making.size_impact()])


def first_table(page: Page) -> list[str]:
    """The rows of the first table, as texts with a blank between cells."""
    rows: list[list[str]] = []
    for element in page.elements:
        if element.tag == "table" and rows:
            break
        if element.tag == "tr":
            rows.append([])
        elif element.tag in ("th", "td"):
            rows[-1].append(flat("".join(element.text)))
    return [" ".join(cells) for cells in rows]


def test_a_page_of_all_layers_is_whole_and_reaches_nobody() -> None:
    page = whole_page()
    assert faults(page) == []
    assert page.all("script") == []
    ids = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
    inside = [each for each in page.addresses() if each.startswith("#")]
    assert inside
    assert set(inside) <= {f"#{name}" for name in ids}
    markup = html(build_report(every()))
    assert not re.search(r"url\(|@import|https?://", markup)


def test_every_link_to_a_case_leads_to_a_place_on_the_page_of_cases() -> None:
    links = [each for each in whole_page().addresses() if "#case-" in each]
    cases = cases_page_of(every())
    assert faults(cases) == []
    ids = [e.attributes["id"] for e in cases.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert len(links) >= 3
    assert {each.partition("#")[2] for each in links} <= set(ids)


def test_the_policy_names_the_one_style_sheet_by_its_hash() -> None:
    for page in (whole_page(), cases_page_of(small())):
        policy = next(e for e in page.all("meta") if "http-equiv" in e.attributes)
        named = POLICY.fullmatch(policy.attributes["content"])
        assert named is not None
        (style,) = page.all("style")
        digest = sha256("".join(style.text).encode("utf-8")).digest()
        assert named[1] == b64encode(digest).decode("ascii")


def test_a_report_of_fifteen_prompts_is_read_in_minutes() -> None:
    """The bounds of the issue: 1,500 words on the open page, 6,000 with all closed parts."""
    envelopes = [
        making.activation(),
        making.effectiveness(runs=3, prompts=2),
        making.size_impact(runs=3, prompts=2),
    ]
    prompts = {(c["skill_name"], c["prompt_index"]) for c in envelopes[2]["cases"]}
    assert len(prompts) >= 15
    seen, total = words(page_of(envelopes, changes=CHANGES))
    assert seen <= 1_500
    assert total <= 6_000
    assert seen > 500


def test_the_first_table_has_a_line_a_skill_and_says_what_to_do() -> None:
    head, *lines = first_table(whole_page())
    assert head == "Skill Verdict Difference Worst prompt Fires Cost Next"
    assert [line.split()[0] for line in lines] == sorted(SKILLS)
    by_skill = {line.split()[0]: line for line in lines}
    assert "▲ better +0.91 +0.52 to +1.30" in by_skill["csv-cleaning"]
    assert "→ the summary is enough: shorten it" in by_skill["pdf-form-filling"]
    assert "→ it makes answers worse: rewrite it" in by_skill["release-notes"]
    assert "description misses and fires wrongly: change its words" in by_skill["git-bisect"]


def test_a_statement_on_all_skills_stands_after_the_skills_and_says_how_many_are_alone() -> None:
    text = flat(whole_page().text())
    sentence = "8 skills as a whole, full skill against no skill: +0.44 points"
    assert text.count(sentence) == text.count("full skill against no skill:") == 1
    for skill in SKILLS:
        assert text.index(skill) < text.index(sentence)
    assert re.search(rf"{re.escape(sentence)} [^:]*: better, which is shown for 2 of them", text)


def test_one_skill_alone_gets_no_statement_on_skills_as_a_whole() -> None:
    envelope = making.effectiveness()
    envelope["summary"] = {name: envelope["summary"][name] for name in ("csv-cleaning", "_overall")}
    assert "as a whole" not in page_of([envelope]).text()


@for_each("text", HOSTILE)
def test_hostile_texts_are_shown_and_cannot_act(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in small()]
    page = page_of(envelopes, title=text, changes=[{"message": text}])
    cases = cases_page_of(envelopes, lambda path: text, title=text)
    wanted = visible_line(text)[:200]
    for each, least in ((page, 10), (cases, 20)):
        assert faults(each) == []
        assert each.all("script") == []
        assert flat(each.text()).count(wanted) > least
        assert wanted[:80] in flat(each.text("title"))
    for plot in re.findall(r"<svg.*?</svg>", html(build_report(envelopes)), re.DOTALL):
        ElementTree.fromstring(plot)


def test_a_stand_in_says_so_before_everything_else_and_on_every_line() -> None:
    page = page_of(small(backend="fake"))
    (banner,) = page.all("div", class_="fake")
    assert "Made by a stand-in server: says nothing about any skill" in "".join(banner.text)
    text = flat(page.text())
    assert text.index("says nothing about any skill") < text.index("Difference")
    assert len(page.all("span", class_="stamp")) == 3
    assert "It proves nothing about any skill: no model answered." in text
    assert not page.all("span", class_="good")
    _, *lines = first_table(page)
    assert lines
    assert [line for line in lines if "(stand-in)" not in line] == []


def test_a_stand_in_beside_real_runs_is_named() -> None:
    page = page_of([small(backend="fake")[1], small()[2]])
    (banner,) = page.all("div", class_="fake")
    assert "This is about L5 effectiveness." in "".join(banner.text)
    assert len(page.all("span", class_="stamp")) == 1


def test_stopped_sampled_and_degraded_runs_say_so() -> None:
    cut = making.size_impact(aborted=True, stop_reason="budget", limit=40, degraded=True)
    text = flat(page_of([cut]).text())
    assert "the limit on cost or calls was reached. Counted: 166 of 168 cases; skipped: 1." in text
    assert "a seeded sample of at most 40." in text
    assert "cannot become a baseline" in text
    assert "Too many errors to rely on the rates" in text
    calm = flat(size_page().text())
    for word in ("Stopped before", "A sample", "Too many errors", "stand-in"):
        assert word not in calm


def test_a_judge_that_failed_a_check_stands_above_the_verdicts() -> None:
    envelope = making.effectiveness()
    sentence = "The judge is not to be trusted: it goes by the length of an answer."
    envelope["artifacts"]["trust"] = {"trusted": False, "sentence": sentence}
    for entity in envelope["summary"].values():
        entity["comparisons"]["enhanced/baseline"]["word"] = "judge not trusted"
    page = page_of([envelope])
    assert flat(page.text()).count(sentence) == 1
    (banner,) = [
        each for each in page.all("div", class_="banner") if sentence in "".join(each.text)
    ]
    assert sentence in "".join(banner.text)
    assert all("! judge not trusted" in line for line in first_table(page)[1:])


def test_more_than_a_tenth_of_errors_is_said_even_where_the_run_does_not() -> None:
    envelope = making.activation()
    envelope["cases"][0]["errors"] = [{"kind": "timeout", "message": "late"}]
    assert "2 of 9 cases (22 %) ended in an error" in flat(page_of([envelope]).text())


def test_every_case_is_there_with_both_texts_and_every_score() -> None:
    envelope = making.effectiveness()
    page = cases_page_of([envelope])
    cases = page.all("details", class_="case")
    assert len(cases) == len(envelope["cases"]) == 48
    one = next(c for c in cases if "prompt 1, run 1" in "".join(c.text))
    text = flat("".join(one.text))
    for wanted in ("A plan for the export", "I would do this by hand", "correctness", "0.35",
                   "csv-cleaning/0/0/enhanced/baseline", "Response A names the rows",
                   "1,605 tokens injected"):  # fmt: skip
        assert wanted in text
    assert len(page.all("pre", class_="answer")) >= 2 * 47


def test_what_a_judge_said_is_shown_raw_where_it_could_not_be_used() -> None:
    text = flat(cases_page_of([making.effectiveness()]).text())
    assert text.count("Sure! Here is my verdict: A is better <b>because</b> it is longer.") == 1
    assert "Unusable reply of the judge: the reply is no JSON object" in text


def test_errors_and_skipped_stand_apart() -> None:
    page = size_page()
    assert "These cases gave no figure and are in none;" in flat(page.text())
    lines = [flat(" ".join(row.text)) for row in page.all("tr")]
    assert "judge_error error 1 the reply is no JSON object" in lines
    assert "budget skipped 1" in lines


def test_every_comparison_is_a_forest_and_the_rest_is_folded() -> None:
    page = size_page()
    text = flat(page.text())
    for heading in (
        "Full skill against no skill",
        "Full skill against summary",
        "pairs won by their place",
        "What the tokens buy",
    ):
        assert heading in text
    assert len(page.all("svg")) == 8 + 8 + 8 + 4
    sentence = "the summary does as well for a twelfth of the tokens"
    folds = [flat("".join(fold.text)) for fold in page.all("details")]
    assert sum(sentence in fold for fold in folds) == 1
    assert text.count(sentence) == sum(fold.count(sentence) for fold in folds)


def test_rates_and_what_is_picked_in_place_of_others_are_there() -> None:
    text = flat(page_of([making.activation()]).text())
    assert "0 % 0 % to 43 %" in text
    picked = text.partition("Picked in place of others")[2].partition("Every confusion")[0]
    assert "git-bisect unit-test-repair 4 of 9" in picked
    assert "log-triage" not in picked, "one request of ten is in the closed table alone"
    assert "csv-cleaning log-triage 1 of 10" in text


def test_nothing_at_all_is_a_page_in_plain_words() -> None:
    broken = {"meta": None, "cases": None, "summary": 3, "artifacts": "x"}
    nothing: list[list[dict[str, Any]]] = [[], [{}], [broken]]
    for envelopes in nothing:
        page = page_of(envelopes, title="")
        assert faults(page) == []
        assert "There is nothing to report on." in page.text()
        assert faults(cases_page_of(envelopes)) == []
    bare = [{"meta": {"eval_type": kind}} for kind in ("activation", "size_impact")]
    assert faults(page_of(bare)) == []


WRONG = st.sampled_from([None, [], {}, "x", -1, 0, 3.5, True, 1e300, [None], {"a": None}, [[1]]])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, ...]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in entries:
        inner.append((*path, key))
        if isinstance(each, dict | list):
            inner += places(each, (*path, key))
    return inner


@cache
def envelopes_and_places() -> list[tuple[dict[str, Any], list[tuple[Any, ...]]]]:
    return [(envelope, places(envelope)) for envelope in small()]


@given(st.data())
def test_no_value_of_another_type_stops_a_report(data: st.DataObject) -> None:
    first, all_places = envelopes_and_places()[data.draw(st.integers(0, 2))]
    envelope = copy.deepcopy(first)
    for path in data.draw(st.lists(st.sampled_from(all_places), min_size=1, max_size=6)):
        parent: Any = envelope
        try:
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = data.draw(WRONG)
        except (LookupError, TypeError):
            continue  # something on the way was replaced before
    assert faults(page_of([envelope])) == []
    assert faults(cases_page_of([envelope] if isinstance(envelope["cases"], list) else [])) == []


def test_the_same_input_gives_the_same_bytes_whatever_its_order() -> None:
    envelopes = every()
    again = [copy.deepcopy(each) for each in reversed(envelopes)]
    for each in again:
        each["summary"] = dict(reversed(list(each["summary"].items())))
    first = html(build_report(envelopes, changes=CHANGES))
    assert first == html(build_report(again, changes=CHANGES[::-1]))


def test_long_texts_are_cut_and_it_is_said() -> None:
    envelope = making.effectiveness(prompts=1)
    text = flat(cases_page_of([envelope], lambda path: "0123456789" * 3_000).text())
    assert "Cut after 8,000 of 30,000 characters." in text
    envelope["cases"][0]["prompt"] = "p" * (LETTERS + 1)
    assert "Cut after 8,000 of 8,001 characters." in flat(cases_page_of([envelope]).text())


def test_a_text_that_is_not_kept_is_said_to_be_missing() -> None:
    text = flat(cases_page_of([making.effectiveness()], lambda path: None).text())
    assert "The text is not kept where this report was made." in text


def test_of_too_many_cases_those_that_failed_are_kept() -> None:
    envelope = making.activation()
    groups = case_groups(envelope, text_of, max_cases=3)
    badges = [case.badge.text for group in groups for case in group.cases]
    assert sorted(badges) == ["error", "failed", "failed"]
    assert [group.more_cases for group in groups] == [
        "2\u00a0more cases in the results file.", "4\u00a0more cases in the results file.",
    ]  # fmt: skip
    assert MAX_CASES >= 1_000


@pytest.mark.slow
def test_pages_of_a_thousand_cases_have_a_size_that_browsers_open() -> None:
    envelope = making.size_impact(runs=12)
    assert len(envelope["cases"]) > 1_000
    markup = html(build_report([envelope]))
    groups = case_groups(envelope, lambda path: making.ANSWER * 6)
    cases = html_cases(build_report([envelope]), [CasePart("L6", groups)], report_link="r.html")
    assert len(markup) + len(cases) < 16_000_000


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[eval\]( @ [^']*)?'"):
        page_of(small())
    monkeypatch.undo()
    assert faults(page_of([])) == []


def test_a_value_that_is_not_in_words_is_a_mistake_of_ours() -> None:
    template = environment().from_string("{{ a }}")
    values: list[object] = [None, 1.5, True, [], {}]
    for value in values:
        with pytest.raises(TypeError, match="texts and whole numbers"):
            template.render(a=value)
    assert template.render(a=3) == "3"
    assert template.render(a="\x1b<") == "\\x1b&lt;"
