"""The one repair: plain values that YAML would misread are quoted; nothing else is touched."""

from __future__ import annotations

import yaml

from skillyard.formats.repair import quote_plain_values
from tests.tables import for_each


@for_each(
    ("block", "read"),
    [
        ("description: Use when: always\n", {"description": "Use when: always"}),
        ("description: a # b\n", {"description": "a # b"}),
        ("description: ends with:\n", {"description": "ends with:"}),
        ("description: @team's `x`: y\n", {"description": "@team's `x`: y"}),
        ("description: *bold*\n", {"description": "*bold*"}),
        ("description: - a\n", {"description": "- a"}),
        ("description: %d files\n", {"description": "%d files"}),
        ("description: ] closes\n", {"description": "] closes"}),
        ("description: one: two\n  three: four\n", {"description": "one: two three: four"}),
        ("a: x: y\nb: fine\nc: z: w\n", {"a": "x: y", "b": "fine", "c": "z: w"}),
    ],
)
def test_a_risky_plain_value_is_read_as_it_was_meant(block: str, read: dict[str, str]) -> None:
    repaired, changed = quote_plain_values(block)
    assert yaml.load(repaired, Loader=yaml.BaseLoader) == read
    assert changed


def test_the_lines_that_changed_are_named() -> None:
    _, changed = quote_plain_values("a: fine\nb: x: y\nc: fine\nd: z: w\n  and: more\ne: f\n")
    assert changed == (1, 3)


@for_each(
    "block",
    [
        "",
        "description: plain words, no more\n",
        "description: 'x: y'\n",
        'description: "x: y"\n',
        "description: [a: b]\n",
        "description: {a: b: c}\n",
        "description: |\n  x: y\n",
        "description: >\n  x: y\n",
        "description: # a comment: here\n",
        "metadata:\n  a: b: c\n",
        "no field here: \n",
        "- a: b: c\n",
        "two words: x: y\n",
        "1st: x: y\n",
        f"{'k' * 65}: x: y\n",
        "url: http://example.org/a:b\n",
    ],
)
def test_everything_else_is_left_as_it_stands(block: str) -> None:
    assert quote_plain_values(block) == (block, ())
