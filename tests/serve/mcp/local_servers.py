"""Real servers for tests: over HTTP in a thread, over stdio as a process; the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Request, RequestParams, Result, TextContent
from pydantic import ConfigDict

from skillyard.serve.mcp.http_app import MCP_PATH as PATH
from skillyard.serve.mcp.server import SkillServer
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from tests.parity.trees import write_tree
from tests.serve.http.local_server import Raw, raw, running, until
from tests.serve.http.local_server import options_of as http_options
from tests.shared_data import PACKAGES
from tests.worked_examples.making import document

__all__ = [
    "LIBRARY", "PATIENCE_S", "Serving", "ask", "called", "connected", "document", "eventually",
    "in_process", "options_of", "over_stdio", "post", "raw", "run", "serving", "shows", "until",
    "write_tree",
]  # fmt: skip

T = TypeVar("T")
PATIENCE_S = 30.0
"""After so long a test gives up; nothing here takes a second."""
ERAS = ("2026-07-28", "legacy")

LIBRARY: dict[str, str | bytes] = {
    "pdf-tables/SKILL.md": document("pdf-tables", "Extract tables from PDF files.", "Use a ruler."),
    "pdf-tables/references/layout.md": "Columns first.\n",
    "pdf-tables/scripts/cut.py": "print('cut')\n",
    "pdf-tables/assets/page.png": b"\x89PNG\x00\xff\xfe",
    "deploy/SKILL.md": document("deploy", "Deploy the app to production.", "Ship it."),
    "unit-tests/SKILL.md": document("unit-tests", "Write unit tests with pytest.", "Arrange, act."),
}
SECRET = "the-secret-beyond-the-root"


def run(work: Awaitable[T]) -> T:
    """Return what a coroutine returns; a hang is a failure."""

    async def bounded() -> T:
        async with asyncio.timeout(PATIENCE_S):
            return await work

    return asyncio.run(bounded())


def options_of(root: Path, **changes: Any) -> ServiceOptions:
    return http_options(root, **{"local_only": True, "tools": "all", **changes})


class Serving(NamedTuple):
    url: str
    port: int
    context: AppContext
    root: Path
    lines: Callable[[], list[dict[str, Any]]]
    """What was logged so far."""

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> CallToolResult:
        """ToolCall one tool through the SDK's client."""

        async def once(client: Client) -> CallToolResult:
            return await called(client, tool, arguments)

        return self.asked(once)

    def asked(self, work: Callable[[Client], Awaitable[T]], era: str = "auto") -> T:
        """Return what ``work`` makes with a client; an error of the server as it was raised."""

        async def once() -> T | MCPError:
            async with connected(self.url, era) as client:
                try:
                    return await work(client)
                except MCPError as error:
                    return error

        found = run(once())
        if isinstance(found, MCPError):
            raise found
        return found


@contextmanager
def serving(
    root: Path, files: Mapping[str, str | bytes] | None = None, **changes: Any
) -> Iterator[Serving]:
    """Serve a library over HTTP until the context ends; every thread has ended then."""
    if files is not None or not root.exists():
        write_tree(root, LIBRARY if files is None else files)
        (root.parent / "secret.txt").write_text(SECRET, encoding="utf-8")
    with running(root, routes=(), **{"local_only": True, "tools": "all", **changes}) as server:
        url = f"{server.base}{PATH}"
        yield Serving(url, server.port, server.context, root, server.lines)


@asynccontextmanager
async def in_process(root: Path, **changes: Any) -> AsyncIterator[tuple[Client, SkillServer]]:
    """Give a client that talks to a server in this process."""
    context = AppContext(options_of(root, **changes), (), Log("none"))
    server = SkillServer(context)
    try:
        async with Client(server, cache=None) as client:
            yield client, server
    finally:
        await context.close()


def over_stdio(root: Path, *, code: str = "") -> StdioServerParameters:
    """Return how the SDK's client starts our server as a process of its own."""
    program = code or (
        "import sys; from skillyard.serve.mcp.stdio import serve_stdio;"
        " from skillyard.serve.runtime.options import ServiceOptions;"
        " from skillyard.install.sources.settings import Settings;"
        " serve_stdio(ServiceOptions(roots=(sys.argv[1],), local_only=True, log_format='none',"
        " tools='all', settings=Settings(enabled=(), shipped_registry=False)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "PYTHONWARNINGS": "error"}
    return StdioServerParameters(
        command=sys.executable, args=["-c", program, str(root)], env=environment
    )


@asynccontextmanager
async def connected(where: Any, era: str = "auto", **more: Any) -> AsyncIterator[Client]:
    """Give a client that keeps no answers, so that each call reaches the server."""
    async with Client(where, mode=era, cache=None, **more) as client:
        yield client


async def called(
    client: Client, tool: str, arguments: Mapping[str, Any] | None = None
) -> CallToolResult:
    return await client.call_tool(tool, dict(arguments or {}))


def shows(result: CallToolResult) -> str:
    """Return the text of a result."""
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


class _Params(RequestParams):
    model_config = ConfigDict(extra="allow")


class _Request(Request[_Params, str]):
    method: str
    params: _Params


class _Result(Result):
    model_config = ConfigDict(extra="allow")


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """Return the members of the result of a method of the extension. Raises MCPError."""
    request = _Request(method=method, params=_Params(**params))
    found = await client.session.send_request(request, _Result)
    return dict(found.model_extra or {})


async def eventually(true: Callable[[], Awaitable[bool]], within_s: float = PATIENCE_S) -> float:
    """Ask until it is true, giving way to others; return how long it took."""
    start = time.monotonic()
    while not await true():
        assert time.monotonic() - start < within_s, "it did not happen in time"
        await asyncio.sleep(0)
    return time.monotonic() - start


def post(port: int, body: bytes, *headers: str, host: str = "127.0.0.1") -> Raw:
    """Send one body to the server as it is."""
    given = headers or (
        "Content-Type: application/json", "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
    )  # fmt: skip
    head = "\r\n".join([f"POST {PATH} HTTP/1.1", f"Host: {host}", "Connection: close", *given])
    return raw(port, head.encode("latin-1") + b"\r\n\r\n" + body)
