"""The summary: what the published cases leave out, and laws that hold for any text."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.arms import extract_summary, scope_of, split_document
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
    document = split_document(text)
    result = document.description, scope_of(document.body)
    assert all(part == part.strip() for part in result)
    assert extract_summary(text) == ("\n".join(part for part in result if part) or None)


def described(*block: str) -> str:
    return split_document("\n".join(["---", *block, "---", "body"])).description


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


def test_a_block_larger_than_a_catalog_takes_is_still_no_body() -> None:
    text = "---\ndescription: x\nnotes: " + "y" * 40_000 + "\n---\n## Scope\nz\n"
    assert extract_summary(text) == "x\nz"


@for_each(
    "line",
    ["[skill:" * 150_000, "`" * 1_000_000, "## " + "# " * 500_000, "#" * 1_000_000, "~ " * 500_000],
    ids=["references", "backticks", "hashes", "hash run", "tildes"],
)
def test_a_megabyte_made_to_be_slow_takes_no_time(line: str) -> None:
    started = time.process_time()
    extract_summary(f"## Scope\n{line}\n")
    assert time.process_time() - started < 2.0
