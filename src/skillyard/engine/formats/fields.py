"""Typed access to the fields of a frontmatter mapping, with the line of every error.

Strict parsing (adk-skill) raises for a wrong type. Lenient parsing converts the value when it can,
and reports a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from skillyard.base.errors import Diagnostic, InvalidFrontmatter, MissingField, SkillYamlError
from skillyard.base.invisible import find_hidden
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import name_fault
from skillyard.engine.formats.yaml_guard import NULLS, Node, Scalar, plain_value

_INTEGER = re.compile(r"[+-]?[0-9]{1,32}")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
# Values that lenient parsing also accepts: YAML 1.1 words, and quoted words.
_LENIENT_BOOLEANS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(
    ("false", "no", "off", "0"), False
)


class Fields:
    """The top-level fields of one frontmatter block, read by type."""

    __slots__ = ("_lines", "_mapping", "_path", "diagnostics", "strict")

    def __init__(
        self,
        mapping: dict[str, Node],
        lines: dict[str, int],
        path: str,
        *,
        strict: bool,
        diagnostics: list[Diagnostic],
    ) -> None:
        self._mapping = mapping
        self._lines = lines
        self._path = path
        self.strict = strict
        self.diagnostics = diagnostics

    def __contains__(self, field: str) -> bool:
        return field in self._mapping

    def node(self, field: str) -> Node | None:
        """Return the raw node of a field, or None."""
        return self._mapping.get(field)

    def line(self, field: str) -> int | None:
        """Return the 1-based line of a field."""
        return self._lines.get(field)

    def within(self, field: str, mapping: dict[str, Node]) -> Fields:
        """Return the fields of a mapping inside a field; their line is that of the field."""
        return Fields(
            mapping,
            dict.fromkeys(mapping, self.line(field) or 2),
            self._path,
            strict=self.strict,
            diagnostics=self.diagnostics,
        )

    def required_text(self, field: str, *also: str) -> str:
        """Return a required text field, trimmed. Raises MissingField when absent or blank."""
        name = next((key for key in (field, *also) if key in self._mapping), field)
        node = self._mapping.get(name)
        if isinstance(node, list | dict):
            self._refuse(
                name, f"{field}_not_string", f"{field} must be text, not a list or mapping"
            )
        text = node.text.strip() if node is not None else ""
        if text and not (node is not None and node.plain and text == "~"):
            return self._safe(name, text)
        absent = node is None
        raise MissingField(
            f"{field} is {'missing' if absent else 'empty'}",
            field=field,
            path=self._path,
            line=1 if absent else self.line(name),
            code=f"{field}_{'missing' if absent else 'empty'}",
            hint=_REQUIRED_HINTS[field],
        )

    def name(self) -> str:
        """Return the ``name`` field. Raises when it is missing, too long or unsafe as a name."""
        name = self.required_text("name", "skill_name")
        field = "name" if "name" in self._mapping else "skill_name"
        if len(name) > DEFAULT_LIMITS.name_chars:
            self._too_long(field, DEFAULT_LIMITS.name_chars, "name_too_long")
        self._long(field, name, DEFAULT_LIMITS.name_warn_chars, "name_too_long")
        fault = name_fault(name)
        if fault is not None:
            code = "name_edge_hyphen" if name.startswith("-") else "name_bad_chars"
            raise InvalidFrontmatter(
                f"the name {fault}",
                path=self._path,
                line=self.line(field),
                code=code,
                hint="use small letters, digits and single hyphens",
                found=name[:80],
            )
        return name

    def description(self) -> str:
        """Return the ``description`` field. Raises when it is missing or too long."""
        text = self.required_text("description")
        if len(text) > DEFAULT_LIMITS.description_chars:
            self._too_long("description", DEFAULT_LIMITS.description_chars, "description_too_long")
        self._long(
            "description", text, DEFAULT_LIMITS.description_warn_chars, "description_too_long"
        )
        return text

    def text(self, field: str) -> str | None:
        """Return an optional text field. Absent and null are None."""
        node = self._mapping.get(field)
        if node is None or (isinstance(node, Scalar) and node.null):
            return None
        if not isinstance(node, Scalar):
            self._refuse_or_warn(
                field, f"{field}_not_string", "is not text", "write it on one line"
            )
            return None
        return self._within_limits(field, node.text.strip())

    def texts(
        self, field: str, *, split: Callable[[str], list[str]] | None = None
    ) -> tuple[str, ...]:
        """Return a list field. Entries are trimmed and blank ones dropped.

        A single text is split by ``split``. Without ``split``, strict parsing raises and lenient
        parsing returns the text as one entry.
        """
        node = self._mapping.get(field)
        if node is None or (isinstance(node, Scalar) and node.null):
            return ()
        if isinstance(node, dict):
            self._refuse_or_warn(field, f"{field}_not_list", "is a mapping", "write a list")
            return ()
        if isinstance(node, Scalar):
            return self._lone_scalar(field, node, split)
        return self._items(field, node)

    def _lone_scalar(
        self, field: str, node: Scalar, split: Callable[[str], list[str]] | None
    ) -> tuple[str, ...]:
        if split is None:
            self._refuse_or_warn(
                field, "list_from_text", "is one text, not a list", f"write `{field}: [a, b]`"
            )
        entries = split(node.text) if split else [node.text.strip()]
        if len(entries) > DEFAULT_LIMITS.list_items:
            self._too_long(field, DEFAULT_LIMITS.list_items, "list_too_long")
        return tuple(self._within_limits(field, entry) for entry in entries if entry)

    def _items(self, field: str, node: list[Node]) -> tuple[str, ...]:
        if len(node) > DEFAULT_LIMITS.list_items:
            self._too_long(field, DEFAULT_LIMITS.list_items, "list_too_long")
        scalars = [item for item in node if isinstance(item, Scalar)]
        for _ in range(len(node) - len(scalars)):
            self._refuse_or_warn(
                field, f"{field}_not_list", "holds a nested list or mapping", "write text items"
            )
        items = [
            stripped
            for text, plain, _, _ in scalars
            if (stripped := text.strip()) and not (plain and text in NULLS)
        ]
        all_text = "".join(items)  # one check of all items is faster and nearly always enough
        if not (
            all_text.isascii()
            and all_text.isprintable()
            and len(all_text) <= DEFAULT_LIMITS.field_chars
        ):
            for text in items:
                self._within_limits(field, text)
        return tuple(items)

    def flag(self, field: str) -> bool | None:
        """Return a boolean field: plain true or false (YAML 1.2).

        Strict parsing raises for anything else. Lenient parsing also accepts ``yes``, ``no`` and
        similar words, with a warning.
        """
        node = self._mapping.get(field)
        if node is None or (isinstance(node, Scalar) and node.null):
            return None
        if isinstance(node, Scalar):
            if node.plain and node.text in _TRUE:
                return True
            if node.plain and node.text in _FALSE:
                return False
            value = None if self.strict else _LENIENT_BOOLEANS.get(node.text.strip().lower())
            if value is not None:
                word = str(value).lower()
                self.warn(field, "not_boolean", f"{field} is read as {word}", f"write `{word}`")
                return value
        hint = _TRIGGER_HINT if field == "trigger" else f"write `{field}: true`"
        self._refuse_or_warn(field, "not_boolean", "is not true or false", hint)
        return None

    def is_integer(self, field: str) -> bool:
        """True when the field is present and is an integer."""
        node = self._mapping.get(field)
        return isinstance(node, Scalar) and bool(_INTEGER.fullmatch(node.text.strip()))

    def integer(self, field: str) -> int | None:
        """Return an integer field. Absent, null and other values give None.

        ``80.5``, ``high`` and booleans are reported. A quoted ``"80"`` is accepted with a warning.
        """
        node = self._mapping.get(field)
        if node is None or (isinstance(node, Scalar) and node.null):
            return None
        if isinstance(node, Scalar) and self.is_integer(field):
            if not node.plain:
                self.warn(
                    field, "not_integer", f"{field} is text, read as a number", "drop the quotes"
                )
            return int(node.text.strip())
        self.warn(
            field, "not_integer", f"{field} is not an integer", f"write `{field}: 0`, for instance"
        )
        return None

    def metadata(self) -> dict[str, Any]:
        """Return the ``metadata`` mapping with values of the YAML 1.2 core schema."""
        node = self._mapping.get("metadata")
        if node is None or (isinstance(node, Scalar) and node.null):
            return {}
        if not isinstance(node, dict):
            self._refuse_or_warn(
                "metadata", "metadata_not_map", "is not a mapping", "write `metadata:` with keys"
            )
            return {}
        return {key: plain_value(value) for key, value in node.items()}

    def warn(self, field: str, code: str, message: str, hint: str) -> None:
        """Add a warning about a field."""
        self.diagnostics.append(
            Diagnostic(
                code.replace("-", "_"), "warning", self._path, message, hint, self.line(field)
            )
        )

    def _refuse_or_warn(self, field: str, code: str, what: str, hint: str) -> None:
        """Raise in strict parsing, warn otherwise."""
        if self.strict:
            self._refuse(field, code, f"{field} {what}", hint)
        self.warn(field, code, f"{field} {what}", hint)

    def _refuse(self, field: str, code: str, message: str, hint: str = "") -> NoReturn:
        raise SkillYamlError(
            message,
            path=self._path,
            line=self.line(field),
            column=1,
            code=code.replace("-", "_"),
            hint=hint or f"write `{field}:` followed by text",
        )

    def _long(self, field: str, text: str, limit: int, code: str) -> None:
        if len(text) > limit:
            self.warn(
                field,
                code,
                f"{field} is {len(text):,} characters long; agentskills.io allows {limit:,}",
                "shorten it; details belong in the body",
            )

    def _too_long(self, field: str, limit: int, code: str) -> NoReturn:
        raise InvalidFrontmatter(
            f"{field} is longer than {limit:,}",
            path=self._path,
            line=self.line(field),
            code=code,
            hint="shorten it; details belong in the body",
        )

    def _within_limits(self, field: str, text: str) -> str:
        if len(text) > DEFAULT_LIMITS.field_chars:
            self._too_long(field, DEFAULT_LIMITS.field_chars, "field_too_long")
        return self._safe(field, text)

    def _safe(self, field: str, text: str) -> str:
        hidden = find_hidden(text)
        if hidden is None:
            return text
        raise InvalidFrontmatter(
            f"{field} holds the hidden character {hidden.label}",
            path=self._path,
            line=self.line(field),
            code="hidden_character",
            hint="remove it; frontmatter is read by people and models alike",
            found=text[max(0, hidden.offset - 10) : hidden.offset + 10],
        )


_TRIGGER_HINT = (
    "write phrases as a list under `triggers:`; `trigger: true` means that only @name calls it"
)
_REQUIRED_HINTS = {
    "name": "add a line such as `name: my-skill`",
    "description": "add a line such as `description: What the skill does and when to use it.`",
}


_KINDS = {"skills": "skill", "tools": "tool", "programs": "program"}
KEYS = (*_KINDS, "all", "any")
"""The keys of both mappings that hold lists of names."""
_REQUIRES_HINT = "write `requires:` with the lists `skills`, `tools` and `programs`"
_MCP_HINT = "list the tools of the server under `tools`, such as `mcp__server__tool`"
_SEPARATOR = re.compile(r"[,\s]+")
_AROUND_SIGN = re.compile(r"\s*>=\s*")


def read_requirements(fields: Fields) -> tuple[str, ...]:
    """Return the requirements as ``Skill.requires`` has them, each once, in the author's order."""
    return tuple(dict.fromkeys(_entries(fields)))


