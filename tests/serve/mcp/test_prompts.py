"""Prompts: one for each skill that a user may call, whatever a model may choose by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from tests.serve.mcp.local_servers import document, in_process, run, write_tree
from tests.tables import for_each

FILES = {
    "plain/SKILL.md": document("plain", "A plain one.", "Do it plainly."),
    "by-hand/SKILL.md": document(
        "by-hand", "d", "By hand.", "disable-model-invocation: true\nargument-hint: '[file]'\n"
    ),
    "not-by-user/SKILL.md": document("not-by-user", "d", "b", "user-invocable: false\n"),
    "a/twin/SKILL.md": document("twin", "One."),
    "b/twin/SKILL.md": document("twin", "Two."),
    "AGENTS.md": "# Rules of the project\n",
}


def asked(root: Path, work: Any) -> Any:
    async def once() -> Any:
        async with in_process(write_tree(root, FILES)) as (client, _):
            return await work(client)

    return run(once())


def test_a_prompt_for_each_skill_that_a_user_may_call(tmp_path: Path) -> None:
    async def work(client: Client) -> list[Any]:
        return (await client.list_prompts()).prompts

    prompts = {prompt.name: prompt for prompt in asked(tmp_path, work)}
    twins = [name for name in prompts if name.startswith("twin-")]
    assert len(twins) == 2
    assert set(prompts) == {"plain", "by-hand", *twins}
    assert prompts["by-hand"].arguments[0].description == "[file]"
    assert prompts["plain"].description == "A plain one."


def test_a_prompt_is_the_framed_skill_and_what_the_user_wrote(tmp_path: Path) -> None:
    async def work(client: Client) -> list[str]:
        found = await client.get_prompt("by-hand", {"arguments": "a.txt\u202e"})
        assert all(message.role == "user" for message in found.messages)
        contents = [message.content for message in found.messages]
        return [each.text for each in contents if isinstance(each, TextContent)]

    skill, said = asked(tmp_path, work)
    assert skill.startswith('<skill_content name="by-hand" origin="local library: ')
    assert "By hand." in skill
    assert said == "a.txt\\u{202e}"


@for_each(
    ("name", "arguments", "told"),
    [
        ("nope", None, "No prompt is called 'nope'"),
        ("not-by-user", None, "No prompt"),
        ("twin", None, "No prompt"),
        ("plain", {"other": "x"}, "one argument"),
        ("plain", {"arguments": "x" * 1_000_000}, "at most 20,000"),
        ("x" * 1_000_000, None, "No prompt"),
    ],
)
def test_what_cannot_be_is_invalid_params(
    tmp_path: Path, name: str, arguments: dict[str, str] | None, told: str
) -> None:
    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
        return caught.value

    error = asked(tmp_path, work)
    assert error.code == -32602
    assert told in error.message
    assert len(error.message) < 2_500
