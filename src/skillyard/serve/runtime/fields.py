"""Reads and checks the values of requests: those of HTTP, and of the tools of MCP."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import parse_qsl

from pydantic import AfterValidator, BeforeValidator, Strict, TypeAdapter, ValidationError
from pydantic import Field as Constraints
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError

from skillyard.base.io.strict_json import RepeatedKey, strict_loads
from skillyard.base.operation import Field
from skillyard.base.shapes.service import Fault
from skillyard.serve.runtime.errors import fault, wrong_field

_MESSAGES = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le:g}",
    "list_type": "must be a list of texts",
    "string_too_long": "must have at most {max_length:,} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "string_unicode": "holds half a surrogate pair",
    "too_long": "holds more than {max_length} texts",
}
"""By pydantic's kinds of errors, which clients of such services know."""
_KINDS = {"int_from_float": "int_type", "int_parsing_size": "int_parsing", "literal_error": "enum"}
"""Our kinds, where they differ from pydantic's."""


def read_values(
    fields: Sequence[Field],
    named_values: Mapping[str, Any],
    place: str,
    *,
    strict: bool = True,
    from_text: bool = False,
) -> dict[str, Any]:
    """Return the values of the fields, defaults filled in. Raises Refused (422).

    ``named_values`` have the names that the client used, and None where it gave none. ``place`` is
    the one that faults name. ``strict`` refuses unknown names; otherwise they are ignored. Numbers
    and flags are written as text with ``from_text``.
    """
    by_name = {name: field for field in fields for name in field.names}
    used: dict[str, str] = {}
    values = {field.name: field.default for field in fields}
    faults: list[Fault] = []
    for name, value in named_values.items():
        field = by_name.get(name)
        if field is None:
            if strict:
                names = ", ".join(each.name for each in fields) or "none"
                message = f"no field {name[:100]!r}; known: {names}"
                faults.append(fault((place, name[:100]), message, "extra_forbidden"))
        elif field.name in used:
            message = f"{name} is another spelling of {used[field.name]}: give one of them"
            faults.append(fault((place, name), message, "repeated"))
        else:
            used[field.name] = name
            if value is not None:
                values[field.name] = _checked(field, value, (place, name), from_text, faults)
    missing = [
        field.name
        for field in fields
        if field.required and named_values.get(used.get(field.name, field.name)) is None
    ]
    faults += [fault((place, name), f"{name} is required", "missing") for name in missing]
    if faults:
        raise wrong_field(faults)
    return values


def _checked(
    field: Field, value: Any, where: tuple[str, str], from_text: bool, faults: list[Fault]
) -> Any:
    try:
        checked = _reader(field, from_text).validate_python(value)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            kind = _KINDS.get(each["type"], each["type"])
            what = _MESSAGES.get(kind, "must be one of " + ", ".join(field.choices))
            at = "".join(f"[{step}]" for step in each["loc"])
            message = f"{where[1]}{at} {what.format(**each.get('ctx', {}))}"
            faults.append(fault((*where, *each["loc"]), message, kind))
        return None
    return tuple(checked) if field.kind == "texts" else checked


@cache
def _reader(field: Field, from_text: bool) -> TypeAdapter[Any]:
    bounds = field.bounds
    if field.kind in ("text", "texts"):
        text: Any = Literal[field.choices] if field.choices else Annotated[str, Strict()]
        if not field.choices:
            text = Annotated[text, Constraints(max_length=bounds.longest)]
            text = Annotated[text, AfterValidator(_not_blank)] if bounds.shortest else text
        kind = text
        if field.kind == "texts":
            kind = Annotated[list[text], Strict(), Constraints(max_length=bounds.items)]
    elif field.kind == "flag":
        kind = Annotated[bool, Strict(not from_text)]
    else:
        number: Any = int if field.kind == "integer" else float
        limits: Any = Constraints(ge=bounds.least, le=bounds.most, gt=bounds.above)
        finite = Constraints(allow_inf_nan=False) if number is float else BeforeValidator(_whole)
        kind = Annotated[number, Strict(not from_text), limits, finite]
    return TypeAdapter(kind)


def _not_blank(text: str) -> str:
    if not text.replace("\ufeff", "").strip():
        raise PydanticCustomError("string_too_short", "blank")
    return text


