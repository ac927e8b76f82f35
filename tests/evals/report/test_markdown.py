"""The summary of a pull request: the first screen, within its limit, and inert."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillyard.evals.report.render import MARKDOWN_LIMIT, markdown, prose
from skillyard.evals.report.report import Report, build_report
from skillyard.evals.report.values import visible_line
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile
from tests.tables import for_each


def render(envelopes: Any, *, limit: int = MARKDOWN_LIMIT, **arguments: Any) -> str:
    return markdown(build_report(envelopes, **arguments), limit=limit)


def parsed(text: str) -> list[Any]:
    """The tokens as GitHub's parser would see them: CommonMark with tables and bare HTML."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def plain(tokens: list[Any]) -> str:
    pieces = []
    for token in tokens:
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        pieces += [plain(token.children)] if token.children else []
    return "".join(pieces)


def kinds(tokens: list[Any]) -> set[str]:
    result = set()
    for token in tokens:
        result.add(token.type)
        result |= kinds(token.children or [])
    return result


def test_a_summary_has_the_first_screen_and_what_decided() -> None:
    text = render(every(backend="fake"), changes=CHANGES)
    assert text.splitlines()[:4] == [
        "# Skill evaluation",
        "",
        "> [!CAUTION]",
        "> **Made by a stand-in server: says nothing about any skill**",
    ]
    text = render(every(), changes=CHANGES)
    assert "| csv-cleaning | ▲ better | +0.91 (+0.52 to +1.30) | −0.50 at prompt 2 |" in text
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Skill evaluation",
        "### L5 With the skill against no skill", "### L6 Full skill against no skill",
        "### L3 How often each skill fires", "## Against the baseline",
        "## L6 size-impact: Is the whole skill better than its summary, and than nothing?",
        "### Full skill against summary",
        "## L3 activation: Does the router pick the right skills, and none where none fits?",
        "### Picked in place of others",
    ]  # fmt: skip
    assert "| release-notes | L6 | ▼ regression | The mean fell from +0.31 to −0.45" in text
    assert "1 measure unchanged." in text
    assert "\n\n\n" not in text


lines = st.sampled_from(HOSTILE) | st.text(max_size=60)


@given(lines)
@pytest.mark.parametrize("frame", ["{}", "- {}", "> {}", "| a |\n|---|\n| {} |"])
def test_a_sentence_is_only_a_sentence(frame: str, text: str) -> None:
    written = prose(text)
    tokens = parsed(frame.format(written))
    assert kinds(tokens) <= {
        "paragraph_open", "paragraph_close", "inline", "text", "code_inline",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
        "blockquote_open", "blockquote_close", "table_open", "table_close", "thead_open",
        "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close",
        "td_open", "td_close",
    }  # fmt: skip
    shown = plain(tokens).removeprefix("a" if "|" in frame else "")
    assert shown.split() == visible_line(text, 1_000).split()


@given(lines)
def test_no_name_number_or_address_outside_code_can_be_linked(text: str) -> None:
    outside = re.sub(r"`[@#]`|`GH-`", " ", prose(text), flags=re.IGNORECASE)
    assert not re.search(r"(?<!\\)[@#]\w", outside)
    assert not re.search(r"https?://|www\.\w|GH-\d", outside, re.IGNORECASE)


@for_each("text", HOSTILE)
def test_hostile_envelopes_bring_no_mark_up(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in every(prompts=1)]
    written = render(envelopes, changes=[{"entity": text, "message": text}])
    shown = plain(parsed(written))
    assert "".join(shown.split()).count("".join(visible_line(text)[:60].split())) > 2
    assert (
        kinds(parsed(written)) & {"link_open", "image", "fence", "html_block", "html_inline"}
        == set()
    )
    assert len([line for line in written.splitlines() if line.startswith("|---")]) > 5


@given(st.integers(300, 20_000))
def test_a_summary_fits(limit: int) -> None:
    report, whole = whole_summary()
    text = markdown(report, limit=limit)
    assert len(text) <= limit
    assert ("left out here" in text) == (text != whole)


@cache
def whole_summary() -> tuple[Report, str]:
    report = build_report(every(), changes=CHANGES)
    return report, markdown(report)


def test_a_library_of_a_thousand_skills_fits_a_comment() -> None:
    envelope = making.effectiveness()
    skill = envelope["summary"]["csv-cleaning"]
    envelope["summary"].update({f"skill-{number:04d}": skill for number in range(1_000)})
    text = render([envelope])
    assert len(text) <= MARKDOWN_LIMIT == 65_536
    assert "908 more rows in the HTML report." in text


def test_nothing_at_all_is_said_in_words() -> None:
    assert "There is nothing to report on." in render([])
    assert "There is nothing to report on." in render([{"meta": None}])
