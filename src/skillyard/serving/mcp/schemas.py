"""The arguments of each tool: the fields that are checked, and the JSON Schemas that clients read.

Descriptions are written for the model that calls the tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.ranking.registry import BUILT_IN
from skillyard.serving.mcp.failures import ToolFailed
from skillyard.serving.runtime.errors import Fault
from skillyard.serving.runtime.fields import Field, field_value
from skillyard.serving.runtime.request_fields import (
    FEEDBACK,
    FILES,
    LIMIT,
    MIN_SCORE,
    PACKAGE_SCOPE,
    RECENT_ACTIVITY,
    REFERENCES,
    SCORER,
    SHOW_DETAILS,
    TEXT,
    THRESHOLD,
    TOOLS,
    TOP_K,
    WRONG_COST,
)

__all__ = ["ARGUMENTS", "parse_arguments", "with_names"]

Schema = dict[str, Any]

NAMES = 50
"""Maximum number of skills that the schemas of tools list by name."""


_NAME = Field(
    "name",
    "text",
    "The skill's name, id or slug, exactly as a listing gives it.",
    True,
    shortest=1,
    longest=300,
)
_FILES = FILES._replace(
    about="File paths in play; compared with the skills' file patterns, never opened.",
    longest=1_024,
)
_RECENT = RECENT_ACTIVITY._replace(about="What was done lately, in words.", longest=1_024)
_TAGS = Field("tags", "texts", "Only skills with one of these tags.", items=50, longest=200)
_REFERENCES = REFERENCES._replace(about="Also bring the Markdown files beside each skill.")
_MAX_TOKENS = Field(
    "max_tokens",
    "integer",
    "At most about so many tokens of text; the rest is cut and said.",
    least=0,
    most=200_000,
)
_DEFAULT, *_OTHERS, _LAST = BUILT_IN
_SCORER = SCORER._replace(
    about=f"The scorer that ranks: {_DEFAULT} (default, unless the server is set to another),"
    f" {', '.join(_OTHERS)} or {_LAST}."
)

FIELDS: Mapping[str, tuple[Field, ...]] = {
    "select_skill": (
        TEXT._replace(about="The request, as the user put it.", default=""),
        _FILES,
        _RECENT,
        _TAGS._replace(name="include_tags"),
        _TAGS._replace(name="exclude_tags", about="No skills with one of these tags."),
        PACKAGE_SCOPE,
        TOP_K._replace(about="Choose at most so many.", most=20),
        MIN_SCORE._replace(
            about="The floor below which nothing is chosen (default: the scorer's own)."
        ),
        WRONG_COST._replace(
            about="What a wrong skill costs where a missed one costs 1; the floor follows"
            " from it (default: 2). Not with min_score."
        ),
        _MAX_TOKENS._replace(
            about="A budget for the instructions of the best skill, in tokens; the rest is"
            " cut and said. 0 brings none: load_skill does."
        ),
        TOOLS._replace(longest=300),
        _SCORER,
    ),
    "skill_evaluate": (
        _FILES._replace(about="File paths to analyze"),
        TEXT._replace(about="Text content to analyze"),
        _RECENT._replace(name="recentActivity", about="Recent activity keywords"),
        THRESHOLD._replace(about="Minimum confidence (default: 0.3)"),
        LIMIT._replace(about="Max results (default: 10)", least=0, most=100),
        SHOW_DETAILS._replace(name="showDetails", about="Include match details"),
    ),
    "search_skills": (
        TEXT._replace(
            name="query",
            about="What is looked for, in words.",
            required=True,
            shortest=1,
            longest=500,
        ),
        LIMIT._replace(
            about="How many skills to return; taken into the range of 0 to 20.",
            default=5,
            least=None,
            most=None,
        ),
        _REFERENCES,
        _MAX_TOKENS._replace(
            about="A budget for instructions, in tokens: the best skills bring theirs "
            "while they fit. 0, the default, brings cards only; load_skill or get_skill bring one.",
            default=0,
        ),
        Field(
            "sources",
            "texts",
            "Ask these sources only: local (this library), or a remote one that the operator of "
            "this server allows (registry, skills.sh, github, well-known, servers). Default: all "
            "of these.",
            items=20,
            longest=100,
        ),
        _SCORER,
    ),
    "get_skill": (
        Field(
            "source",
            "text",
            "Where it lies, as search_skills gives it: owner/repo, a domain, or local.",
            True,
            shortest=1,
            longest=200,
        ),
        Field(
            "skill_id",
            "text",
            "The skill's id there, as search_skills gives it.",
            True,
            shortest=1,
            longest=200,
        ),
        _REFERENCES,
    ),
    "add_skill": (
        _NAME._replace(
            about="The exact name of a skill, of this library first, else elsewhere; "
            "or owner/repo/id.",
            longest=500,
        ),
        _REFERENCES,
    ),
    "get_cache_stats": (),
    "list_skills": (
        _TAGS,
        Field(
            "include_hidden",
            "flag",
            "Also list the skills that are used only when the user calls them by name.",
            default=False,
        ),
        LIMIT._replace(about="How many skills to list at a time.", default=50, most=200),
        Field("cursor", "text", "The next_cursor of the page before.", longest=2_000),
    ),
    "load_skill": (
        _NAME,
        Field(
            "section",
            "text",
            "Only this heading of the instructions, with what stands below it.",
            longest=300,
        ),
        _MAX_TOKENS,
    ),
    "read_skill_file": (
        _NAME,
        Field(
            "path",
            "text",
            "The file's path inside the skill's folder, as load_skill lists it.",
            True,
            shortest=1,
            longest=1_024,
        ),
        _MAX_TOKENS,
    ),
    "why_skill": (
        _NAME,
        TEXT._replace(
            name="query", about="What is to be done, in words.", required=True, shortest=1
        ),
        _FILES,
        _RECENT,
        PACKAGE_SCOPE,
        TOOLS._replace(longest=300),
        _SCORER,
        LIMIT._replace(
            about="How many of the skills that rank higher to compare.",
            default=5,
            least=0,
            most=20,
        ),
    ),
    "skill_feedback": (_NAME, *FEEDBACK),
}
"""The arguments of each tool."""


def _input_schema(fields: Sequence[Field]) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {field.name: field.schema() for field in fields},
        "additionalProperties": False,
    }
    required = [field.name for field in fields if field.required]
    return {**schema, "required": required} if required else schema


ARGUMENTS: Mapping[str, Schema] = {tool: _input_schema(fields) for tool, fields in FIELDS.items()}
"""The same as JSON Schemas."""


def with_names(schema: Schema, names: list[str]) -> Schema:
    """Return the schema with the allowed names, if there are few."""
    if not 0 < len(names) <= NAMES or "name" not in schema["properties"]:
        return schema
    name = {**schema["properties"]["name"], "enum": names}
    return {**schema, "properties": {**schema["properties"], "name": name}}


def parse_arguments(tool: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments by name, with defaults; null counts as absent.

    A message names the argument and never quotes its value. Raises ToolFailed.
    """
    fields = {field.name: field for field in FIELDS[tool]}
    values_by_name = {name: value for name, value in (arguments or {}).items() if value is not None}
    for name in values_by_name:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise _wrong(f"{tool} has no argument {name[:60]!r}; it takes: {known}")
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, field in fields.items():
        if name in values_by_name:
            values[name] = field_value(field, values_by_name[name], (name,), faults)
        elif field.required:
            raise _wrong(f"{tool} needs the argument {name!r}: {field.about}")
        else:
            values[name] = field.default
    if faults:
        raise _wrong(faults[0].message)
    return values


def _wrong(message: str) -> ToolFailed:
    return ToolFailed("invalid_argument", message)
