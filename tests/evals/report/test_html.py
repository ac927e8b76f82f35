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

from skillyard.errors import InvalidInput
from skillyard.evals.report.render import LETTERS, environment, html, html_cases
from skillyard.evals.report.report import build_report
from skillyard.evals.report.values import visible_line
from skillyard.evals.statistics.verdicts import analyse_pairs
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, SKILLS, every, hostile, text_of
from tests.serve.web.page_parser import Page, harm, read
from tests.tables import for_each

POLICY = re.compile(
    r"default-src 'none'; style-src 'sha256-([A-Za-z0-9+/=]+)'; base-uri 'none'; form-action 'none'"
)


def page_of(envelopes: Any, **arguments: Any) -> Page:
    return read(html(build_report(envelopes, **arguments), cases_link="report.cases.html"))


def cases_page_of(envelopes: Any, text_of: Any = text_of, **arguments: Any) -> Page:
    report = build_report(envelopes, **arguments)
    return read(html_cases(report, text_of, report_link="report.html"))


def faults(page: Page) -> list[str]:
    """What could run or reach out; the page's own policy is the one meta that may act."""
    acting = [e.attributes["http-equiv"] for e in page.all("meta") if "http-equiv" in e.attributes]
    assert acting == ["Content-Security-Policy"]
    ours = {"a meta that acts", "<a href='report.html'>", "<a href='report.cases.html'>"}
    return [fault for fault in harm(page) if fault not in ours]


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
    assert faults(page) == faults(cases_page_of(every())) == []
    assert page.all("script") == []
    ids = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
    inside = {each for each in page.addresses() if each.startswith("#")}
    assert inside
    assert inside <= {f"#{name}" for name in ids}
    assert not re.search(r"url\(|@import|https?://", html(build_report(every())))


def test_the_policy_names_the_one_style_sheet_by_its_hash() -> None:
    for page in (whole_page(), cases_page_of(every())):
        policy = next(e for e in page.all("meta") if "http-equiv" in e.attributes)
        named = POLICY.fullmatch(policy.attributes["content"])
        assert named is not None
        (style,) = page.all("style")
        digest = sha256("".join(style.text).encode("utf-8")).digest()
        assert named[1] == b64encode(digest).decode("ascii")


def test_a_report_of_three_layers_is_read_in_minutes() -> None:
    """1,500 words on the open page, 6,000 with all closed parts."""
    seen, total = words(whole_page())
    assert 500 < seen <= 1_500
    assert total <= 6_000


def test_the_first_table_has_a_line_a_skill_and_says_what_to_do() -> None:
    head, *lines = first_table(whole_page())
    assert head == "Skill Verdict Difference Worst prompt Won–lost–tied Prompts Next"
    assert [line.split()[0] for line in lines] == sorted(SKILLS)
    by_skill = {line.split()[0]: line for line in lines}
    assert by_skill["csv-cleaning"] == (
        "csv-cleaning ▲ better +0.91 +0.52 to +1.30 −0.50 at prompt 2 4–1–1 12 keep"
    )
    assert "→ the summary is enough: shorten it" in by_skill["pdf-form-filling"]
    assert "→ it makes answers worse: rewrite it" in by_skill["release-notes"]
    assert "→ no skill does as well: remove it" in by_skill["sql-migrations"]
    assert "→ a new run of 24 prompts" in by_skill["git-bisect"]
    _, *lines = first_table(page_of([making.activation()]))
    assert "→ description misses and fires wrongly: change its words" in lines[1]


def test_a_statement_on_all_skills_stands_after_the_skills_and_says_how_many_are_alone() -> None:
    text = flat(whole_page().text())
    sentence = "8 skills as a whole, full skill against no skill: +0.44 points"
    assert text.count(sentence) == 1
    assert max(text.index(skill) for skill in SKILLS) < text.index(sentence)
    assert f"{sentence} (+0.08 to +0.79): better, which is shown for 2 of them alone." in text
    assert "The judge passes its checks: 3 of 46" in text
    envelope = making.effectiveness()
    envelope["summary"] = {name: envelope["summary"][name] for name in ("csv-cleaning", "_overall")}
    assert "as a whole" not in page_of([envelope]).text()


