"""The page: whole whatever it is made from, harmless, and the same for the same input."""

from __future__ import annotations

import copy
import re
import sys
import time
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.report import html
from skillyard.evals.report.case_views import MAX_CASES, case_groups
from skillyard.evals.report.html import render
from skillyard.evals.report.markup import visible_line
from skillyard.evals.report.texts import RAW_LIMIT, TEXT_LIMITS, Texts
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile, small, text_of
from tests.serving.web.reading import Page, harm, read
from tests.tables import for_each

POLICY = re.compile(
    r"default-src 'none'; style-src 'sha256-([A-Za-z0-9+/=]+)'; base-uri 'none'; form-action 'none'"
)


def page_of(envelopes: Any, **arguments: Any) -> Page:
    given = {"text_of": text_of, "title": "A run", **arguments}
    return read(render(envelopes, **given))


def faults(page: Page) -> list[str]:
    """What could run or reach out; the page's own policy is the one meta that may act."""
    acting = [e.attributes["http-equiv"] for e in page.all("meta") if "http-equiv" in e.attributes]
    assert acting == ["Content-Security-Policy"]
    return [fault for fault in harm(page) if fault != "a meta that acts"]


def flat(text: str) -> str:
    return " ".join(text.split())


@cache
def whole_page() -> Page:
    """Return the page of all layers; reading it takes half a second."""
    return page_of(every(), changes=CHANGES)


@cache
def size_page() -> Page:
    return page_of([making.size_impact()])


def test_a_page_of_all_layers_is_whole_and_reaches_nobody() -> None:
    page = whole_page()
    assert faults(page) == []
    assert page.all("script") == []
    ids = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
    assert page.addresses()
    assert set(page.addresses()) <= {f"#{name}" for name in ids}
    markup = render(every(), text_of=text_of, title="A run")
    assert not re.search(r"url\(|@import|https?://", markup)


def test_the_policy_names_the_one_style_sheet_by_its_hash() -> None:
    page = whole_page()
    policy = next(e for e in page.all("meta") if "http-equiv" in e.attributes)
    named = POLICY.fullmatch(policy.attributes["content"])
    assert named is not None
    (style,) = page.all("style")
    digest = sha256("".join(style.text).encode("utf-8")).digest()
    assert named[1] == b64encode(digest).decode("ascii")


def test_every_plot_is_xml_with_a_title_and_a_description() -> None:
    drawn = re.findall(r"<svg.*?</svg>", render(every(), text_of=text_of, title="A run"), re.DOTALL)
    assert len(drawn) > 60
    for plot in drawn:
        root = ElementTree.fromstring(plot)
        assert [child.tag for child in root][:2] == ["title", "desc"]
        assert all((child.text or "").strip() for child in root[:2])


@for_each("text", HOSTILE)
def test_hostile_texts_are_shown_and_cannot_act(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in small()]
    markup = render(envelopes, text_of=lambda path: text, title=text, changes=[{"message": text}])
    page = read(markup)
    assert faults(page) == []
    assert page.all("script") == []
    for plot in re.findall(r"<svg.*?</svg>", markup, re.DOTALL):
        ElementTree.fromstring(plot)
    wanted = visible_line(text)[:200]
    assert flat(page.text()).count(wanted) > 20
    assert wanted in flat(page.text("title"))


def test_a_stand_in_says_so_before_everything_else() -> None:
    page = page_of(small(backend="fake"))
    (banner,) = page.all("div", class_="fake")
    assert "Made by a stand-in server: says nothing about any skill" in "".join(banner.text)
    text = page.text()
    assert text.index("says nothing about any skill") < text.index("Answered by")
    assert len(page.all("span", class_="stamp")) == 8
    assert "It proves nothing about any skill: no model answered." in text


def test_a_stand_in_beside_real_runs_is_named() -> None:
    page = page_of([small(backend="fake")[2], small()[3]])
    (banner,) = page.all("div", class_="fake")
    assert "This is about L5 effectiveness." in "".join(banner.text)
    assert len(page.all("span", class_="stamp")) == 2


def test_stopped_sampled_and_degraded_runs_say_so() -> None:
    cut = making.size_impact(aborted=True, stop_reason="budget", limit=40, degraded=True)
    text = flat(page_of([cut]).text())
    assert "the limit on cost or calls was reached. Counted: 166 of 168 cases; skipped: 1." in text
    assert "a seeded sample of at most 40 was run" in text
    assert "can never become a baseline" in text
    assert "Too many errors to rely on the rates" in text
    calm = flat(size_page().text())
    for word in ("Stopped before", "A sample", "Too many errors", "stand-in"):
        assert word not in calm


def test_more_than_a_tenth_of_errors_is_said_even_where_the_run_does_not() -> None:
    envelope = making.confusion()
    envelope["cases"][0]["errors"] = [{"kind": "timeout", "message": "late"}]
    assert "1 of 4 cases (25 %) ended in an error" in flat(page_of([envelope]).text())


def test_every_case_is_there_with_both_texts_and_every_score() -> None:
    envelope = making.effectiveness()
    page = page_of([envelope])
    cases = page.all("details", class_="case")
    assert len(cases) == len(envelope["cases"]) == 48
    one = next(c for c in cases if "prompt 1, run 1" in "".join(c.text))
    text = flat("".join(one.text))
    for wanted in ("A plan for the export", "I would do this by hand", "correctness", "0.35",
                   "csv-cleaning/0/0/enhanced/baseline", "Response A names the rows",
                   "1,605 tokens injected (6,420 bytes)"):  # fmt: skip
        assert wanted in text
    assert len(page.all("pre", class_="answer")) >= 2 * 47


