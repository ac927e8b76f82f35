"""YAML under guard: what is read, what is refused at the first sight of it, and where it stood."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.formats import yaml_guard
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping
from tests.tables import for_each


def texts(node: Node) -> Any:
    """Return a node with every scalar as its text."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, list):
        return [texts(item) for item in node]
    return {key: texts(value) for key, value in node.items()}


@pytest.fixture(params=["c", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read with the C parser, and with the one that stands in where it is not built."""
    if request.param == "pure":
        monkeypatch.setattr(yaml_guard, "_events", yaml_guard._pure_events)
    return str(request.param)


@pytest.mark.usefixtures("parser")
class TestRead:
    def test_values_are_text_lists_and_maps_in_the_order_of_the_file(self) -> None:
        block = "b: 1.10\na: [x, 'y', \"z\"]\nc:\n  - d: no\n    e:\n  - |\n    two\n    lines\n"
        mapping, lines = read_mapping(block, "p")
        assert list(mapping) == ["b", "a", "c"]
        assert texts(mapping) == {
            "b": "1.10",
            "a": ["x", "y", "z"],
            "c": [{"d": "no", "e": ""}, "two\nlines\n"],
        }
        assert lines == {"b": 2, "a": 3, "c": 4}

    @for_each(
        ("block", "code", "line"),
        [
            ("a: &x 1\n", "yaml_anchor", 2),
            ("a: &x [1]\n", "yaml_anchor", 2),
            ("a: 1\nb: *a\n", "yaml_alias", 3),
            ("a: !!int 1\n", "yaml_tag", 2),
            ("a: !own {b: c}\n", "yaml_tag", 2),
            ("a: 1\n<<: {b: c}\n", "yaml_merge_key", 3),
            ("a: 1\nb: 2\na: 3\n", "yaml_duplicate_key", 4),
            ("a:\n  b: 1\n  b: 2\n", "yaml_duplicate_key", 4),
            ("[a]: b\n", "yaml_bad_key", 2),
            ("{a: b}: c\n", "yaml_bad_key", 2),
            ("~: b\n", "yaml_bad_key", 2),
            ("? \n: b\n", "yaml_bad_key", 2),
            ('"a\\u2028b": c\n', "yaml_bad_key", 2),
            ("a: " + "[" * 20 + "]" * 20 + "\n", "yaml_too_deep", 2),
            ("%YAML 1.2\n--- \na: b\n", "yaml_directive", 2),
            ("%TAG ! !x\n--- \na: b\n", "yaml_directive", 2),
            ("a: b\n--- \nc: d\n", "yaml_invalid", 3),
            ("a: b\n...\n", "yaml_invalid", 3),
            ("", "yaml_not_mapping", 2),
            ("- a\n", "yaml_not_mapping", 2),
            ("text\n", "yaml_not_mapping", 2),
            ("a: b: c\n", "yaml_invalid", 2),
            ("a: b\n\tc: d\n", "yaml_invalid", 3),
            ("a: 'b\n", "yaml_invalid", None),
            ("a: [b\n", "yaml_invalid", None),
            ("a: \x01\n", "yaml_invalid", 2),
            ("a: b\nc: d\u2028name: x\n", "hidden_character", 3),
            ("a: b\rname: x\n", "hidden_character", 2),
            ("a: b\x85name: x\n", "hidden_character", 2),
        ],
    )
    def test_what_is_no_plain_mapping_is_refused_with_code_and_line(
        self, block: str, code: str, line: int | None
    ) -> None:
        with pytest.raises(sy.SkillYamlError) as caught:
            read_mapping(block, "a/SKILL.md")
        error = caught.value
        assert (error.code, error.path) == (code, "a/SKILL.md")
        assert error.line == line or line is None
        assert error.column is not None
        assert error.column >= 1
        assert error.hint

    def test_brackets_are_counted_before_anything_is_scanned(self) -> None:
        with pytest.raises(sy.SkillYamlError, match="too many brackets") as caught:
            read_mapping("a: " + "[" * 3_000, "p")
        assert caught.value.code == "yaml_too_large"

    def test_values_and_keys_are_counted_as_they_come(self) -> None:
        limits = sy.files.DEFAULT_LIMITS._replace(yaml_nodes=10, yaml_keys=3)
        read_mapping("a: 1\nb: 2\nc: 3\n", "p", limits)
        with pytest.raises(sy.SkillYamlError, match="more than 3 keys"):
            read_mapping("a: 1\nb: 2\nc: 3\nd: 4\n", "p", limits)
        with pytest.raises(sy.SkillYamlError, match="more than 10 values"):
            read_mapping("a: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", "p", limits)


@for_each(
    ("block", "hint"),
    [
        ("a: b: c\n", "in quotes"),
        ("a: b\n\tc: d\n", "tabs"),
        ("a: [b\n", "check quotes"),
    ],
)
def test_a_fault_of_syntax_is_explained_and_its_line_shown(block: str, hint: str) -> None:
    with pytest.raises(sy.SkillYamlError) as caught:
        read_mapping(block, "p")
    assert hint in caught.value.hint
    assert len(caught.value.found) <= 80


@for_each(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("nUll", "nUll"),
        ("true", True), ("TRUE", True), ("False", False), ("yes", "yes"), ("on", "on"),
        ("0", 0), ("-12", -12), ("+7", 7), ("0755", 755), ("0o17", 15), ("0x1F", 31),
        ("0o8", "0o8"), ("0x", "0x"), ("-0x1F", "-0x1F"), ("1_000", "1_000"),
        ("1.10", 1.1), (".5", 0.5), ("-1.5e-3", -0.0015), ("1e5", 100000.0),
        ("1e999", "1e999"), (".inf", ".inf"), ("-.INF", "-.INF"), (".nan", ".nan"),
        (".", "."), ("+", "+"), ("-", "-"), ("1-2", "1-2"), ("1.2.3", "1.2.3"), ("e5", "e5"),
        ("2024-01-01", "2024-01-01"), ("12:30", "12:30"), ("٣", "٣"), ("½", "½"),
        ("9" * 32, int("9" * 32)), ("9" * 33, "9" * 33),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_read_by_the_core_schema(text: str, value: object) -> None:
    found = plain_value(Scalar(text, True, 0, 0))
    assert found == value
    assert type(found) is type(value)
    assert plain_value(Scalar(text, False, 0, 0)) == text


def test_lists_and_maps_are_read_all_the_way_down() -> None:
    mapping, _ = read_mapping("a: [1, {b: true, c: 'true'}]\n", "p")
    assert plain_value(mapping) == {"a": [1, {"b": True, "c": "true"}]}