@for_each("text", HOSTILE)
def test_hostile_texts_are_shown_and_cannot_act(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in every(prompts=1)]
    page = page_of(envelopes, changes=[{"message": text}])
    cases = cases_page_of(envelopes, lambda run, path: text)
    wanted = visible_line(text)[:200]
    for each, least in ((page, 10), (cases, 20)):
        assert faults(each) == []
        assert each.all("script") == []
        assert flat(each.text()).count(wanted) > least
    for plot in re.findall(r"<svg.*?</svg>", html(build_report(envelopes)), re.DOTALL):
        ElementTree.fromstring(plot)


def test_a_stand_in_says_so_before_everything_else_and_on_every_line() -> None:
    page = page_of(every(backend="fake"))
    (banner,) = page.all("div", class_="fake")
    assert "Made by a stand-in server: says nothing about any skill" in "".join(banner.text)
    text = flat(page.text())
    assert text.index("says nothing about any skill") < text.index("Difference")
    assert len(page.all("span", class_="stamp")) == len(page.all("section", class_="stand-in")) == 3
    titles = ["".join(each.text) for each in (*page.all("h2"), *page.all("h3"))]
    assert [each for each in titles if "against" in each and "(stand-in)" not in each] == []
    assert all("→ run it with a model" in line for line in first_table(page)[1:])
    page = page_of([making.effectiveness(backend="fake"), making.size_impact()])
    assert "This is about L5 effectiveness." in page.text()
    assert len(page.all("span", class_="stamp")) == 1


def test_what_must_be_known_first_stands_above_the_verdicts() -> None:
    cut = making.size_impact(
        aborted=True, stop_message="no call left", limit=40, degraded=True, missing=3, run_calls=300
    )
    cut["summary"]["csv-cleaning"]["lost"] = {"full": 14}
    sentence = "The judge goes by the length of an answer."
    cut["artifacts"]["trust"] = {"trusted": False, "sentence": sentence}
    for entity in cut["summary"].values():
        entity["comparisons"]["full/baseline"]["word"] = "judge not trusted"
    page = page_of([cut])
    text = flat(page.text())
    above = text[: text.index("Worst prompt")]
    for each in (
        "no call left. Counted: 46 of 48 cases.",
        "at most 40 cases. It cannot become a baseline.",
        "Too many errors to rely on the rates",
        "a replay needs 3 answers more",
        "csv-cleaning: 14 answers of full skill",
        f"The judge failed a check, so there is no verdict L6 size-impact: {sentence}",
    ):
        assert each in above
    assert all("! judge not trusted" in line for line in first_table(page)[1:])
    assert "run calls 300" in text
    assert page_of([making.effectiveness()]).all("div", class_="banner") == []
    failed = making.activation()
    failed["cases"][0]["errors"] = [{"kind": "timeout", "message": "late"}]
    assert "2 of 9 cases (22 %) ended in an error" in flat(page_of([failed]).text())
    for case in (lost := making.effectiveness())["cases"][:4]:
        case |= {"skipped": "truncated", "lost": ["enhanced"]}
    assert "5 of 15 cases (33 %)" in flat(page_of([lost]).text())


