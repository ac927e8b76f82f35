"""No request leaves the machine unasked: real processes in which a socket beyond loopback fails."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from skillyard_testkit import toml
from tests.hosts.hook.conftest import payload
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY
from tests.shared_data import PACKAGES, REPOSITORY

for _module in ("uvicorn", "starlette", "mcp", "httpx2"):
    pytest.importorskip(_module)

GUARD = """
import ipaddress, os, sys

def _guard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    elif event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
        # Another program could open sockets of its own, unseen.
        program = os.fsdecode(arguments[0])
        host = "localhost" if os.path.realpath(program) == _PYTHON else program
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    try:
        local = host in (None, "", "localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        with open(os.environ["VIOLATIONS"], "a") as file:
            print(event, host, file=file)
        raise ConnectionRefusedError(f"{event} {host}")

_PYTHON = os.path.realpath(sys.executable)
sys.addaudithook(_guard)
"""
REMOTE = ("acme/skills", "example.com")
"""Where a skill may be said to lie."""


class Machine:
    """A user with an empty home, and processes that write down what they would send."""

    def __init__(self, folder: Path) -> None:
        self.skills = write_tree(folder / "skills", LIBRARY)
        self.home = folder / "home"
        self.home.mkdir()
        (folder / "guard").mkdir()
        (folder / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
        self._violations = folder / "violations"
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        self.environment = {
            **kept,
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join([str(folder / "guard"), str(PACKAGES)]),
            "VIOLATIONS": str(self._violations),
        }

    @property
    def violations(self) -> list[str]:
        """What was attempted, and was refused."""
        if not self._violations.exists():
            return []
        return self._violations.read_text(encoding="utf-8").splitlines()

    def run(self, *words: str, data: bytes = b"") -> str:
        done = subprocess.run(
            [sys.executable, *words],
            input=data, capture_output=True, cwd=self.home, env=self.environment, timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout.decode()

    @contextmanager
    def served(self, *options: str) -> Iterator[str]:
        """Give the address of ``skillyard serve``."""
        with subprocess.Popen(
            [sys.executable, "-m", "skillyard", "serve", str(self.skills), "--port", "0", *options],
            stderr=subprocess.PIPE, text=True, cwd=self.home, env=self.environment,
        ) as process:  # fmt: skip
            try:
                assert process.stderr is not None
                url = str(json.loads(process.stderr.readline())["url"])
                while ask(f"{url}/readyz")[0] != 200:
                    pass
                yield url
                process.send_signal(signal.SIGTERM)
                process.stderr.read()
                assert process.wait(30) == 0
            finally:
                process.kill()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def ask(url: str, accept: str = "*/*", body: bytes | None = None) -> tuple[int, str]:
    try:
        with urlopen(Request(url, body, {"Accept": accept}), timeout=60) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")


def addresses(routes: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yield the address of each GET route, for a skill that the library has not."""
    for route in routes:
        if route["method"] != "GET":
            continue
        for source in REMOTE:
            values = {"name": "terraform-plan", "id": "terraform-plan", "source": source}
            path = re.sub(r"{(\w+)}", lambda match: values[match[1]], route["path"])  # noqa: B023
            needs = {"/search": "?q=terraform", "/rank": "?q=terraform", "/": "?q=terraform"}
            yield path + needs.get(route["path"], "")
        if route["path"] == "/skill/{name}":
            yield "/skill/acme/skills/terraform-plan"


def test_no_route_of_a_service_asks_another_machine(machine: Machine) -> None:
    with machine.served() as url:
        routes = json.loads(ask(url)[1])["routes"]
        answers = {
            path: ask(f"{url}{path}", accept)
            for path in addresses(routes)
            for accept in ("*/*", "text/html")
        }
        assert machine.violations == []
        assert {status for status, _ in answers.values()} <= {200, 404, 422}
        found = json.loads(ask(f"{url}/search?q=pdf")[1])
        assert [each["name"] for each in found["sources"]] == ["local"]
        assert {tuple(each["found_by"]) for each in found["skills"]} == {("local",)}
        page = ask(f"{url}/?q=pdf", "text/html")[1]
        assert "No remote source was asked" in page
        status, text = ask(f"{url}/search?q=pdf&source=skills.sh")
        assert (status, "serve --remote" in text) == (422, True)
        for path in ("/skill/acme/skills/pdf", "/skills/acme/skills/pdf", "/skill/nobody"):
            status, text = ask(url + path)
            assert (status, "asks no remote source" in text) == (404, True)
            assert "serve --remote" in text
    assert machine.violations == []


def test_no_tool_of_the_mcp_server_asks_another_machine(machine: Machine) -> None:
    from mcp.client.stdio import StdioServerParameters

    from tests.serve.mcp.local_servers import connected, shows

    command = ["-m", "skillyard", "serve", "--mcp", "stdio", "--tools", "all", "--quiet"]
    where = StdioServerParameters(
        command=sys.executable,
        args=[*command, str(machine.skills)],
        env=machine.environment,
        cwd=machine.home,
    )
    calls: tuple[tuple[str, dict[str, Any], bool], ...] = (
        ("search_skills", {"query": "terraform plan"}, False),
        ("search_skills", {"query": "terraform", "sources": ["github"]}, True),
        ("get_skill", {"source": "acme/skills", "skill_id": "terraform-plan"}, True),
        ("get_skill", {"source": "example.com", "skill_id": "terraform-plan"}, True),
        ("add_skill", {"name": "terraform-plan"}, True),
        ("add_skill", {"name": "acme/skills/terraform-plan"}, True),
        ("select_skill", {"text": "review a terraform plan"}, False),
        ("skill_evaluate", {"text": "main.tf"}, False),
        ("list_skills", {}, False),
        ("load_skill", {"name": "deploy"}, False),
        ("read_skill_file", {"name": "pdf-tables", "path": "references/layout.md"}, False),
        ("why_skill", {"name": "deploy", "query": "ship it"}, False),
        ("get_cache_stats", {}, False),
    )

    async def work() -> None:
        async with connected(where) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {name for name, _, _ in calls}
            for name, arguments, fails in calls:
                result = await client.call_tool(name, arguments)
                assert bool(result.is_error) == fails, (name, shows(result))
                if fails:
                    assert "serve --remote" in shows(result)
            found = shows(await client.call_tool("search_skills", {"query": "pdf"}))
            assert ", from local," in found
            assert "no remote source was asked" in found

    asyncio.run(work())
    assert machine.violations == []


def test_no_command_of_the_library_and_no_hook_asks_another_machine(machine: Machine) -> None:
    assert "docker" in machine.run(str(REPOSITORY / "examples" / "demo.py"))
    skills = str(machine.skills)
    for words in (
        ["list", skills],
        ["select", "extract tables from a pdf", "--root", skills],
        ["rank", "extract tables from a pdf", "--root", skills, "--scope", "user"],
        ["check", skills],
        ["scan", skills],
        ["trust", skills],
    ):
        assert machine.run("-m", "skillyard", *words)
    hook = ["-m", "skillyard", "hook", "claude-code", "--budget-ms", "60000", "--root", skills]
    asked = payload(machine.home, "extract the tables from this pdf file")
    machine.run("-m", "skillyard", "index", "build", "--root", skills, "--scope", "user")
    for more in ([], ["--no-refresh"]):
        answer = machine.run(*hook, *more, data=asked)
    assert "pdf-tables" in answer
    assert machine.violations == []


def test_a_variable_of_another_program_stops_no_service(machine: Machine) -> None:
    machine.environment["WEB_CONCURRENCY"] = "x"
    with machine.served() as url:
        assert ask(f"{url}/health")[0] == 200


def test_a_service_whose_operator_allows_remotes_asks_them(machine: Machine) -> None:
    with machine.served("--remote") as url:
        ask(f"{url}/search?q={quote('terraform plan')}")
    assert any("skills.sh" in each for each in machine.violations)
    seen = len(machine.violations)
    file = machine.home / "skillyard.toml"
    file.write_text(toml({"sources": {"enabled": ["skills.sh"]}}), encoding="utf-8")
    machine.environment["SKILLYARD_CONFIG"] = str(file)
    with machine.served("--remote", "--local-only") as url:
        ask(f"{url}/search?q=terraform")
    assert len(machine.violations) == seen
    with machine.served() as url:
        ask(f"{url}/search?q=terraform")
        assert json.loads(ask(f"{url}/health")[1])["sources"][1]["name"] == "skills.sh"
    assert len(machine.violations) > seen
