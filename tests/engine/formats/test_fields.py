"""Typed fields: strict reading refuses a wrong type, lenient reading takes what it understands."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.yaml_guard import read_mapping
from tests.tables import for_each


def fields(block: str, *, strict: bool = False) -> Fields:
    mapping, lines = read_mapping(block, "a/SKILL.md")
    return Fields(mapping, lines, "a/SKILL.md", strict=strict, diagnostics=[])


def codes(read: Fields) -> list[tuple[str, int | None]]:
    return [(found.code, found.line) for found in read.diagnostics]


class TestRequired:
    @for_each(
        ("block", "name"),
        [
            ("name: ' x '\n", "x"),
            ("name: null\n", "null"),
            ("name: '~'\n", "~"),
            ("name: 1.10\n", "1.10"),
            ("skill_name: x\n", "x"),
            ("skill_name: y\nname: x\n", "x"),
        ],
    )
    def test_a_name_is_text_whatever_it_looks_like(self, block: str, name: str) -> None:
        assert fields(block).name() == name

    @for_each("strict", [True, False])
    def test_what_is_longer_than_the_specification_allows_is_warned_of(self, strict: bool) -> None:
        name, description = "a" * 65, "a" * 1_025
        read = fields(f"name: {name}\ndescription: {description}\n", strict=strict)
        assert (read.name(), read.description()) == (name, description)
        assert {line for _, line in codes(read)} == {2, 3}
        assert {found.severity for found in read.diagnostics} == {"warning"}


class TestTexts:
    @for_each(("value", "kept"), [("{a: b}", ()), ("[a, [b], {c: d}, e]", ("a", "e"))])
    def test_what_is_no_list_of_text_is_refused_or_left_out(
        self, value: str, kept: tuple[str, ...]
    ) -> None:
        read = fields(f"tags: {value}\n")
        assert read.texts("tags") == kept
        assert set(codes(read)) == {("tags_not_list", 2)}
        with pytest.raises(sy.SkillYamlError) as caught:
            fields(f"tags: {value}\n", strict=True).texts("tags")
        assert caught.value.code == "tags_not_list"


class TestFlag:
    @for_each("strict", [True, False])
    @for_each(
        ("value", "read"),
        [("true", True), ("TRUE", True), ("False", False), ("~", None), ("", None)],
    )
    def test_true_and_false_are_those_of_yaml_1_2(
        self, value: str, read: bool | None, strict: bool
    ) -> None:
        found = fields(f"trigger: {value}\n", strict=strict)
        assert found.flag("trigger") is read
        assert found.diagnostics == []

    @for_each(
        ("value", "read"),
        [("yes", True), ("'true'", True), ("On", True), ("1", True),
         ("no", False), ("'false'", False), ("OFF", False), ("0", False)],
    )  # fmt: skip
    def test_words_that_mean_true_or_false_are_understood_with_a_warning(
        self, value: str, read: bool
    ) -> None:
        found = fields(f"trigger: {value}\n")
        assert found.flag("trigger") is read
        assert codes(found) == [("not_boolean", 2)]
        with pytest.raises(sy.SkillYamlError):
            fields(f"trigger: {value}\n", strict=True).flag("trigger")


class TestInteger:
    @for_each(
        ("value", "read", "warned"),
        [
            ("80", 80, False),
            ("-1", -1, False),
            ("+3", 3, False),
            ("0", 0, False),
            ("100000000000000000000", 10**20, False),
            ("'80'", 80, True),
            ("80.5", None, True),
            ("true", None, True),
            ("high", None, True),
            ("[80]", None, True),
            ("٣", None, True),
            ("9" * 33, None, True),
            ("~", None, False),
        ],
    )
    def test_an_integer_is_digits_and_anything_else_is_reported(
        self, value: str, read: int | None, warned: bool
    ) -> None:
        found = fields(f"priority: {value}\n")
        assert found.integer("priority") == read
        assert codes(found) == ([("not_integer", 2)] if warned else [])
        assert found.is_integer("priority") is (read is not None)
