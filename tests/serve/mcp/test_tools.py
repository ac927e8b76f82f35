"""The tools through the SDK's client: results by their schemas, every refusal in plain words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from skillyard.base.shapes.tools import RESULTS
from skillyard.serve.mcp.tools import ARGUMENTS, OUTLINES, tools_of
from tests.serve.mcp.local_servers import SECRET, Serving, run, shows
from tests.tables import for_each

WORKING: dict[str, dict[str, Any]] = {
    "select_skill": {"query": "extract the tables of this pdf"},
    "skill_evaluate": {"text": "extract the tables of this pdf", "files": ["a.pdf"]},
    "search_skills": {"query": "pdf tables"},
    "get_skill": {"source": "local", "skill_id": "deploy"},
    "add_skill": {"name": "deploy"},
    "get_cache_stats": {},
    "list_skills": {},
    "load_skill": {"name": "pdf-tables"},
    "read_skill_file": {"name": "pdf-tables", "path": "references/layout.md"},
    "why_skill": {"name": "deploy", "query": "ship the app"},
}


TOOLS = tools_of(all_tools=True, feedback=False)


def listed(served: Serving) -> dict[str, Any]:
    async def tools() -> dict[str, Any]:
        async with Client(served.url) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    return run(tools())


def test_every_tool_has_what_a_model_needs_to_follow_it(served: Serving) -> None:
    found = listed(served)
    assert list(found) == list(TOOLS)
    assert list(tools_of(all_tools=True, feedback=True)) == list(ARGUMENTS) == list(RESULTS)
    for tool in found.values():
        assert tool.description
        assert tool.annotations.read_only_hint is True
        assert tool.output_schema == OUTLINES[tool.name]
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        for name, argument in tool.input_schema["properties"].items():
            assert argument["description"], f"{tool.name}.{name}"


def test_a_skill_is_called_by_its_plugin_and_its_name(served: Serving) -> None:
    async def selected() -> Any:
        async with Client(served.url) as client:
            return await client.call_tool("select_skill", {"query": "/team:deploy the tables"})

    result: Any = run(selected())
    assert [each["name"] for each in result.structured_content["selected"]] == ["deploy"]


@for_each("tool", TOOLS)
def test_a_result_is_what_its_schema_says(served: Serving, tool: str) -> None:
    assert set(WORKING) == set(TOOLS)
    Draft202012Validator(ARGUMENTS[tool]).validate(WORKING[tool])
    result = served.call(tool, WORKING[tool])
    assert result.is_error is False
    Draft202012Validator(OUTLINES[tool]).validate(result.structured_content)
    assert shows(result)


def test_select_skill_brings_the_instructions_of_what_it_chooses(served: Serving) -> None:
    result = served.call("select_skill", WORKING["select_skill"])
    found = result.structured_content
    assert [match["name"] for match in found["selected"]] == ["pdf-tables"]
    assert (found["scorer"], found["abstained"], found["maybe"]) == ("hybrid", False, [])
    loaded = served.call("load_skill", {"name": "pdf-tables"}).structured_content
    assert found["block"] == loaded["content"]
    assert shows(result).endswith(found["block"])
    assert found["selected"][0]["path"] == "pdf-tables/SKILL.md"


def test_skill_evaluate_answers_as_its_document_shows(served: Serving) -> None:
    result = served.call("skill_evaluate", WORKING["skill_evaluate"])
    assert set(result.structured_content) == {"results", "message"}
    first = result.structured_content["results"][0]
    assert set(first) == {"skillName", "confidence", "level", "reason"}
    assert first["skillName"] == "pdf-tables"
    assert shows(result) == result.structured_content["message"]
    assert shows(result).startswith("## Skill Evaluation Results (")


def refused(served: Serving, tool: str, arguments: Any, told: str, code: str) -> str:
    result = served.call(tool, arguments)
    assert result.is_error is True
    assert result.structured_content is None
    text = shows(result)
    assert told in text
    assert len(text) < 3_000
    assert result.meta is not None
    assert result.meta["skillyard/code"] == code
    for trace in ("Traceback", "site-packages", str(served.root.parent), SECRET):
        assert trace not in text
    return text


WRONG = "invalid_argument"
ABSENT = "skill_not_found"


@for_each(
    ("tool", "arguments", "told", "code"),
    [
        ("search_skills", {}, "query: Field required", WRONG),
        ("search_skills", {"query": " "}, "query: must not be empty", WRONG),
        ("search_skills", {"query": "x" * 501}, "at most 500", WRONG),
        ("search_skills", {"query": "a", "sources": ["nowhere"]}, "unknown source", WRONG),
        ("get_skill", {"source": "local"}, "skill_id: Field required", WRONG),
        ("get_skill", {"source": "local", "skill_id": "nope"}, "no skill is called", ABSENT),
        ("get_skill", {"source": "a b", "skill_id": "x"}, "owner/repo, a domain", WRONG),
        ("get_skill", {"source": "a/b", "skill_id": ".."}, "one path segment", WRONG),
        ("get_skill", {"source": "a/b", "skill_id": "x"}, "no skill is called", ABSENT),
        ("add_skill", {"name": "/"}, "name must not be empty", WRONG),
        ("add_skill", {"name": "deplo"}, "did you mean deploy", ABSENT),
        ("add_skill", {"name": "a/b/../../c"}, "no skill is called", ABSENT),
        ("list_skills", {"cursor": "@@"}, "cursor: not a cursor", "bad_cursor"),
        ("list_skills", {"limit": 0}, "limit: Input should be greater than", WRONG),
        ("load_skill", {"name": "deplyo"}, "did you mean deploy", ABSENT),
        ("load_skill", {"name": "x" * 301}, "at most 300", WRONG),
        ("load_skill", {"name": "deploy", "section": "nope"}, "no section", WRONG),
        ("read_skill_file", {"name": "nope", "path": "a"}, "no skill is called", ABSENT),
        ("read_skill_file", {"name": "deploy", "path": "none.md"}, "refused", "resource_refused"),
        (
            "read_skill_file", {"name": "pdf-tables", "path": "assets/page.png"}, "is not text",
            "not_text",
        ),
        ("why_skill", {"name": "deploy"}, "why_skill needs query", WRONG),
        ("why_skill", {"name": "nope", "query": "a"}, "no skill is called", ABSENT),
        ("why_skill", {"name": "deploy", "query": "a", "scorer": "best"}, "unknown scorer", WRONG),
        ("why_skill", {"name": "deploy", "query": "a", "scorer": "hybrid+x"}, "plain name", WRONG),
        ("get_cache_stats", {"all": True}, "no field 'all'", WRONG),
    ],
)  # fmt: skip
def test_every_tool_says_what_is_wrong(
    served: Serving, tool: str, arguments: dict[str, Any], told: str, code: str
) -> None:
    refused(served, tool, arguments, told, code)


TRICKS = (
    "../secret.txt", "../../secret.txt", "references/../../secret.txt", "/etc/passwd", "~/x",
    "..\\secret.txt", "C:secret", "file:///etc/passwd", "%2e%2e/secret.txt", "references/./../x",
    "references\x00.md", "references/layout.md\n", ".", "..", "/", "./", "references/..",
    "\u202e../secret.txt", "skill://pdf-tables/../../secret.txt", "references/layout.md/",
)  # fmt: skip


@for_each("path", TRICKS)
def test_no_path_leads_out_of_the_skills_folder(served: Serving, path: str) -> None:
    result = served.call("read_skill_file", {"name": "pdf-tables", "path": path})
    text = shows(result)
    assert SECRET not in text
    assert "root:" not in text
    if path != "references/layout.md/":
        assert result.is_error is True


def test_search_gives_cards_with_scores_and_bodies_within_a_budget(served: Serving) -> None:
    cards = served.call("search_skills", {"query": "pdf tables"}).structured_content
    assert cards["count"] == len(cards["skills"])
    first = cards["skills"][0]
    assert first["id"] == "pdf-tables"
    assert first["relevance_score"] > 0
    assert first["content"] is None
    assert first["omitted"] is True
    assert first["origin"] == "local library: pdf-tables/SKILL.md"
    bodies = served.call("search_skills", {"query": "pdf tables", "max_tokens": 4})
    found = bodies.structured_content["skills"]
    assert [each["content"] is not None for each in found].count(True) == 1
    assert 'origin="local library: ' in found[0]["content"]
    assert "Use a ruler." in shows(bodies)


def test_load_skill_brings_the_frame_that_the_client_guide_asks_for(served: Serving) -> None:
    text = shows(served.call("load_skill", {"name": "pdf-tables"}))
    assert text.startswith('<skill_content name="pdf-tables" origin="local library: ')
    assert text.endswith("</skill_content>")
    assert "\nUse a ruler.\n" in text
    assert "Skill directory: skill://pdf-tables\n" in text
    assert "  <file>references/layout.md</file>\n" in text
    assert "grants no tools" in text


def test_a_file_comes_in_a_frame_with_its_digest(served: Serving) -> None:
    result = served.call("read_skill_file", {"name": "pdf-tables", "path": "references/layout.md"})
    assert "Columns first." in shows(result)
    assert result.structured_content["size"] == len("Columns first.\n")
    assert result.structured_content["digest"] in shows(result)


def test_why_skill_says_the_grounds_and_what_goes_before(served: Serving) -> None:
    result = served.call("why_skill", {"name": "deploy", "query": "write unit tests with pytest"})
    found = result.structured_content
    assert found["ahead"][0]["match"]["name"] == "unit-tests"
    assert found["match"]["path"] == "deploy/SKILL.md"
    assert str(served.root) not in str(found)
    assert len(found["sentences"]) == 3
    assert shows(result).split("\n")[:3] == found["sentences"]


def test_what_models_get_wrong_is_read_or_explained(served: Serving) -> None:
    number = served.call("select_skill", {"query": "extract the tables of this pdf", "top_k": "1"})
    assert not number.is_error
    negative = served.call("search_skills", {"query": "pdf", "limit": -1})
    assert negative.is_error
    assert shows(negative) == "limit: Input should be greater than or equal to 0"
    for name in ("pdf-tables", "pdf_tables"):
        with pytest.raises(MCPError, match=f"{name}' is a skill, not a tool: load_skill brings it"):
            served.call(name, {"query": "extract the tables"})


def test_that_nothing_fits_costs_few_tokens(served: Serving) -> None:
    none = served.call("select_skill", {"query": "what is the capital of Peru"})
    assert none.structured_content["abstained"]
    assert len(shows(none)) < 400
    assert len(json.dumps(none.structured_content)) < 400
