"""Laws of reading: one kind of error, one answer for one text, and a second reader agrees."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

import skillyard as sy
from skillyard import SkillError
from skillyard.engine.formats.agentskills import ParsedDocument, SkillText, parse_document
from skillyard.engine.formats.frontmatter import split, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping
from tests.property.strategies import blocks, documents, few, hostile_text, many

T = TypeVar("T")
PATHS = ["a/SKILL.md", ".skills/a.md", "AGENTS.md", "notes.md"]


def taken_apart(text: str) -> tuple[str, str] | None:
    """Return block and body as a reader of lines sees them, or None where a fence is missing."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fences = [
        number
        for number, line in enumerate(lines)
        if line[:3] == "---" and all(char in " \t" for char in line[3:])
    ]
    if len(fences) < 2 or fences[0] != 0:
        return None
    block = "".join(f"{line}\n" for line in lines[1 : fences[1]])
    return block, "\n".join(lines[fences[1] + 1 :]).strip()


def texts(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, list):
        return [texts(item) for item in node]
    return {key: texts(value) for key, value in node.items()}


def attempt(call: Callable[..., T], *arguments: Any, **options: Any) -> T | SkillError:
    """Return the answer, or the skill error that came instead; nothing else may come."""
    try:
        return call(*arguments, **options)
    except SkillError as error:
        return error


def read(text: str, strict: bool) -> ParsedDocument | SkillError:
    return attempt(parse_document, SkillText("a/SKILL.md"), text, strict=strict)


@many
@given(st.one_of(documents, hostile_text), st.sampled_from(PATHS))
def test_any_text_is_a_skill_or_a_skill_error_with_its_place(text: str, path: str) -> None:
    for parse in (sy.parse_skill, sy.parse_instructions):
        found = attempt(parse, path, text)
        if isinstance(found, SkillError):
            assert found.path == path
            assert found.line is None or found.line >= 1
            assert found.code
            assert found.hint
        else:
            assert found.name
            assert found.path == path
            json.dumps(dict(found.metadata), allow_nan=False)


@many
@given(documents)
def test_the_fences_are_where_a_second_reader_sees_them(text: str) -> None:
    expected = taken_apart(text)
    try:
        found = split(unify_lines(text), "p")
    except sy.InvalidFrontmatter:
        assert expected is None
    else:
        assert (found.block, found.body) == expected


@many
@given(documents)
def test_line_ends_and_a_byte_order_mark_change_nothing_but_the_hash(text: str) -> None:
    plain = unify_lines(text)
    assume("\r" not in plain)
    for other in (plain.replace("\n", "\r\n"), "\ufeff" + plain):
        one, two = read(plain, False), read(other, False)
        assert type(one) is type(two)
        if isinstance(one, ParsedDocument) and isinstance(two, ParsedDocument):
            assert (one.skill.body, one.skill.frontmatter) == (
                two.skill.body,
                two.skill.frontmatter,
            )
            assert one.diagnostics == two.diagnostics


@many
@given(documents)
def test_repair_never_changes_a_document_that_reads_without_it(text: str) -> None:
    strict, lenient = read(text, True), read(text, False)
    if isinstance(strict, ParsedDocument):
        assert isinstance(lenient, ParsedDocument)
        assert lenient.skill == strict.skill
        assert "yaml_repaired" not in {found.code for found in lenient.diagnostics}
    elif isinstance(lenient, ParsedDocument):
        assert lenient.diagnostics


_scalars = st.one_of(
    st.sampled_from(["", "~", "null", "true", "1.10", "2024-01-01", "<<", "a: b", "- x", "é", "#"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"),
            max_size=12),
)  # fmt: skip
_keys = _scalars.filter(lambda key: key.isprintable() and key != "<<")
_trees = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_keys, inner, max_size=4)),
    max_leaves=12,
)


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


@many
@given(st.dictionaries(_keys, _trees, min_size=1, max_size=5), st.data())
def test_what_a_writer_of_yaml_wrote_is_read_back_as_it_was(
    tree: dict[str, Any], data: st.DataObject
) -> None:
    block = yaml.dump(
        tree,
        Dumper=_Plain,
        default_flow_style=data.draw(st.sampled_from([True, False, None])),
        default_style=data.draw(st.sampled_from([None, "'", '"'])),
        allow_unicode=data.draw(st.booleans()),
        width=data.draw(st.sampled_from([20, 80, 1_000])),
        sort_keys=False,
    )
    mapping, lines = read_mapping(block, "p")
    assert texts(mapping) == tree
    assert list(mapping) == list(tree)
    assert list(lines) == list(tree)


@many
@given(blocks)
def test_what_passes_the_guard_is_what_a_plain_loader_reads(block: str) -> None:
    try:
        expected = yaml.load(block, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        expected = None
    found = attempt(read_mapping, block, "p")
    if isinstance(found, SkillError):
        assert found.line is not None
        return
    mapping, lines = found
    assert texts(mapping) == expected
    written = block.split("\n")
    for key, line in lines.items():
        assert key.split(" ")[0] in written[line - 2]


@few
@given(_trees)
def test_plain_values_can_be_written_as_json_and_quoted_text_stays_text(tree: Any) -> None:
    def quoted(node: Any) -> Node:
        if isinstance(node, str):
            return Scalar(node, False, 0, 0)
        if isinstance(node, list):
            return [quoted(item) for item in node]
        return {key: quoted(value) for key, value in node.items()}

    assert plain_value(quoted(tree)) == tree


@many
@given(st.text(st.sampled_from("0123456789.eE+-_xo ٣½²"), max_size=12))
def test_a_plain_number_is_one_that_json_has(text: str) -> None:
    value = plain_value(Scalar(text, True, 0, 0))
    again = json.loads(json.dumps(value, allow_nan=False))
    assert again == value
    assert type(again) is type(value)
