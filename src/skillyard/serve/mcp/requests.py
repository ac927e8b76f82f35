"""What each tool takes.

Sentences are written for the model that calls it, and are kept short: the list of tools costs every
conversation its tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from skillyard.base.operation import Bounds, Field, Spelling, fields_of
from skillyard.engine.operations.skill_explanation import WhyRequest
from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.hosts.operations.recommendations import EvaluateRequest
from skillyard.hosts.operations.skill_feedback import FeedbackRequest
from skillyard.hosts.operations.skill_selection import SelectRequest
from skillyard.serve.runtime.fields import read_values

Schema = dict[str, Any]

_References = Annotated[bool, "Also bring the Markdown files beside each skill."]
_TOKENS = Bounds(least=0, most=200_000)


@dataclass(frozen=True, kw_only=True)
class NoArguments:
    """A tool without arguments."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectSkillRequest(SelectRequest):
    """Choose a skill and bring its instructions."""

    max_tokens: Annotated[int | None, "A budget for the instructions; 0 brings none.", _TOKENS] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class SearchSkillsRequest:
    """Search this library, and the remote sources that its operator allows."""

    query: Annotated[
        str, "What is looked for.", Bounds(shortest=1, longest=500), Spelling(("text", "q"))
    ]
    limit: Annotated[int, "0 to 20 (default: 5)."] = 5
    include_references: _References = False
    max_tokens: Annotated[
        int,
        "A budget for instructions: the best skills bring theirs while they fit (default: 0).",
        _TOKENS,
    ] = 0
    sources: Annotated[
        tuple[str, ...],
        "Ask only these: local (this library), or a remote one that the operator allows"
        " (registry, skills.sh, github, well-known, servers).",
        Bounds(items=20),
    ] = ()
    scorer: Annotated[str | None, f"{', '.join(BUILT_IN)}, or a plugin's.", Bounds(shortest=1)] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class GetSkillRequest:
    """Bring a skill that a search found."""

    source: Annotated[
        str,
        "Where it lies, as search_skills gives it: owner/repo, a domain, or local.",
        Bounds(shortest=1, longest=200),
    ]
    skill_id: Annotated[
        str, "The skill's id there, as search_skills gives it.", Bounds(shortest=1, longest=200)
    ]
    include_references: _References = False


@dataclass(frozen=True, kw_only=True)
class AddSkillRequest:
    """Bring a skill by name."""

    name: Annotated[
        str,
        "The exact name of a skill, of this library first, else elsewhere; or owner/repo/id.",
        Bounds(shortest=1, longest=500),
    ]
    include_references: _References = False


@dataclass(frozen=True, kw_only=True)
class ListSkillsRequest:
    """List the skills of the library, a page at a time."""

    tags: Annotated[tuple[str, ...], "Only skills with one of these tags.", Bounds(items=50)] = ()
    include_hidden: Annotated[
        bool, "Also list the skills that are used only when the user calls them by name."
    ] = False
    limit: Annotated[int, "How many skills to list at a time.", Bounds(least=1, most=200)] = 50
    cursor: Annotated[str | None, "The next_cursor of the page before.", Bounds(longest=2_000)] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class LoadSkillRequest:
    """Bring a skill's instructions."""

    name: Annotated[str, "The skill's name, id or slug.", Bounds(shortest=1, longest=300)]
    section: Annotated[
        str | None, "Only this heading, with what stands below it.", Bounds(longest=300)
    ] = None
    max_tokens: Annotated[int | None, "A budget for the text; the rest is cut.", _TOKENS] = None


@dataclass(frozen=True, kw_only=True)
class ReadSkillFileRequest:
    """Bring a file of a skill."""

    name: Annotated[str, "The skill's name, id or slug.", Bounds(shortest=1, longest=300)]
    path: Annotated[str, "The file, as load_skill lists it.", Bounds(shortest=1, longest=1_024)]
    max_tokens: Annotated[int | None, "A budget for the text; the rest is cut.", _TOKENS] = None


REQUESTS: Mapping[str, type] = {
    "select_skill": SelectSkillRequest,
    "skill_evaluate": EvaluateRequest,
    "search_skills": SearchSkillsRequest,
    "get_skill": GetSkillRequest,
    "add_skill": AddSkillRequest,
    "get_cache_stats": NoArguments,
    "list_skills": ListSkillsRequest,
    "load_skill": LoadSkillRequest,
    "read_skill_file": ReadSkillFileRequest,
    "why_skill": WhyRequest,
    "skill_feedback": FeedbackRequest,
}
"""The request of each tool."""


def _name(field: Field) -> str:
    return field.spelling.tool or field.name


def _input_schema(request: type) -> Schema:
    """Return what a model needs to know of the arguments; bounds are checked, not listed."""
    fields = fields_of(request, "mcp")
    schema: Schema = {
        "type": "object",
        "properties": {_name(field): _property(field) for field in fields},
    }
    required = [_name(field) for field in fields if field.required]
    return {**schema, "required": required} if required else schema


def _property(field: Field) -> Schema:
    kinds = {"text": "string", "flag": "boolean", "texts": "array"}
    schema: Schema = {"type": kinds.get(field.kind, field.kind)}
    if field.kind == "texts":
        schema["items"] = {"type": "string"}
    return {**schema, "description": field.about}


ARGUMENTS: Mapping[str, Schema] = {
    tool: _input_schema(request) for tool, request in REQUESTS.items()
}
"""The JSON Schema of each tool's arguments."""


def read_arguments(tool: str, arguments: Mapping[str, Any] | None) -> Any:
    """Return the request of a call; null counts as absent.

    A message names the argument and never quotes its value. Raises Refused.
    """
    request = REQUESTS[tool]
    return request(**read_values(fields_of(request, "mcp"), arguments or {}, tool))
