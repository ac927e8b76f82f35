"""MCP as people start it: ``skillyard serve --mcp stdio``, ``--mcp http``, and beside HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters

from tests.serve.http.local_server import running
from tests.serve.mcp.local_servers import LIBRARY, called, connected, post, run, shows, write_tree
from tests.shared_data import PACKAGES

# The SDK leaves the streams of an answer that nobody reads to the garbage collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(PACKAGES),
        "SKILLYARD_CACHE": str(folder / "cache"),
        "SKILLYARD_HTTP_TOKEN": "",
        "XDG_CONFIG_HOME": str(folder / "none"),
    }


async def _whole_way(where: Any) -> None:
    """Evaluate, select, load, read: each once, through the SDK's own client."""
    async with connected(where) as client:
        found = await called(client, "skill_evaluate", {"text": "extract tables from this pdf"})
        assert not found.is_error, shows(found)
        assert found.structured_content is not None
        assert found.structured_content["results"][0]["skillName"] == "pdf-tables"
        selected = await called(client, "select_skill", {"query": "deploy the app to production"})
        assert "Ship it." in shows(selected)
        loaded = await called(client, "load_skill", {"name": "pdf-tables"})
        assert "Use a ruler." in shows(loaded)
        read = await called(
            client, "read_skill_file", {"name": "pdf-tables", "path": "references/layout.md"}
        )
        assert "Columns first." in shows(read)
        refused = await called(client, "read_skill_file", {"name": "deploy", "path": "../x"})
        assert refused.is_error


def test_stdio_end_to_end_as_the_readme_configures_it(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    command = ["-m", "skillyard", "serve", "--mcp", "stdio", str(root), "--local-only", "--quiet"]
    where = StdioServerParameters(command=sys.executable, args=command, env=environment(tmp_path))
    run(_whole_way(where))


@pytest.mark.slow
def test_http_alone_end_to_end(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    command = ["-m", "skillyard", "serve", "--mcp", "http", "--local-only", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, *command, str(root)],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            url = json.loads(process.stderr.readline())["url"]
            run(_whole_way(url))
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_the_http_service_has_it_at_one_path(tmp_path: Path) -> None:
    with running(tmp_path / "skills", LIBRARY, local_only=True) as server:
        run(_whole_way(f"{server.base}/mcp"))
        assert post(server.port, b"{}", host="stranger.example").status == 403
        assert 'route="/mcp"' in server.get("/metrics").text
        assert server.get("/health").json()["status"] == "healthy"


def test_the_token_of_the_service_is_asked_for_there_too(tmp_path: Path) -> None:
    with running(tmp_path / "skills", LIBRARY, local_only=True, token="secret") as server:
        assert post(server.port, b"{}").status == 401
