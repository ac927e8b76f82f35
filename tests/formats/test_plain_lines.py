"""The plain lines that are read without a YAML parser: the same answer as the parser's, or none."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.formats.plain_lines import read_plain_lines
from skillyard.formats.yaml_guard import read_mapping
from tests.tables import for_each

PLAIN = [
    "a: b\n",
    "a: b",
    "a: b  \n\nc:   d e\n",
    "a: 'it''s'\nb: \"say \\\"x\\\" \\\\\"\nc: ''\nd: \"\"\n",
    "a: http://x/y#z c#d\n",
    "a: é 数 \U0001f600\n",
    "a: [b, 'c', \"d\"]\nb: []\nc: [ ]\nd: [x y , z]\n",
    "a:\n  - b\n  - 'c: d'\n  - \"e, f\"\nb: c\n",
    "a:\n- b\n- c\nd: e\n",
    "a:\n  b: c\n  d:\n    e: f\n    g:\n      - h\n  i: j\nk: l\n",
    "a:\n    b: c\nd:\n  e: f\n",
    "a: ~\nb: null\nc: true\nd: 1.10\ne: 2024-99-99\n",
    "A-b_9: x\n_c: y\n",
    "a: b\\n\n",
    "a: 'b \"c\"'\n",
]
OTHER = [
    "",
    "\n",
    "# comment\na: b\n",
    "a: b # comment\n",
    "a: x:y #no\n",
    "a: b: c\n",
    "a: b:\n",
    "a: &x b\n",
    "a: *x\n",
    "a: !t b\n",
    "<<: b\n",
    "a: |\n  b\n",
    "a: >\n  b\n",
    "a: {b: c}\n",
    "a: [b, [c]]\n",
    "a: [b, {c: d}]\n",
    "a: [b\n",
    "a: [b, ]\n",
    "a: [, b]\n",
    "a: ['b, c']\n",
    "a: [b: c]\n",
    "a: [b'c]\n",
    "a: [b ?c]\n",
    "a: 'b' c\n",
    "a: 'b\n",
    'a: "\\n"\n',
    'a: "b"c\n',
    "a: -b\n",
    "a: - b\n",
    "a: @b\n",
    "a: %b\n",
    "a: `b`\n",
    "a: b\n  c\n",
    "a:\n",
    "a:\nb: c\n",
    "a:\n  b:\nc: d\n",
    "a: b\na: c\n",
    "null: b\n",
    "~: b\n",
    "a b: c\n",
    "'a': b\n",
    "- a\n",
    "- a: b\n",
    "a:\n  - b: c\n",
    "a:\n  -\n",
    "a:\n  - - b\n",
    "a: b\n  c: d\n",
    "  a: b\nc: d\n",
    "a:\n  b: c\n - d\n",
    "a:\n  b: c\n d: e\n",
    "a:\n  b: c\n  - d\n",
    "a:\n    b: c\n  d: e\n",
    "a:\n  - b\n  c: d\n",
    "a:\tb\n",
    "a: b\t\n",
    "\ta: b\n",
    "a: b\r\n",
    "a: b\x85\n",
    "a: b\u2028c\n",
    "a: b\x00\n",
    "a: \u200b\n",
    "a: \xa0b\n",
    "---\na: b\n",
    "a: b\n...\n",
    "%YAML 1.2\n",
    "? a\n: b\n",
]


@for_each("block", PLAIN)
def test_plain_lines_are_what_the_parser_reads(block: str) -> None:
    plain = read_plain_lines(block, first_line=7)
    assert plain is not None
    assert plain == read_mapping(block, "p", first_line=7)
    assert list(plain[0]) == list(read_mapping(block, "p")[0])


@for_each("block", OTHER)
def test_everything_else_is_left_to_the_parser(block: str) -> None:
    assert read_plain_lines(block) is None


@for_each(
    ("field", "cap", "block"),
    [
        ("yaml_keys", 2, "a: 1\nb: 2\nc: 3\n"),
        ("yaml_keys", 1, "a:\n  b: 1\n  c: 2\n"),
        ("yaml_depth", 0, "a: b\n"),
        ("yaml_depth", 1, "a: [b]\n"),
        ("yaml_depth", 1, "a:\n  b: c\n"),
        ("yaml_depth", 1, "a:\n  - b\n"),
        ("yaml_depth", 2, "a:\n  b:\n    c: d\n"),
        ("yaml_nodes", 2, "a: b\n"),
        ("yaml_nodes", 5, "a: [b, c, d]\n"),
    ],
)
def test_a_block_over_a_cap_is_left_to_the_parser_to_refuse(
    field: str, cap: Any, block: str
) -> None:
    limits = sy.DEFAULT_LIMITS._replace(**{field: cap})
    assert read_plain_lines(block) is not None
    assert read_plain_lines(block, limits) is None
    with pytest.raises(sy.SkillYamlError):
        read_mapping(block, "p", limits)
