"""The server as a process of its own: the SDK's client, hostile lines, sudden ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.mcp.local_servers import (
    ERAS,
    LIBRARY,
    PATIENCE_S,
    ask,
    called,
    connected,
    over_stdio,
    run,
    shows,
    write_tree,
)
from tests.serve.mcp.messages import INITIALIZE, INITIALIZED, MESSAGES, line
from tests.shared_data import PACKAGES, REPOSITORY

PING = {"jsonrpc": "2.0", "id": "last", "method": "ping"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("library") / "skills", LIBRARY)


class Spoken:
    """A process that is spoken to in bare lines."""

    def __init__(self, root: Path, program: str = "") -> None:
        parameters = over_stdio(root, code=program)
        self.process = subprocess.Popen(
            [parameters.command, *parameters.args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=parameters.env,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def say(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(each + b"\n" for each in lines))
        self.stdin.flush()

    def until(self, number: str) -> list[dict[str, Any]]:
        """Return the messages up to the answer with that id."""
        found: list[dict[str, Any]] = []
        while not found or found[-1].get("id") != number:
            text = self.stdout.readline()
            assert text, "the server has ended"
            found.append(json.loads(text))
        return found

    def hello(self) -> None:
        self.say(line(INITIALIZE), line(INITIALIZED))
        self.until("init")

    def end(self) -> tuple[int, bytes]:
        """Close its input; return exit status and what it wrote to standard error."""
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors

    def close(self) -> None:
        """End it in any case."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for stream in (self.stdin, self.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                pass


@pytest.fixture
def spoken(root: Path) -> Iterator[Spoken]:
    found = Spoken(root)
    try:
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("era", [ERAS[0], pytest.param(ERAS[1], marks=pytest.mark.slow)])
def test_the_sdks_client_lists_loads_and_reads(root: Path, era: str) -> None:
    async def work() -> None:
        async with connected(over_stdio(root), era) as client:
            assert len((await client.list_tools()).tools) == 10
            loaded = await called(client, "load_skill", {"name": "deploy"})
            assert f"Skill directory: {root}/deploy" in shows(loaded)
            assert len((await ask(client, "skills/list"))["skills"]) == 3
            assert (await client.list_prompts()).prompts[0].name == "deploy"

    run(work())


SILENT = {
    "a result that nobody asked for", "a cancellation of nothing", "progress for nothing",
    "an id that is a list", "an id that is null",
}  # fmt: skip
"""Messages that no answer is owed to; the SDK reads an id that is none as a notification."""


def test_no_message_ends_the_server_or_shows_a_trace(root: Path, spoken: Spoken) -> None:
    spoken.hello()
    for name, message in MESSAGES.items():
        found = []
        for said in (message, b""):  # the second ping comes after every answer to the first line
            spoken.say(*filter(None, (said, line(PING))))
            found += spoken.until("last")
        text = json.dumps(found)
        assert "Traceback" not in text, name
        assert "site-packages" not in text, name
        assert str(root.parent) not in text, name
        told = [each for each in found if each.get("id") != "last"]
        if name in SILENT:
            assert told == [], name
            continue
        refused = [e for e in told if "error" in e or e.get("result", {}).get("isError")]
        assert refused, name
        assert all(each["jsonrpc"] == "2.0" for each in told), name
    assert spoken.end() == (0, b"")


META = {
    "io.modelcontextprotocol/protocolVersion": ERAS[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {**PING, "method": "tools/call", "params": {"name": "list_skills"}}
CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "last"}}
LISTEN = {**PING, "method": "subscriptions/listen", "params": {"notifications": {}, "_meta": META}}


@pytest.mark.parametrize(
    ("first", "meta"),
    [((INITIALIZE, INITIALIZED, CALL, CANCEL), {}), ((LISTEN,), META)],
    ids=["one is cancelled", "one has no end"],
)
def test_requests_before_the_end_of_the_input_are_answered(
    root: Path, first: Any, meta: Any
) -> None:
    program = f"import skillyard.serve.mcp.stdio as it; it.LAST_S = {10 * PATIENCE_S}"
    spoken = Spoken(root, f"{program}\n{over_stdio(root).args[1]}")
    listing = {**PING, "method": "tools/list", "params": {"_meta": meta}}
    numbers = [*range(18), 0, 0]  # of a careless client
    try:
        spoken.say(*map(line, first), *(line({**listing, "id": number}) for number in numbers))
        output, _ = spoken.process.communicate(timeout=PATIENCE_S)
    finally:
        spoken.close()
    answered = [json.loads(each).get("id") for each in output.splitlines()]
    assert sorted(each for each in answered if type(each) is int) == sorted(numbers)
    assert spoken.process.returncode == 0


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_signal_ends_it_while_its_input_is_open(spoken: Spoken, number: int) -> None:
    spoken.hello()
    spoken.process.send_signal(number)
    assert spoken.process.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_client_that_is_killed_in_a_call_leaves_no_server_behind(root: Path) -> None:
    program = (
        "import asyncio, os, signal, sys\n"
        "from mcp import StdioServerParameters\n"
        "from tests.serve.mcp.local_servers import connected, over_stdio, called\n"
        "from pathlib import Path\n"
        "async def main():\n"
        "    async with connected(over_stdio(Path(sys.argv[1]))) as client:\n"
        "        found = await called(client, 'list_skills')\n"
        "        tasks = [asyncio.create_task(called(client, 'list_skills')) for _ in range(20)]\n"
        "        await asyncio.sleep(0)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    parameters = over_stdio(root, code=program)
    environment = {**(parameters.env or {}), "PYTHONPATH": os.pathsep.join([str(PACKAGES), "."])}
    reading, writing = os.pipe()
    child = subprocess.Popen(
        [parameters.command, *parameters.args],
        env=environment, stdin=subprocess.DEVNULL, stderr=writing, stdout=writing,
        cwd=REPOSITORY,
    )  # fmt: skip
    os.close(writing)
    assert child.wait(PATIENCE_S) == -signal.SIGKILL
    with os.fdopen(reading, "rb") as held:
        # The server holds the other end too: the end of the file says that it has gone as well.
        assert b"Traceback" not in held.read()


def test_the_server_starts_without_what_it_does_not_need_of_the_sdk_and_others() -> None:
    heavy = (
        "mcp.client",
        "mcp.server.mcpserver",
        "httpx2",
        "numpy",
        "rich",
        "skillyard.serve.http",
    )
    program = (
        f"import sys, skillyard.serve.mcp.stdio; assert not {{*{heavy}}} & {{*sys.modules}};"
        "from mcp import Client; import mcp; assert mcp.server.MCPServer and Client is mcp.Client"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
