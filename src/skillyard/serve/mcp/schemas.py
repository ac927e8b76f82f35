"""The arguments of each tool: the fields that are checked, and the JSON Schemas that clients read.

Descriptions are written for the model that calls the tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.serve.mcp.failures import ToolFailed
from skillyard.serve.runtime.errors import Fault
from skillyard.serve.runtime.fields import Field, field_value
from skillyard.serve.runtime.request_fields import (
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

Schema = dict[str, Any]

_NAME = Field("name", "text", "The skill's name, id or slug.", True, shortest=1, longest=300)
_QUERY = TEXT._replace(name="query", aliases=("text", "q"), about="The request in words.")
_FILES = FILES._replace(about="File paths in play; never opened.", longest=1_024)
_RECENT = RECENT_ACTIVITY._replace(about="What was done lately.", longest=1_024)
_TAGS = Field("tags", "texts", "Only skills with one of these tags.", items=50, longest=200)
_SCOPE = PACKAGE_SCOPE._replace(about="Skills below packages/a count only for files there.")
_TOOLS = TOOLS._replace(about="Tools that you have; skills that need others drop out.", longest=300)
_REFERENCES = REFERENCES._replace(about="Also bring the Markdown files beside each skill.")
_MAX_TOKENS = Field(
    "max_tokens", "integer", "A budget for the text; the rest is cut.", least=0, most=200_000
)
_SCORER = SCORER._replace(about=f"{', '.join(BUILT_IN)}, or a plugin's.")

FIELDS: Mapping[str, tuple[Field, ...]] = {
    "select_skill": (
        _QUERY._replace(about="The request, as the user put it.", default=""),
        _FILES,
        _RECENT,
        _TAGS._replace(name="include_tags"),
        _TAGS._replace(name="exclude_tags", about="No skills with one of these tags."),
        _SCOPE,
        TOP_K._replace(about="Choose at most so many.", most=20),
        MIN_SCORE._replace(about="The score to reach."),
        WRONG_COST._replace(
            about="What a wrong skill costs where a missed one costs 1; not with min_score."
        ),
        _MAX_TOKENS._replace(about="A budget for the instructions; 0 brings none."),
        _TOOLS,
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
        _QUERY._replace(about="What is looked for.", required=True, shortest=1, longest=500),
        LIMIT._replace(about="0 to 20 (default: 5).", default=5, least=None, most=None),
        _REFERENCES,
        _MAX_TOKENS._replace(
            about="A budget for instructions: the best skills bring theirs while they fit"
            " (default: 0).",
            default=0,
        ),
        Field(
            "sources",
            "texts",
            "Ask only these: local (this library), or a remote one that the operator allows"
            " (registry, skills.sh, github, well-known, servers).",
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
        Field("section", "text", "Only this heading, with what stands below it.", longest=300),
        _MAX_TOKENS,
    ),
    "read_skill_file": (
        _NAME,
        Field("path", "text", "The file, as load_skill lists it.", True, shortest=1, longest=1_024),
        _MAX_TOKENS,
    ),
    "why_skill": (
        _NAME,
        _QUERY._replace(required=True, shortest=1),
        _FILES,
        _RECENT,
        _SCOPE,
        _TOOLS,
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
    """Return what a model needs to know of the fields; their bounds are checked, not listed."""
    schema: Schema = {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
    }
    required = [field.name for field in fields if field.required]
    return {**schema, "required": required} if required else schema


def _property(field: Field) -> Schema:
    kinds = {"text": "string", "flag": "boolean", "texts": "array"}
    schema: Schema = {"type": kinds.get(field.kind, field.kind)}
    if field.kind == "texts":
        schema["items"] = {"type": "string"}
    return {**schema, "description": field.about}


ARGUMENTS: Mapping[str, Schema] = {tool: _input_schema(fields) for tool, fields in FIELDS.items()}
"""The same as JSON Schemas."""


def parse_arguments(tool: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments by name, with defaults; null counts as absent.

    A message names the argument and never quotes its value. Raises ToolFailed.
    """
    fields = {field.name: field for field in FIELDS[tool]}
    by_name = {name: field.name for field in fields.values() for name in field.names}
    values_by_name: dict[str, Any] = {}
    for name, value in (arguments or {}).items():
        if value is None:
            continue
        if name not in by_name:
            known = ", ".join(fields) or "none"
            raise _wrong(f"{tool} has no argument {name[:60]!r}; it takes: {known}")
        if by_name[name] in values_by_name:
            raise _wrong(f"{name} is another spelling of {by_name[name]}: give one of them")
        values_by_name[by_name[name]] = value
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