def _entries(fields: Fields) -> Iterator[str]:
    metadata = fields.node("metadata") if "metadata" in fields else None
    inner = metadata.get("requires") if isinstance(metadata, dict) else None
    for key, node in (("requires", fields.node("requires")), ("metadata", inner)):
        if node is None or (isinstance(node, Scalar) and node.null):
            continue
        if not isinstance(node, dict):
            _unread(fields, key, "requires is not a mapping")
            continue
        for name in node:
            if name not in _KINDS:
                hint = _MCP_HINT if name.startswith("mcp") else _REQUIRES_HINT
                _unread(fields, key, f"requires has no key {name[:60]!r}", hint)
        lists = fields.within(key, node)
        for name, kind in _KINDS.items():
            yield from (f"{kind}:{entry}" for entry in _names(lists, name))


def _names(fields: Fields, key: str) -> tuple[str, ...]:
    return tuple(_join_version(entry) for entry in fields.texts(key, split=_split))


def _split(text: str) -> list[str]:
    return [name for name in _SEPARATOR.split(_join_version(text)) if name]


def _join_version(entry: str) -> str:
    """Return the entry without blanks around the sign of a version."""
    return _AROUND_SIGN.sub(">=", entry)


def _unread(fields: Fields, key: str, message: str, hint: str = _REQUIRES_HINT) -> None:
    fields.warn(key, "requires_unread", f"{message}: it is ignored", hint)