def test_every_case_is_there_with_both_texts_and_every_score() -> None:
    envelope = making.effectiveness()
    checks = [{"kind": "contains", "text": "a date", "passed": False, "evidence": "missing"}]
    envelope["cases"][0]["checks"] = {"enhanced": checks}
    page = cases_page_of([envelope])
    cases = page.all("details", class_="case")
    assert len(cases) == len(envelope["cases"]) == 16
    text = flat("".join(cases[0].text))
    for wanted in ("A plan for the export", "I would do this by hand", "correctness", "0.35",
                   "csv-cleaning/0/enhanced/baseline", "Response A names the rows",
                   "1,605 tokens injected", "✗ failed", "a date"):  # fmt: skip
        assert wanted in text
    whole = flat(page.text())
    assert whole.count("Here is my verdict: A is better <b>because</b> it is longer.") == 1
    assert "Unusable reply of the judge: the reply is no JSON object" in whole
    routed = flat(cases_page_of([making.activation()]).text())
    assert "since tuesday the tests hang, which commit was it failed" in routed
    assert "Picked unit-test-repair" in routed


def test_what_decided_is_open_and_the_rest_is_folded() -> None:
    page = page_of([making.size_impact()])
    text = flat(page.text())
    folds = " ".join(flat("".join(fold.text)) for fold in page.all("details"))
    for heading in ("Full skill against no skill", "Full skill against summary"):
        assert heading in text
        assert heading not in folds
    for folded in (
        "Summary against no skill",
        "judge_error error 1 the reply is no JSON object",
        "budget skipped 1",
        "log-triage sibling files that are not there references/old.md",
        f"dataset sha256 {making.HEX}",
        "total cost $2.84",
    ):
        assert folded in folds
        assert text.count(folded) == 1
    assert len(page.all("svg")) == 8 * 3


def test_rates_and_what_is_picked_in_place_of_others_are_there() -> None:
    text = flat(page_of([making.activation()]).text())
    assert "0 % 0 % to 43 %" in text
    assert "git-bisect unit-test-repair 4 of 9" in text.partition("Picked in place of others")[2]
    assert "1 of 10" not in text, "one request of ten is no confusion"


def test_what_the_statistics_really_write_is_shown_whole() -> None:
    envelope = making.size_impact(prompts=6)
    envelope["summary"], envelope["artifacts"] = analyse_pairs(envelope["cases"])
    page = page_of([envelope])
    assert faults(page) == []
    text = flat(page.text())
    assert "8 skills as a whole, full skill against no skill: +0." in text


def test_nothing_at_all_is_a_page_in_plain_words() -> None:
    broken = {"meta": None, "cases": None, "summary": 3, "artifacts": "x"}
    nothing: list[list[dict[str, Any]]] = [[], [{}], [broken]]
    for envelopes in nothing:
        page = page_of(envelopes)
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
    return [(envelope, places(envelope)) for envelope in every(prompts=1)]


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
    assert faults(page_of([envelope])) == faults(cases_page_of([envelope])) == []


def test_the_same_input_gives_the_same_bytes_whatever_its_order() -> None:
    envelopes = every()
    again = [copy.deepcopy(each) for each in reversed(envelopes)]
    for each in again:
        each["summary"] = dict(reversed(list(each["summary"].items())))
    first = html(build_report(envelopes, changes=CHANGES))
    assert first == html(build_report(again, changes=CHANGES[::-1]))


def test_long_and_missing_texts_are_said_to_be_so() -> None:
    envelope = making.effectiveness(prompts=1)
    text = flat(cases_page_of([envelope], lambda run, path: "0123456789" * 3_000).text())
    assert "Cut after 8,000 of 30,000 characters." in text
    envelope["cases"][0]["prompt"] = "p" * (LETTERS + 1)
    text = flat(cases_page_of([envelope], lambda run, path: None).text())
    assert "Cut after 8,000 of 8,001 characters." in text
    assert "The text is not kept where this report was made." in text


@pytest.mark.slow
def test_pages_of_a_thousand_cases_have_a_size_that_browsers_open() -> None:
    report = build_report([making.size_impact(prompts=42)])
    assert len(report.parts[0][0].cases) > 1_000
    cases = html_cases(report, lambda run, path: making.ANSWER * 20, report_link="r.html")
    assert len(html(report)) + len(cases) < 16_000_000


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[eval\]( @ [^']*)?'"):
        page_of(every())
    monkeypatch.undo()
    assert faults(page_of([])) == []
