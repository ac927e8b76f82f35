"""The summary of a pull request: the one that was looked at, within its limit, and inert."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillyard.evals.report.render import MARKDOWN_LIMIT, code, markdown, prose
from skillyard.evals.report.report import build_report
from skillyard.evals.report.words import visible_line
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile, small
from tests.tables import for_each

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "SKILLYARD_UPDATE_GOLDEN"
TAGS = {"<details>", "</details>"}


def render(envelopes: Any, *, limit: int = MARKDOWN_LIMIT, **arguments: Any) -> str:
    return markdown(build_report(envelopes, **arguments), limit=limit)


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get(UPDATE) == "1":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.is_file(), f"no golden file; {UPDATE}=1 writes it"
    assert text == path.read_text(encoding="utf-8"), f"{UPDATE}=1 accepts the new text"


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


def html_of(tokens: list[Any]) -> list[str]:
    result = []
    for token in tokens:
        if token.type in ("html_block", "html_inline"):
            result.append(token.content)
        result += html_of(token.children or [])
    return result


def test_the_summary_is_the_one_that_was_looked_at() -> None:
    compare("summary.md", render(every(), title="Skills of the example library", changes=CHANGES))


def test_a_stand_in_says_so_at_once() -> None:
    text = render(every(backend="fake"), title="A run")
    assert text.splitlines()[:4] == [
        "# A run",
        "",
        "> [!CAUTION]",
        "> **Made by a stand-in server: says nothing about any skill**",
    ]


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


@given(lines)
def test_a_text_in_code_is_shown_as_it_is(text: str) -> None:
    wanted = visible_line(text, 200) or "–"
    (_, inline, _) = parsed(code(text))
    assert plain([inline]) == wanted
    if wanted != "–":
        assert [child.type for child in inline.children] == ["code_inline"]


@for_each("text", HOSTILE)
def test_hostile_envelopes_bring_no_mark_up(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in small()]
    written = render(envelopes, title=text, changes=[{"entity": text, "message": text}])
    assert written.count(code(text).replace("|", "\\|")) > 5
    for result in html_of(parsed(written)):
        for tag in re.findall(r"<[^>]*>", result):
            assert tag in TAGS | {"<summary>", "</summary>"}
    assert kinds(parsed(written)) & {"link_open", "image", "fence", "heading_open"} == {
        "heading_open"
    }
    rows = [line for line in written.splitlines() if line.startswith("|---")]
    assert len(rows) > 5


@settings(max_examples=20)
@given(st.data())
def test_a_summary_fits_and_its_folds_are_closed(data: st.DataObject) -> None:
    envelopes, whole = whole_summary()
    limit = data.draw(st.integers(300, len(whole) + 200))
    text = render(envelopes, title="A run", changes=CHANGES, limit=limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert ("left out here" in text) == (text != whole)


@cache
def whole_summary() -> tuple[list[dict[str, Any]], str]:
    envelopes = every()
    return envelopes, render(envelopes, title="A run", changes=CHANGES)


def test_a_library_of_a_thousand_skills_fits_a_comment() -> None:
    envelope = making.effectiveness()
    skill = envelope["summary"]["csv-cleaning"]
    envelope["summary"].update({f"skill-{number:04d}": skill for number in range(1_000)})
    text = render([envelope], title="Large")
    assert len(text) <= MARKDOWN_LIMIT == 65_536
    assert "908 more rows in the HTML report." in text


def test_nothing_at_all_is_said_in_words() -> None:
    assert "There is nothing to report on." in render([], title="")
    assert "There is nothing to report on." in render([{"meta": None}], title="x")
