"""Typed fields: strict reading refuses a wrong type, lenient reading takes what it understands."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.yaml_guard import read_mapping
from tests.tables import for_each


def fields(block: str, *, strict: bool = False, **caps: Any) -> Fields:
    limits = sy.DEFAULT_LIMITS._replace(**caps)
    mapping, lines = read_mapping(block, "a/SKILL.md")
    return Fields(mapping, lines, "a/SKILL.md", strict=strict, diagnostics=[], limits=limits)


def codes(read: Fields) -> list[tuple[str, int | None]]:
    return [(found.code, found.line) for found in read.diagnostics]


def test_a_field_is_there_or_not_and_has_its_line() -> None:
    read = fields("a: x\nb:\n")
    assert "a" in read
    assert "c" not in read
    assert (read.line("b"), read.line("c")) == (3, None)
    assert (read.node("c"), read.text("c"), read.texts("c")) == (None, None, ())
    assert (read.flag("c"), read.integer("c"), read.metadata()) == (None, None, {})


class TestRequired:
    @for_each("strict", [True, False])
    @for_each(
        ("block", "code", "line"),
        [
            ("a: x\n", "name_missing", 1),
            ("a: x\nname:\n", "name_empty", 3),
            ("name: '  '\n", "name_empty", 2),
            ("name: ~\n", "name_empty", 2),
        ],
    )
    def test_absent_and_blank_are_told_apart(
        self, block: str, code: str, line: int, strict: bool
    ) -> None:
        with pytest.raises(sy.MissingField) as caught:
            fields(block, strict=strict).name()
        assert (caught.value.code, caught.value.line) == (code, line)
        assert (caught.value.field, caught.value.path) == ("name", "a/SKILL.md")
        assert caught.value.hint

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
    @for_each("value", ["[a]", "{a: b}"])
    def test_a_list_or_map_in_place_of_text_is_refused(self, value: str, strict: bool) -> None:
        for field in ("name", "description"):
            read = fields(f"{field}: {value}\n", strict=strict)
            with pytest.raises(sy.SkillYamlError) as caught:
                read.name() if field == "name" else read.description()
            assert (caught.value.code, caught.value.line) == (f"{field}_not_string", 2)

    @for_each(
        ("block", "code", "line"),
        [
            ("name: -rf\n", "name_edge_hyphen", 2),
            ("name: a/b\n", "name_bad_chars", 2),
            ("a: x\nskill_name: ..\n", "name_bad_chars", 3),
            ('name: "a\\u202eb"\n', "hidden_character", 2),
            ('name: "a\\u200db"\n', "hidden_character", 2),
            ("name: می‌خواهم\n", "name_bad_chars", 2),
        ],
    )
    def test_an_unsafe_name_is_refused_with_its_line(
        self, block: str, code: str, line: int
    ) -> None:
        with pytest.raises(sy.InvalidFrontmatter) as caught:
            fields(block).name()
        assert (caught.value.code, caught.value.line) == (code, line)

    def test_lengths_are_capped(self) -> None:
        read = fields("name: abcd\ndescription: abcd\n", name_chars=3, description_chars=3)
        with pytest.raises(sy.InvalidFrontmatter, match="name is longer than 3"):
            read.name()
        with pytest.raises(sy.InvalidFrontmatter, match="description is longer than 3"):
            read.description()

    @for_each("strict", [True, False])
    def test_what_is_longer_than_the_specification_allows_is_warned_of(self, strict: bool) -> None:
        read = fields(
            "name: abcd\ndescription: abcd\n",
            strict=strict,
            name_warn_chars=3,
            description_warn_chars=3,
        )
        assert (read.name(), read.description()) == ("abcd", "abcd")
        assert {line for _, line in codes(read)} == {2, 3}
        assert {found.severity for found in read.diagnostics} == {"warning"}


class TestText:
    @for_each(
        ("value", "read"),
        [("1.10", "1.10"), ("' x '", "x"), ("~", None), ("", None), ("'~'", "~"), ("''", "")],
    )
    def test_an_optional_text_is_trimmed_and_null_is_none(
        self, value: str, read: str | None
    ) -> None:
        assert fields(f"version: {value}\n", strict=True).text("version") == read

    def test_a_list_in_place_of_text_is_refused_or_reported(self) -> None:
        lenient = fields("a: x\nversion: [1]\n")
        assert lenient.text("version") is None
        assert codes(lenient) == [("version_not_string", 3)]
        with pytest.raises(sy.SkillYamlError, match="version is not text"):
            fields("version: [1]\n", strict=True).text("version")

    def test_hidden_text_is_refused_and_shown_with_what_stands_around_it(self) -> None:
        with pytest.raises(sy.InvalidFrontmatter, match="RIGHT-TO-LEFT OVERRIDE") as caught:
            fields('license: "before the \\u202e and after it"\n').text("license")
        assert caught.value.found == "efore the \u202e and afte"


class TestTexts:
    def test_entries_are_trimmed_and_blanks_dropped(self) -> None:
        block = "tags: [' a ', '', ~, b, '~', 1.10]\n"
        assert fields(block, strict=True).texts("tags") == ("a", "b", "~", "1.10")

    @for_each("value", ["", "~", "[]"])
    def test_nothing_is_an_empty_list(self, value: str) -> None:
        assert fields(f"tags: {value}\n", strict=True).texts("tags") == ()

    def test_a_lone_text_is_one_entry_and_said_so(self) -> None:
        read = fields("tags: ' a b '\n")
        assert read.texts("tags") == ("a b",)
        assert codes(read) == [("list_from_text", 2)]
        assert fields("tags: '  '\n").texts("tags") == ()
        with pytest.raises(sy.SkillYamlError, match="tags is one text"):
            fields("tags: a\n", strict=True).texts("tags")

    def test_a_lone_text_is_split_where_the_field_allows_it(self) -> None:
        read = fields("tools: a  b\n", strict=True)
        assert read.texts("tools", split=lambda text: text.split(" ")) == ("a", "b")
        assert read.diagnostics == []

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

    def test_long_lists_and_other_scripts_are_looked_at_entry_by_entry(self) -> None:
        assert fields("tags: [é, 数据]\n", strict=True).texts("tags") == ("é", "数据")
        read = fields("tags: [abcd, efgh]\n", field_chars=4)
        assert read.texts("tags") == ("abcd", "efgh")

    def test_hidden_text_in_an_entry_is_refused(self) -> None:
        for value in ('["a\\u200b"]', '"a\\u200b"'):
            with pytest.raises(sy.InvalidFrontmatter) as caught:
                fields(f"tags: {value}\n").texts("tags")
            assert caught.value.code == "hidden_character"


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

    @for_each("value", ["maybe", "[true]", "2"])
    def test_anything_else_is_neither(self, value: str) -> None:
        found = fields(f"trigger: {value}\n")
        assert found.flag("trigger") is None
        assert codes(found) == [("not_boolean", 2)]
        with pytest.raises(sy.SkillYamlError, match="trigger is not true or false"):
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


class TestMetadata:
    def test_values_are_read_by_the_core_schema(self) -> None:
        read = fields("metadata:\n  version: 1.10\n  tested: true\n  by: [a, ~]\n")
        assert read.metadata() == {"version": 1.1, "tested": True, "by": ["a", None]}

    @for_each("value", ["", "~"])
    def test_nothing_is_an_empty_map(self, value: str) -> None:
        assert fields(f"metadata: {value}\n", strict=True).metadata() == {}

    def test_what_is_no_map_is_refused_or_reported(self) -> None:
        read = fields("metadata: [a]\n")
        assert read.metadata() == {}
        assert codes(read) == [("metadata_not_map", 2)]
        with pytest.raises(sy.SkillYamlError, match="metadata is not a mapping"):
            fields("metadata: text\n", strict=True).metadata()
