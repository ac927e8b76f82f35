"""The one repair: plain values that YAML would misread are quoted; nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import skillyard as sy
from skillyard.engine.formats.frontmatter import quote_plain_values
from tests.parity.trees import write_tree
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
        ("argument-hint: [file] [--full]\n", {"argument-hint": "[file] [--full]"}),
        ("description: [internal] letters\n", {"description": "[internal] letters"}),
        ("description: {company} letters\n", {"description": "{company} letters"}),
        ("description: {{company}} letters\n", {"description": "{{company}} letters"}),
        ("description: \"Write\" and 'send'\n", {"description": "\"Write\" and 'send'"}),
        ("description: 'It's: a tool\n", {"description": "'It's: a tool"}),
        ("description:\n  Use: one\n  two: three\n", {"description": "Use: one two: three"}),
        ("description: Use: one\n\n  two\nb: c\n", {"description": "Use: one\ntwo", "b": "c"}),
    ],
)
def test_a_risky_plain_value_is_read_as_it_was_meant(block: str, read: dict[str, str]) -> None:
    repaired, changed = quote_plain_values(block)
    assert yaml.load(repaired, Loader=yaml.BaseLoader) == read
    assert changed


@for_each(
    "block",
    [
        "",
        "description: plain words, no more\n",
        "description: 'x: y'\n",
        'description: "x: y"\n',
        "description: [a: b]\n",
        "description: {a: b: c}\n",
        "description: 'x: y' # z\n",
        "description: 'x:\n\n  y'\n",
        "description: [a, 'b]: c', [d: e]]\n",
        "description:\n  - a: b: c\n",
        "description: |\n  x: y\n\n  z: w\n",
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


def test_a_library_loads_what_claude_code_loads_and_names_the_line(tmp_path: Path) -> None:
    text = "---\nname: {}\ndescription:\n  Use: now\n{}---\nBody.\n"
    hint = "argument-hint: [file] [--full]\n"
    files = {"a/SKILL.md": text.format("a", hint), "b/SKILL.md": text.format("b", "")}
    catalog = sy.load_catalog(write_tree(tmp_path, files))
    assert [each.description for each in catalog] == ["Use: now", "Use: now"]
    assert [(each.code, each.line) for each in catalog.diagnostics] == [
        ("yaml_repaired", 5),
        ("yaml_repaired", 4),
    ]
    with pytest.raises(sy.SkillError):
        sy.parse_skill("b/SKILL.md", files["b/SKILL.md"])
