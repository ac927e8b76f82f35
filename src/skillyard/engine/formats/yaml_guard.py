"""A guarded YAML parser: it refuses dangerous features and returns every scalar as text.

A "safe" YAML loader is not safe enough: merge keys expand exponentially, deep nesting crashes the
process, small inputs raise undocumented exceptions, and a duplicate key silently overrides the
first. This parser walks the *events* of PyYAML's C parser. It refuses anchors, aliases, tags, merge
keys, duplicate keys, and excessive depth and size (spec/security.md §2.2), and builds text, lists
and mappings in the same pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from skillyard.base.errors import SkillYamlError
from skillyard.base.limits import DEFAULT_LIMITS, Limits


def _pure_events(text: str) -> Iterator[Any]:
    return iter(yaml.parse(text, Loader=yaml.SafeLoader))


def _c_events(text: str) -> Iterator[Any]:
    parser = yaml.CSafeLoader(text)
    get = parser.get_event
    try:
        while (event := get()) is not None:
            yield event
    finally:
        parser.dispose()


_events: Callable[[str], Iterator[Any]] = (
    _c_events if hasattr(yaml, "CSafeLoader") else _pure_events
)


def read_mapping(
    block: str, path: str, limits: Limits = DEFAULT_LIMITS, first_line: int = 2
) -> tuple[dict[str, Node], dict[str, int]]:
    """Return the block's mapping and, for each top-level key, its 1-based line in the file.

    Raises SkillYamlError with code, line, column, the offending text and a hint.
    """
    if block.count("[") + block.count("{") > limits.yaml_nodes:
        raise _refuse("yaml_too_large", "too many brackets", path, first_line, 1)
    if "\r" in block or not block.isascii():
        _refuse_odd_breaks(block, path, first_line)
    walk = _Walk(path, limits, first_line)
    try:
        walk.build(_events(block))
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, block, path, first_line) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise SkillYamlError(
            f"the frontmatter holds text that YAML does not allow ({_first_line(error)})",
            path=path,
            line=first_line,
            column=1,
            code="yaml_invalid",
            hint="remove control characters from the frontmatter",
        ) from None
    if not isinstance(walk.root, dict):
        raise SkillYamlError(
            "the frontmatter is not a list of `key: value` lines",
            path=path,
            line=first_line,
            column=1,
            code="yaml_not_mapping",
            hint="write one field a line, for instance `name: my-skill`",
            found=block.strip()[:60],
        )
    return walk.root, walk.key_lines


_ODD_BREAK = re.compile("[\r\x85\u2028\u2029]")


def _refuse_odd_breaks(block: str, path: str, first_line: int) -> None:
    """Refuse line breaks that only YAML recognises, because they could hide a field."""
    match = _ODD_BREAK.search(block)
    if match is None:
        return
    start = match.start()
    raise SkillYamlError(
        f"the frontmatter holds U+{ord(match.group()):04X}, a line break that most readers miss",
        path=path,
        line=block.count("\n", 0, start) + first_line,
        column=start - block.rfind("\n", 0, start),
        code="hidden_character",
        hint="remove it, or use an ordinary line break",
    )


class _Walk:
    """Builds the tree of one block from its events, in one pass."""

    __slots__ = ("_documents", "_first_line", "_limits", "_path", "key_lines", "root")

    def __init__(self, path: str, limits: Limits, first_line: int) -> None:
        self._path = path
        self._limits = limits
        self._first_line = first_line
        self._documents = 0
        self.root: Node | None = None
        self.key_lines: dict[str, int] = {}

    def build(self, events: Iterator[Any]) -> None:
        """Build ``root`` from the events. Raises SkillYamlError at the first refused event."""
        stack: list[Any] = []
        keys: list[Scalar | None] = []  # one for each open container: the key awaiting its value
        nodes, max_nodes = 0, self._limits.yaml_nodes
        for event in events:
            kind = type(event)
            if kind is ScalarEvent:
                value = self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = self._container(event, kind, len(stack))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                stack.pop()
                keys.pop()
                continue
            else:
                self._outside(event, kind)
                continue
            nodes += 1
            if nodes > max_nodes:
                raise self._at(event, "yaml_too_large", f"more than {max_nodes:,} values")
            if not stack:
                self.root = value
            elif type(stack[-1]) is list:
                stack[-1].append(value)
            elif keys[-1] is None:
                keys[-1] = self._key(event, value, stack)
                continue
            else:
                stack[-1][keys[-1].text] = value
                keys[-1] = None
            if kind is not ScalarEvent:
                stack.append(value)
                keys.append(None)

    def _scalar(self, event: Any) -> Any:
        if event.anchor is not None or event.tag is not None:
            self._refuse_node(event)
        mark = event.start_mark
        return Scalar(event.value, not event.style, mark.line, mark.column)

    def _container(self, event: Any, kind: type, depth: int) -> Any:
        if event.anchor is not None or event.tag is not None:
            self._refuse_node(event)
        if depth >= self._limits.yaml_depth:
            limit = self._limits.yaml_depth
            raise self._at(event, "yaml_too_deep", f"more than {limit} levels")
        return {} if kind is MappingStartEvent else []

    def _outside(self, event: Any, kind: type) -> None:
        """Check the events that are not nodes: stream, document and alias events."""
        if kind is AliasEvent:
            raise self._at(event, "yaml_alias", f"the alias *{event.anchor}")
        if kind is DocumentStartEvent:
            self._documents += 1
            if self._documents > 1:
                raise self._at(event, "yaml_invalid", "a second document")
            if event.version is not None or event.tags:
                raise self._at(event, "yaml_directive", "a YAML directive")
        elif kind is DocumentEndEvent and event.explicit:
            raise self._at(event, "yaml_invalid", "an end-of-document mark (...)")

    def _key(self, event: Any, key: Any, stack: list[Any]) -> Scalar:
        if type(key) is not Scalar:
            raise self._at(event, "yaml_bad_key", "a list or mapping as a key")
        if key.null:
            raise self._at(event, "yaml_bad_key", "an empty key")
        if key.text == "<<":
            raise self._at(event, "yaml_merge_key", "the merge key <<")
        mapping = stack[-1]
        if key.text in mapping:
            earlier = self.key_lines.get(key.text) if len(stack) == 1 else None
            also = f" (first on line {earlier})" if earlier else ""
            raise self._at(
                event, "yaml_duplicate_key", f"the key {key.text[:60]!r} a second time{also}"
            )
        if len(mapping) >= self._limits.yaml_keys:
            raise self._at(
                event, "yaml_too_large", f"more than {self._limits.yaml_keys} keys in one mapping"
            )
        if not key.text.isprintable():
            raise self._at(event, "yaml_bad_key", "a control or separator character in a key")
        if len(stack) == 1:
            self.key_lines[key.text] = key.line + self._first_line
        return key

    def _refuse_node(self, event: Any) -> None:
        if event.anchor is not None:
            raise self._at(event, "yaml_anchor", f"the anchor &{event.anchor}")
        raise self._at(event, "yaml_tag", f"the tag {event.tag}")

    def _at(self, event: Any, code: str, what: str) -> SkillYamlError:
        mark = event.start_mark
        return _refuse(code, what, self._path, mark.line + self._first_line, mark.column + 1)


_HINTS = {
    "yaml_alias": "write the value out where it is used",
    "yaml_anchor": "remove the & mark, or quote the value if it is text",
    "yaml_tag": "remove the ! mark, or quote the value if it is text",
    "yaml_merge_key": "write the merged fields out",
    "yaml_duplicate_key": "keep one of the two",
    "yaml_too_deep": "flatten the structure",
    "yaml_too_large": "move data into a file beside the skill",
    "yaml_bad_key": "write each field as `key: value` with plain text as the key",
    "yaml_directive": "remove the line that starts with a percent sign",
    "yaml_invalid": "keep one YAML document between the fences, without `...` or a second `---`",
}


def _refuse(code: str, what: str, path: str, line: int, column: int) -> SkillYamlError:
    return SkillYamlError(
        f"the frontmatter holds {what}, which is refused",
        path=path,
        line=line,
        column=column,
        code=code,
        hint=_HINTS[code],
        found=what,
    )


def _syntax_error(
    error: yaml.MarkedYAMLError, block: str, path: str, first_line: int
) -> SkillYamlError:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark is not None else 0
    column = mark.column + 1 if mark is not None else 1
    lines = block.split("\n")
    source_line = lines[line] if line < len(lines) else ""
    problem = error.problem or "not YAML"
    hint = "check quotes, indentation and brackets around this place"
    if "mapping values are not allowed" in problem:
        hint = "put the value in quotes: it holds a colon followed by a blank"
    elif "\t" in source_line:
        hint = "indent with blanks, not with tabs"
    return SkillYamlError(
        f"invalid YAML: {problem}",
        path=path,
        line=line + first_line,
        column=column,
        code="yaml_invalid",
        hint=hint,
        found=source_line.strip()[:80],
    )


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]


NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_TRUE = frozenset(["true", "True", "TRUE"])
_FALSE = frozenset(["false", "False", "FALSE"])
_MAX_NUMBER_CHARS = 32


class Scalar(NamedTuple):
    """One scalar as it was written."""

    text: str
    plain: bool
    """True when it is not quoted, so that YAML would guess its type."""
    line: int
    """0-based line in the block."""
    column: int

    @property
    def null(self) -> bool:
        """True for a plain empty value, ``~`` or ``null``."""
        return self.plain and self.text in NULLS


Node = Scalar | list["Node"] | dict[str, "Node"]


def plain_value(node: Node) -> Any:
    """Return the value of a node by the YAML 1.2 core schema.

    Infinities, NaN and numbers of more than 32 characters stay text, because JSON has no such
    numbers.
    """
    if isinstance(node, list):
        return [plain_value(item) for item in node]
    if isinstance(node, dict):
        return {key: plain_value(value) for key, value in node.items()}
    if not node.plain:
        return node.text
    if node.text in NULLS:
        return None
    if node.text in _TRUE:
        return True
    if node.text in _FALSE:
        return False
    return _number(node.text)


def _number(text: str) -> int | float | str:
    if len(text) > _MAX_NUMBER_CHARS or not text.isascii() or "_" in text:
        return text
    body = text[1:] if text[0] in "+-" else text
    if body.isdigit():
        return int(text)
    try:
        if body.startswith("0x") and body is text:
            return int(text, 16)
        if body.startswith("0o") and body is text:
            return int(text, 8)
        if body and body[0] in ".0123456789" and set(body) <= set("0123456789.eE+-"):
            number = float(text)
            return number if abs(number) != float("inf") else text
    except ValueError:
        pass
    return text
