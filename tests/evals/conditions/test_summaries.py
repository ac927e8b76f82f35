"""The summary: what the published cases leave out, and laws that hold for any text."""

from __future__ import annotations

import time

from hypothesis import assume, given
from hypothesis import strategies as st

from skillyard.evals.conditions.summaries import (
    extract_summary,
    opening_fence,
    parts,
    scope_of,
    split_document,
)
from tests.property.strategies import blocks, hostile_text, many
from tests.tables import for_each

LINES = st.sampled_from(
    [
        "## Scope", "## Scope ##", "  ## Scope", "    ## Scope", "##", "## ", "## Next",
        "### Scope", "# Scope", "```", "````", "~~~", "``` a`b", "  ```sh", "text", "", "   ", "\t",
        "---", "[skill:a] and [skill:b]", "[skill:", "[skill:]", "x [skill:a b] y]", "\ufeff",
        "a\u2028b",
    ]
)  # fmt: skip
bodies = st.lists(st.one_of(LINES, hostile_text), max_size=14).map("\n".join)
documents = st.one_of(
    bodies,
    st.builds(
        "{}---{}\n{}---\n{}".format,
        st.sampled_from(["", "\ufeff", "\ufeff\ufeff", " "]),
        st.sampled_from(["", " ", "-", "\r"]),
        st.one_of(blocks, bodies.map("description: {}\n".format)),
        bodies,
    ),
)


@many
@given(documents)
def test_no_text_makes_it_raise_and_what_comes_back_is_joined_from_its_parts(text: str) -> None:
    result = parts(text)
    assert all(part == part.strip() for part in result)
    assert extract_summary(text) == ("\n".join(part for part in result if part) or None)


@many
@given(documents)
def test_line_ends_and_a_byte_order_mark_change_nothing(text: str) -> None:
    text = split_document(text).body  # has LF only
    assume(not text.startswith("\ufeff"))
    assert parts("\ufeff" + text.replace("\n", "\r\n")) == parts(text)
    assert parts(text.replace("\n", "\r")) == parts(text)


@many
@given(documents)
def test_a_scope_of_a_scope_is_the_same_scope(text: str) -> None:
    scope = parts(text).scope
    # Taking a reference out, or the blanks before the first line, may leave a heading or a fence.
    assume("[skill:" not in text)
    assume(not scope.startswith("## ") and scope.partition("\n")[0] != "##")
    assert scope_of(f"## Scope\n\n{scope}\n\n## Next\n") == scope


@many
@given(documents)
def test_a_summary_holds_no_fenced_code(text: str) -> None:
    assume("[skill:" not in text)
    assert not any(opening_fence(line) for line in parts(text).scope.split("\n"))


@many
@given(documents)
def test_a_scope_is_made_of_lines_of_the_body(text: str) -> None:
    assume("[skill:" not in text)
    lines = {line.strip() for line in split_document(text).body.split("\n")}
    assert {line.strip() for line in parts(text).scope.split("\n")} <= lines | {""}


def described(*block: str) -> str:
    return parts("\n".join(["---", *block, "---", "body"])).description


@for_each(
    ("block", "description"),
    [
        (["description: |", "  Two", "  lines.", ""], "Two\nlines."),
        (["description: >-", "  Folded", "  text."], "Folded text."),
        (["description: plain", "  goes on"], "plain goes on"),
        (["description: 'it''s'"], "it's"),
        (["description: ~"], ""),
        (["description: 12"], ""),
        (["description: 1.5"], ""),
        (["description: true"], ""),
        (["description: [a, b]"], ""),
        (["description: {a: b}"], ""),
        (["description: '12'"], "12"),
        (["metadata:", "  description: nested"], ""),
        (["Description: other key"], ""),
        (["- description: of a list"], ""),
        (["just text"], ""),
    ],
)
def test_a_description_is_a_text_at_the_top_level(block: list[str], description: str) -> None:
    assert described(*block) == description


@for_each(
    ("block", "description"),
    [
        (["description: Use when: parsing", "name: x"], "Use when: parsing"),
        (['description: Say "x": y', "name: [broken"], 'Say "x": y'),
        (["name: [broken", "description: |", "  A block", "  stays."], "A block\nstays."),
        (['description: "Use "quoted" words"'], 'Use "quoted" words'),
        (["a: &x 1", "b: *x", "description: Aliases elsewhere."], "Aliases elsewhere."),
        (["description: first", "description: second"], "second"),
        (["name: [broken", "description: [a, b"], ""),
        (["name: [broken", "description: null"], ""),
        (["name: [broken", "description: |"], ""),
        (["name: [broken", "description:x"], ""),
        (["name: [broken"], ""),
    ],
)
def test_a_description_is_recovered_where_the_block_is_no_yaml(
    block: list[str], description: str
) -> None:
    assert described(*block) == description


@for_each(
    "text",
    [
        "----\ndescription: x\n----\n",
        " ---\ndescription: x\n---\n",
        "---\ndescription: x\n",
        "---\ndescription: x\n ---\n",
        "text\n---\ndescription: x\n---\n",
        "---",
    ],
)
def test_without_two_fences_there_is_no_description_and_all_is_body(text: str) -> None:
    assert split_document(text) == ("", text)


def test_the_closing_fence_may_be_the_last_line_without_a_line_end() -> None:
    assert split_document("---\ndescription: x\n---") == ("x", "")


def test_three_hyphens_inside_a_value_do_not_close() -> None:
    assert split_document("---\ndescription: a --- b\nx: ---y\n---\nbody\n") == (
        "a --- b",
        "body\n",
    )


def test_a_block_larger_than_a_catalog_takes_is_still_no_body() -> None:
    text = "---\ndescription: x\nnotes: " + "y" * 40_000 + "\n---\n## Scope\nz\n"
    assert parts(text) == ("x", "z")


def test_indented_code_on_the_first_line_of_a_body_is_no_heading() -> None:
    assert scope_of("    ## Scope\n\nnot this\n") == ""


@for_each(
    ("body", "scope"),
    [
        ("## Scope\na\n## Scope\nb", "a"),
        ("## Scope ##\na", "a"),
        ("## Scope#\na", ""),
        ("##\tScope \t\na", "a"),
        ("## scope\na", ""),
        ("## Scope\na\n##\nb", "a"),
        ("## Scope\na\nNext\n----\nb", "a\nNext\n----\nb"),
        ("## Scope\na\n### Deeper\nb", "a\n### Deeper\nb"),
        ("~~~\n## Scope\nx\n~~~\n## Scope\na", "a"),
        ("## Scope\na\n~~~ sh\nx\n~~~~\nb", "a\nb"),
        ("## Scope\na\n```\n``` x\n```\nb", "a\nb"),
        ("## Scope\na\n~~~ `x`\ny", "a"),
        ("## Scope\n`[skill:x]` and [skill:y z]", "`` and"),
        ("## Scope\n[skill:] [skill:\nx] [skill", "[skill:] [skill:\nx] [skill"),
    ],
)
def test_the_section_by_its_rules(body: str, scope: str) -> None:
    assert scope_of(body) == scope


@for_each(
    "line",
    ["[skill:" * 150_000, "`" * 1_000_000, "## " + "# " * 500_000, "#" * 1_000_000, "~ " * 500_000],
    ids=["references", "backticks", "hashes", "hash run", "tildes"],
)
def test_a_megabyte_made_to_be_slow_takes_no_time(line: str) -> None:
    started = time.process_time()
    extract_summary(f"## Scope\n{line}\n")
    assert time.process_time() - started < 2.0
