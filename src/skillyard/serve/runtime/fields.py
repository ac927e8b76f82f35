"""Reads the values of requests, and describes these and the results as JSON Schema: by pydantic.

They are those of HTTP and of the tools of MCP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_type_hints
from urllib.parse import parse_qsl

from pydantic import AfterValidator, BeforeValidator, Strict, TypeAdapter, ValidationError
from pydantic import Field as Constraints
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from skillyard.base.io.strict_json import strict_loads
from skillyard.base.operation import Field
from skillyard.base.shapes.service import Fault
from skillyard.serve.runtime.errors import wrong_field

Schema = dict[str, Any]
NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""Anything but the blanks of JSON Schema's expressions and of Python."""


def read_values(
    fields: tuple[Field, ...],
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
    names = {name: field.name for field in fields for name in field.names}
    spellings = {names.get(name, name): name for name in named_values}
    values = {name: named_values[spelling] for name, spelling in spellings.items()}
    values = {name: value for name, value in values.items() if value is not None}
    try:
        checked = reader_of(fields, strict, from_text).validate_python(values)
    except ValidationError as error:
        faults = []
        for each in error.errors(include_url=False, include_input=False):
            field_name, *steps = each["loc"]
            name = spellings.get(str(field_name), str(field_name))[:100]
            message = f"{name}{''.join(f'[{step}]' for step in steps)}: {each['msg']}"
            if each["type"] == "extra_forbidden":
                known = ", ".join(field.name for field in fields) or "none"
                message = f"no field {name!r}; known: {known}"
            faults.append(Fault(loc=(place, name, *steps), msg=message, type=each["type"]))
        raise wrong_field(faults) from None
    return {field.name: field.default for field in fields} | checked


@cache
def reader_of(
    fields: tuple[Field, ...], strict: bool = True, from_text: bool = False
) -> TypeAdapter[dict[str, Any]]:
    """Return the reader of the fields; its JSON Schema describes them."""
    members: Any = {
        field.name: Required[kind] if field.required else NotRequired[kind]
        for field, kind in ((field, _kind_of(field, from_text)) for field in fields)
    }
    new_shape: Any = TypedDict
    shape = new_shape("Request", members)
    shape.__pydantic_config__ = {"extra": "forbid" if strict else "ignore"}
    return TypeAdapter(shape)


def schemas_of(fields: tuple[Field, ...]) -> dict[str, Schema]:
    """Return the JSON Schema of each field."""
    schema = reader_of(fields).json_schema(schema_generator=_Generator)
    properties: dict[str, Schema] = schema["properties"]
    return properties


def _kind_of(field: Field, from_text: bool) -> Any:
    bounds = field.bounds
    if field.kind in ("text", "texts"):
        kind: Any = Annotated[str, Strict(), Constraints(max_length=bounds.longest)]
        if field.choices:
            kind = Literal[field.choices]
        elif bounds.shortest:
            pattern: Any = {"minLength": 1, "pattern": bounds.pattern or NOT_BLANK}
            kind = Annotated[
                kind, AfterValidator(_not_blank), Constraints(json_schema_extra=pattern)
            ]
        if field.kind == "texts":
            kind = Annotated[
                list[kind], Strict(), Constraints(max_length=bounds.items), AfterValidator(tuple)
            ]
    elif field.kind == "flag":
        kind = Annotated[bool, Strict(not from_text)]
    else:
        number: Any = int if field.kind == "integer" else float
        limits: Any = Constraints(ge=bounds.least, le=bounds.most, gt=bounds.above)
        finite = Constraints(allow_inf_nan=False) if number is float else BeforeValidator(_whole)
        kind = Annotated[number, Strict(not from_text), limits, finite]
    more: Any = {} if field.default in (None, ()) else {"default": field.default}
    return Annotated[kind, Constraints(description=field.about, json_schema_extra=more)]


def _not_blank(text: str) -> str:
    if not text.replace("\ufeff", "").strip():
        raise PydanticCustomError("string_too_short", "must not be empty")
    return text


def _whole(value: Any) -> Any:
    """Return a whole number as one: 5.0 is one in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


MAX_PAIRS = 1_000
"""Parameters of one query string: more than the items of any route's lists together."""


def from_query(fields: tuple[Field, ...], raw: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a query string, defaults filled in. Raises Refused (422)."""
    kinds = {name: field.kind for field in fields for name in field.names}
    texts: dict[str, list[str]] = {}
    for name, text in _pairs(raw):
        texts.setdefault(name, []).append(text)
    values: dict[str, Any] = {}
    for name, given in texts.items():
        values[name] = given if kinds.get(name) == "texts" or len(given) > 1 else given[0]
    return read_values(fields, values, "query", strict=strict, from_text=True)


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PAIRS
        )
    except UnicodeDecodeError:
        message, kind = "the query string is not percent-encoded UTF-8", "encoding"
    except ValueError:
        message, kind = f"more than {MAX_PAIRS} parameters", "too_many"
    raise wrong_field([Fault(loc=("query",), msg=message, type=kind)])


def from_json(fields: tuple[Field, ...], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a JSON body, defaults filled in. Raises Refused (422).

    The body is one object in UTF-8 with each key once; null means that a field is not given.
    """
    try:
        document = strict_loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        message = f"the body is no JSON in UTF-8: {error}"
        raise wrong_field([Fault(loc=("body",), msg=message, type="json_invalid")]) from None
    if not isinstance(document, dict):
        message = "the body must be a JSON object"
        raise wrong_field([Fault(loc=("body",), msg=message, type="dict_type")])
    return read_values(fields, document, "body", strict=strict)


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
