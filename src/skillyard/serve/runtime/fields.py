"""Checks the values of requests by pydantic: those of HTTP, and of the tools of MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Strict, TypeAdapter, ValidationError
from pydantic import Field as Constraints
from pydantic_core import PydanticCustomError

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