def _whole(value: Any) -> Any:
    """Return a whole number as one: 5.0 is one in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


MAX_PAIRS = 1_000
"""Parameters of one query string: more than the items of any route's lists together."""


def from_form(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of what a form sends, defaults filled in. Raises Refused (422).

    Browsers send each line end as two characters, which nobody typed: they count as one.
    """
    return from_query(fields, body.replace(b"%0D%0A", b"%0A"), strict=strict, place="body")


def from_query(
    fields: Sequence[Field], raw: bytes, *, strict: bool, place: str = "query"
) -> dict[str, Any]:
    """Return the values of a query string, defaults filled in. Raises Refused (422)."""
    kinds = {name: field.kind for field in fields for name in field.names}
    texts: dict[str, list[str]] = {}
    for name, text in _pairs(raw, place):
        texts.setdefault(name, []).append(text)
    values: dict[str, Any] = {}
    for name, given in texts.items():
        if kinds.get(name) == "texts":
            values[name] = given
        elif name in kinds and len(given) > 1:
            message = f"{name} is given {len(given)} times"
            raise wrong_field([fault((place, name), message, "repeated")])
        else:
            values[name] = given[0] if kinds.get(name) == "text" else given[0].strip()
    return read_values(fields, values, place, strict=strict, from_text=True)


def _pairs(raw: bytes, place: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PAIRS
        )
    except UnicodeDecodeError:
        what = "query string" if place == "query" else "form"
        message, kind = f"the {what} is not percent-encoded UTF-8", "encoding"
    except ValueError:
        message, kind = f"more than {MAX_PAIRS} parameters", "too_many"
    raise wrong_field([fault((place,), message, kind)])


def from_json(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a JSON body, defaults filled in. Raises Refused (422).

    The body is one object in UTF-8 with each key once; null means that a field is not given.
    """
    message, kind = "", "json_invalid"
    try:
        document = strict_loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8 (byte {error.start})"
    except RecursionError:
        message = "the body is nested too deeply"
    except RepeatedKey as error:
        message, kind = f"the key {error.key[:100]!r} stands twice", "repeated"
    except json.JSONDecodeError as error:
        message = f"the body is no JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except ValueError:
        message = "the body holds a number that JSON does not have, or that is too long"
    else:
        if isinstance(document, dict):
            return read_values(fields, document, "body", strict=strict)
        message, kind = "the body must be a JSON object", "dict_type"
    raise wrong_field([fault(("body",), message, kind)])


Schema = dict[str, Any]


class _Generator(GenerateJsonSchema):
    """Describes each member by its annotation; the title would only repeat its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dataclass_schema(self, schema: Any) -> Schema:
        """Return an object with exactly the members of its class; those with a default may lack."""
        shape = super().dataclass_schema(schema)
        hints = get_type_hints(schema["cls"], include_extras=True)
        members = {
            name: _member(member, get_args(hints[name])[1])
            for name, member in shape["properties"].items()
        }
        needed = (*shape.get("required", ()), "schema")
        return {
            "type": "object",
            "description": shape["description"],
            "properties": members,
            "required": [name for name in members if name in needed],
            "additionalProperties": False,
        }


def components_of(shapes: Iterable[type], ref_template: str) -> dict[str, Schema]:
    """Return the schemas of shapes and of their inner shapes, by class name."""
    _, document = TypeAdapter.json_schemas(
        [(each, "validation", TypeAdapter(each)) for each in shapes],
        ref_template=ref_template,
        schema_generator=_Generator,
    )
    components: dict[str, Schema] = document["$defs"]
    return components


def _member(schema: Schema, about: str) -> Schema:
    """Return a member's schema: absence means its default, and null stands where it is sent."""
    choices = schema.get("anyOf", [])
    if "default" in schema and schema["default"] is None:
        choices = [each for each in choices if each != {"type": "null"}]
    plain = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if len(choices) == 1:
        plain = choices[0]
    elif choices and all(set(each) == {"type"} for each in choices):
        plain = {"type": [each["type"] for each in choices]}
    elif choices:
        plain = {"anyOf": choices}
    return {**plain, "description": about}
