"""What each tool takes, as JSON Schema: what clients read is what is checked.

Descriptions are written for the model that calls the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.ranking.registry import BUILT_IN
from skillyard.serving.mcp.failures import ToolFailed

__all__ = ["ARGUMENTS", "checked", "with_names"]

Schema = dict[str, Any]

REQUEST_CHARS = 20_000
"""A request in words, as over HTTP: prompts that carry a page of text pass."""
TOKENS = 200_000
NAMES = 50
"""Up to so many skills are named in the schema of the tools that load one."""


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return schema


def _text(about: str, longest: int, **more: Any) -> Schema:
    return {"type": "string", "maxLength": longest, "description": about, **more}


def _texts(about: str, longest: int = 1_024, items: int = 200) -> Schema:
    item = {"type": "string", "maxLength": longest}
    return {"type": "array", "items": item, "maxItems": items, "description": about}


def _integer(about: str, least: int, most: int, default: int | None = None) -> Schema:
    schema: Schema = {"type": "integer", "minimum": least, "maximum": most, "description": about}
    return schema if default is None else {**schema, "default": default}


def _flag(about: str) -> Schema:
    return {"type": "boolean", "default": False, "description": about}


_REFERENCES = _flag("Also bring the Markdown files beside each skill.")
_NAME = _text("The skill's name, id or slug, exactly as a listing gives it.", 300, minLength=1)
_QUERY = _text("What is to be done, in words.", REQUEST_CHARS, minLength=1)
_FILES = _texts("File paths in play; compared with the skills' file patterns, never opened.")
_MAX_TOKENS = _integer("At most about so many tokens of text; the rest is cut and said.", 0, TOKENS)

_DEFAULT, *_OTHERS, _LAST = BUILT_IN
_SCORER = _text(
    f"The scorer that ranks: {_DEFAULT} (default), {', '.join(_OTHERS)} or {_LAST}.",
    100,
    minLength=1,
)

ARGUMENTS: Mapping[str, Schema] = {
    "select_skill": _object(
        text=_text("The request, as the user put it.", REQUEST_CHARS, default=""),
        files=_FILES,
        recent_activity=_texts("What was done lately, in words."),
        include_tags=_texts("Only skills with one of these tags.", 200, 50),
        exclude_tags=_texts("No skills with one of these tags.", 200, 50),
        top_k=_integer("Choose at most so many.", 0, 20),
        min_score={
            "type": "number",
            "description": "The floor below which nothing is chosen (default: the scorer's own).",
        },
        wrong_cost={
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "What a wrong skill costs where a missed one costs 1; the floor follows"
            " from it (default: 2). Not with min_score.",
        },
        max_tokens={
            **_MAX_TOKENS,
            "description": "A budget for the instructions of the best skill, in tokens; the rest is"
            " cut and said. 0 brings none: load_skill does.",
        },
        scorer=_SCORER,
    ),
    "skill_evaluate": _object(
        files=_texts("File paths to analyze"),
        text=_text("Text content to analyze", REQUEST_CHARS),
        recentActivity=_texts("Recent activity keywords"),
        threshold={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": 0.3,
            "description": "Minimum confidence (default: 0.3)",
        },
        limit=_integer("Max results (default: 10)", 0, 100, 10),
        showDetails=_flag("Include match details"),
    ),
    "search_skills": _object(
        ("query",),
        query=_text("What is looked for, in words.", 500, minLength=1),
        limit={
            "type": "integer",
            "default": 5,
            "description": "How many skills to return; taken into the range of 0 to 20.",
        },
        include_references=_REFERENCES,
        max_tokens={
            **_MAX_TOKENS,
            "default": 0,
            "description": "A budget for instructions, in tokens: the best skills bring theirs "
            "while they fit. 0, the default, brings cards only; load_skill or get_skill bring one.",
        },
        sources=_texts(
            "Ask these sources only: local (this library), registry, skills.sh, github, "
            "well-known, servers. Default: all that are switched on.",
            100,
            20,
        ),
        scorer=_SCORER,
    ),
    "get_skill": _object(
        ("source", "skill_id"),
        source=_text(
            "Where it lies, as search_skills gives it: owner/repo, a domain, or local.",
            200,
            minLength=1,
        ),
        skill_id=_text("The skill's id there, as search_skills gives it.", 200, minLength=1),
        include_references=_REFERENCES,
    ),
    "add_skill": _object(
        ("name",),
        name=_text(
            "The exact name of a skill, of this library first, else elsewhere; or owner/repo/id.",
            500,
            minLength=1,
        ),
        include_references=_REFERENCES,
    ),
    "get_cache_stats": _object(),
    "list_skills": _object(
        tags=_texts("Only skills with one of these tags.", 200, 50),
        include_hidden=_flag(
            "Also list the skills that are used only when the user calls them by name."
        ),
        limit=_integer("How many skills to list at a time.", 1, 200, 50),
        cursor=_text("The next_cursor of the page before.", 2_000),
    ),
    "load_skill": _object(
        ("name",),
        name=_NAME,
        section=_text("Only this heading of the instructions, with what stands below it.", 300),
        max_tokens=_MAX_TOKENS,
    ),
    "read_skill_file": _object(
        ("name", "path"),
        name=_NAME,
        path=_text(
            "The file's path inside the skill's folder, as load_skill lists it.", 1_024, minLength=1
        ),
        max_tokens=_MAX_TOKENS,
    ),
    "why_skill": _object(
        ("name", "query"),
        name=_NAME,
        query=_QUERY,
        files=_FILES,
        recent_activity=_texts("What was done lately, in words."),
        scorer=_SCORER,
        limit=_integer("How many of the skills that rank higher to compare.", 0, 20, 5),
    ),
}
"""The arguments of each tool."""


def with_names(schema: Schema, names: list[str]) -> Schema:
    """Return the schema with the names that may be asked for, where they are few."""
    if not 0 < len(names) <= NAMES or "name" not in schema["properties"]:
        return schema
    name = {**schema["properties"]["name"], "enum": names}
    return {**schema, "properties": {**schema["properties"], "name": name}}


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "text"),
    "integer": ((int,), "an integer"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
}


def checked(tool: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments by name, defaults filled in; null is as good as absent.

    The few keywords that the schemas use are checked here, so that a message names the argument
    and never repeats what was sent. Raises ToolFailed.
    """
    schema = ARGUMENTS[tool]
    properties = schema["properties"]
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    unknown = [name for name in given if name not in properties]
    if unknown:
        known = ", ".join(properties) or "none"
        raise _wrong(f"{tool} has no argument {unknown[0][:60]!r}; it takes: {known}")
    for name in schema.get("required", ()):
        if name not in given:
            raise _wrong(f"{tool} needs the argument {name!r}: {properties[name]['description']}")
    for name, value in given.items():
        if properties[name]["type"] == "integer" and isinstance(value, float):
            # JSON knows one kind of number, and some clients write 5 as 5.0.
            given[name] = value = int(value) if value.is_integer() else value
        _check(name, value, properties[name])
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return {**dict.fromkeys(properties), **defaults, **given}


def _wrong(message: str) -> ToolFailed:
    return ToolFailed("invalid_argument", message)


def _check(name: str, value: Any, schema: Schema) -> None:
    kinds, called = _KINDS[schema["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise _wrong(f"{name} must be {called}, not {type(value).__name__}")
    if isinstance(value, str):
        _check_text(name, value, schema)
    elif isinstance(value, list):
        if len(value) > schema["maxItems"]:
            raise _wrong(f"{name} must hold at most {schema['maxItems']} items")
        for number, item in enumerate(value):
            _check(f"{name}[{number}]", item, schema["items"])
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_range(name, value, schema)


def _check_text(name: str, value: str, schema: Schema) -> None:
    if len(value) > schema["maxLength"]:
        raise _wrong(f"{name} must have at most {schema['maxLength']:,} characters")
    if "minLength" in schema and not value.strip():
        raise _wrong(f"{name} must not be empty")
    if not value.isascii() and value.encode("utf-8", "replace").decode() != value:
        raise _wrong(f"{name} holds half a character (a lone surrogate)")


def _check_range(name: str, value: float, schema: Schema) -> None:
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        raise _wrong(f"{name} must be a number of {least} to {most}")