def test_what_a_judge_said_is_shown_raw_where_it_could_not_be_used() -> None:
    text = flat(page_of([making.effectiveness()]).text())
    assert text.count("Sure! Here is my verdict: A is better <b>because</b> it is longer.") == 1
    assert "Unusable reply the reply is no JSON object" in text


def test_errors_and_skipped_stand_apart() -> None:
    page = size_page()
    text = flat(page.text())
    assert "Not counted These cases gave no figure." in text
    said = [flat(" ".join(row.text)) for row in page.all("tr")]
    assert "error 1 judge_error the reply is no JSON object" in said
    assert "skipped 1 budget" in said


def test_the_frontier_the_forests_and_the_verdicts_are_there() -> None:
    page = size_page()
    titles = [flat("".join(e.text)) for e in page.all("title")[1:]]
    assert "Mean score against tokens injected" in titles
    assert "Effect over no skill against tokens injected" in titles
    assert sum("full skill against no skill" in title for title in titles) == 9
    assert len(page.all("article", class_="card")) == 8
    text = flat(page.text())
    assert "the summary does as well for a twelfth of the tokens" in text
    for heading in ("Order of the answers", "Length of the answers", "Bradley–Terry"):
        assert heading in text


def test_matrices_curves_and_rates_are_there() -> None:
    page = page_of([making.activation(), making.confusion()])
    titles = [flat("".join(e.text)) for e in page.all("title")]
    assert "Rates by the threshold of the router" in titles
    assert "work on code: expected skill by picked skill" in titles
    assert "4 of 9 for git-bisect went to unit-test-repair" in titles
    assert "picked all the same for 12\u00a0% of 16\u00a0requests" in page.text()


def test_an_order_effect_is_said_in_words() -> None:
    envelope = making.effectiveness()
    envelope["artifacts"]["order"].update(slot_a_wins=20, slot_b_wins=69, share_a=0.2247, p=1e-6)
    both = flat(page_of([envelope]).text())
    assert "the judge prefers the second place" in both
    assert "judged in both orders, so this does not move the means" in both
    envelope["meta"]["orders"] = "single"
    assert "one order only, so this can move single results" in flat(page_of([envelope]).text())


def test_nothing_at_all_is_a_page_in_plain_words() -> None:
    broken = {"meta": None, "cases": None, "summary": 3, "artifacts": "x"}
    nothing: list[list[dict[str, Any]]] = [[], [{}], [broken]]
    for envelopes in nothing:
        page = page_of(envelopes, title="")
        assert faults(page) == []
        assert "There is nothing to report on." in page.text()
    bare = [{"meta": {"eval_type": kind}} for kind in ("activation", "confusion", "size_impact")]
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
    first, all_places = envelopes_and_places()[data.draw(st.integers(0, 3))]
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


def test_the_same_input_gives_the_same_bytes_whatever_its_order() -> None:
    envelopes = every()
    again = [copy.deepcopy(each) for each in reversed(envelopes)]
    for each in again:
        each["summary"] = dict(reversed(list(each["summary"].items())))
    first = render(envelopes, text_of=text_of, title="A run", changes=CHANGES)
    assert first == render(again, text_of=text_of, title="A run", changes=CHANGES[::-1])


def test_long_texts_are_cut_and_it_is_said() -> None:
    envelope = making.effectiveness(prompts=1)
    answer = "0123456789" * 3_000
    text = flat(page_of([envelope], text_of=lambda path: answer).text())
    assert "Cut after 20,000 of 30,000 characters." in text
    envelope["cases"][0]["prompt"] = "p" * (RAW_LIMIT + 1)
    assert "Cut after 4,000 of 4,001 characters." in flat(page_of([envelope]).text())


@for_each(("answers", "limit"), [(0, 20_000), (2_000, 3_000), (100_000, 1_000)])
def test_the_limit_of_a_text_follows_how_many_there_are(answers: int, limit: int) -> None:
    cut = Texts(lambda path: "x" * 50_000, answers)
    assert cut.limit == limit
    assert TEXT_LIMITS[0] <= limit <= TEXT_LIMITS[1]
    found = cut.answer("a")
    assert found is not None
    assert len(found.text) == limit


def test_a_text_that_is_not_kept_is_said_to_be_missing() -> None:
    text = flat(page_of([making.effectiveness()], text_of=lambda path: None).text())
    assert "The text is not kept where this report was made." in text


def test_of_too_many_cases_those_that_failed_are_kept() -> None:
    envelope = making.activation()
    groups = case_groups(envelope, Texts(text_of, 1), max_cases=3)
    kept = [case.badge.text for group in groups for case in group.cases]
    assert sorted(kept) == ["error", "failed", "failed"]
    assert [group.more_cases for group in groups] == [
        "2\u00a0more cases in the results file.", "4\u00a0more cases in the results file.",
    ]  # fmt: skip
    assert MAX_CASES >= 1_000


@pytest.mark.slow
def test_a_thousand_cases_are_rendered_in_three_seconds() -> None:
    envelope = making.size_impact(runs=12)
    assert len(envelope["cases"]) > 1_000
    start = time.process_time()
    markup = render([envelope], text_of=lambda path: making.ANSWER * 6, title="Large")
    assert time.process_time() - start < 3
    assert len(markup) < 16_000_000


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    html._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[eval\]( @ [^']*)?'"):
        page_of(small())
    monkeypatch.undo()
    assert faults(page_of([])) == []


def test_a_value_that_is_not_in_words_is_a_mistake_of_ours() -> None:
    template = html._environment().from_string("{{ a }}")
    values: list[object] = [None, 1.5, True, [], {}]
    for value in values:
        with pytest.raises(TypeError, match="texts and whole numbers"):
            template.render(a=value)
    assert template.render(a=3) == "3"
    assert template.render(a="\x1b<") == "\\x1b&lt;"
