"""The services of an installed wheel: every route, MCP both ways, and a node of a store."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from tests.installed.conftest import Answer, Installed, ask
from tests.requirements import requirement

NAME = "csv-cleaning"
GET = {
    "/search": f"/search?q={quote('clean csv files')}&limit=2",
    "/skill/{name}": f"/skill/{NAME}",
    "/skills/{source}/{id}": f"/skills/local/{NAME}",
    "/rank": "/rank?q=clean+csv",
    "/why": f"/why?name={NAME}&q=clean+csv",
    "/health": "/health",
    "/metrics": "/metrics",
    "/openapi.json": "/openapi.json",
    "/.well-known/agent-skills/index.json": "/.well-known/agent-skills/index.json",
    "/.well-known/agent-skills/{name}/SKILL.md": f"/.well-known/agent-skills/{NAME}/SKILL.md",
    "/.well-known/agent-skills/{name}.zip": f"/.well-known/agent-skills/{NAME}.zip",
    "/docs": "/docs",
    "/": "/?q=clean+csv",
    "/page/skills/{source}/{id}": f"/page/skills/local/{NAME}?q=csv",
}
POST = {
    "/search": {"query": "clean csv files"},
    "/evaluate": {"text": "terraform", "files": ["main.tf"]},
    "/select": {"text": "clean this csv file"},
    "/feedback": {"name": NAME, "right": True, "request": "clean this csv file"},
}
PAGES = ("/", "/docs", "/page/skills/{source}/{id}")

# Run in the installed environment: the SDK's client there, against the server there.
CLIENT = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def work(where):
    async with Client(where) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        prompts = sorted(prompt.name for prompt in (await client.list_prompts()).prompts)
        answers = {}
        for name, arguments in json.loads(sys.argv[2]).items():
            result = await client.call_tool(name, arguments)
            answers[name] = [bool(result.is_error), result.content[0].text]
        print(json.dumps({"tools": tools, "prompts": prompts, "answers": answers}))

where = sys.argv[1]
if not where.startswith("http"):
    command, *arguments = json.loads(where)
    where = StdioServerParameters(command=command, args=arguments)
asyncio.run(work(where))
"""


def get(url: str, path: str) -> Answer:
    return ask(url + GET[path], Accept="text/html" if path in PAGES else "*/*")


@requirement("packages:every-route")
def test_every_route_answers(complete: Installed) -> None:
    with complete.served("examples/skills", "--local-only", "--feedback") as url:
        described = json.loads(ask(f"{url}/openapi.json").body)["paths"]
        routes = {(method, path) for path, each in described.items() for method in each}
        assert routes == {*(("get", path) for path in GET), *(("post", path) for path in POST)}
        answers = {path: get(url, path) for path in GET}
        assert {path: each for path, each in answers.items() if each.status != 200} == {}
        assert "<form" in answers["/"].body
        assert f"name: {NAME}" in answers["/.well-known/agent-skills/{name}/SKILL.md"].body
        assert answers["/health"].body.count('"version":"') == 1
        posted = {path: ask(url + path, body) for path, body in POST.items()}
        assert {path: each for path, each in posted.items() if each.status != 200} == {}
        assert NAME in posted["/select"].body
        loaded = re.findall(r'(?:href|src)="(/static/[^"]+)"', answers["/docs"].body)
        assert len(loaded) == 3  # an icon, a style sheet, a script
        assert [path for path in loaded if ask(url + path).status != 200] == []
        listed = json.loads(answers["/.well-known/agent-skills/index.json"].body)["skills"]
        index = url + GET["/.well-known/agent-skills/index.json"]
        failed = [each for each in listed if ask(urljoin(index, each["url"])).status != 200]
        assert listed
        assert failed == []


@requirement("packages:every-route")
def test_a_search_asks_the_bundled_registry_and_the_remotes(complete: Installed) -> None:
    with (
        complete.remotes() as settings,
        complete.served("examples/skills", "--remote", **settings) as url,
    ):
        answer = ask(f"{url}/search?q=fill+in+pdf+forms&limit=20&include_content=false")
    found = {(each["source"], each["id"]) for each in json.loads(answer.body)["skills"]}
    assert {("anthropics/skills", "pdf"), ("local", "pdf-form-filling")} <= found


@requirement("packages:every-route")
def test_mcp_answers_over_stdio_and_over_http(complete: Installed) -> None:
    def spoken(where: str) -> dict[str, Any]:
        calls = {"load_skill": {"name": NAME}, "search_skills": {"query": "clean csv files"}}
        done = complete.run("python", "-c", CLIENT, where, json.dumps(calls))
        assert done.code == 0, done.err
        answer: dict[str, Any] = json.loads(done.out)
        for failed, text in answer.pop("answers").values():
            assert (failed, NAME in text) == (False, True)
        return answer

    command = [str(complete.python.parent / "skillyard"), "serve", "--mcp", "stdio"]
    local = spoken(json.dumps([*command, "examples/skills", "--local-only"]))
    assert {"load_skill", "search_skills", "skill_evaluate"} <= set(local["tools"])
    assert NAME in local["prompts"]
    with complete.served("examples/skills", "--local-only") as url:
        assert spoken(f"{url}/mcp") == local
    with complete.served("--mcp", "http", "examples/skills", "--local-only") as url:
        assert spoken(f"{url}/mcp") == local


@requirement("packages:every-route")
def test_a_node_follows_a_store(complete: Installed) -> None:
    store = ("--store", "sqlite:///shared.db")
    publish = ("skillyard", "store", "publish", *store, "--tenant", "acme")
    assert complete.run("skillyard", "store", "init", *store).code == 0
    assert complete.run(*publish, f"examples/skills/{NAME}").code == 0
    with complete.served(*store, "--state-dir", "follower", "--local-only") as url:
        until(url, f"/skill/{NAME}", 200)
        assert ask(f"{url}/skill/git-bisect").status == 404
        assert complete.run(*publish, "examples/skills/git-bisect").code == 0
        until(url, "/skill/git-bisect", 200)


def until(url: str, path: str, status: int) -> None:
    """Ask until the answer has this status; a node follows within a second."""
    end = time.monotonic() + 60
    while ask(f"{url}{path}").status != status:
        assert time.monotonic() < end, f"{path} never answered {status}"


@requirement("packages:core-alone")
def test_without_its_extra_the_service_names_it(core: Installed) -> None:
    done = core.run("skillyard", "serve", "examples/skills")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'skillyard[serve,remote] @ file://" in done.err


def test_what_is_installed_is_the_wheel_and_not_the_checkout(
    complete: Installed, core: Installed
) -> None:
    show = (
        "import skillyard, skillyard.engine.index.kernel as k; print(skillyard.__file__, k.KERNEL)"
    )
    for place, kernel in ((complete, True), (core, False)):
        file, loaded = place.run("python", "-c", show).out.split(maxsplit=1)
        assert place.python.parents[1] in Path(file).parents
        assert ("abi3" in loaded) == kernel
