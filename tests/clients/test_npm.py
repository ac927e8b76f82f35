"""MCP Inspector and ``npx skills``, with the Node that they need, over both libraries."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import PATIENCE_S, Served
from tests.clients.libraries import files_below
from tests.requirements import requirement

pytestmark = pytest.mark.slow


def node(served: Served, cwd: Path, program: str, *arguments: str) -> str:
    """Run a program of npm; return its standard output. A failure shows all that it printed."""
    modules = Path(os.environ["SKILLYARD_CLIENTS_NPM"])
    bin_folder = modules / ".bin"
    environment = {
        **served.environment,
        "PATH": f"{bin_folder}{os.pathsep}{served.environment['PATH']}",
        "CI": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        [bin_folder / "node", modules / program, *arguments],
        cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-4_000:]}\n{done.stderr[-4_000:]}"
    return done.stdout


INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def inspected(served: Served, cwd: Path, *arguments: str) -> str:
    """Ask over HTTP through the Inspector's command line."""
    url = f"{served.url}/mcp"
    given = ("--transport", "http", "--protocol-era", "modern", *arguments)
    return node(served, cwd, INSPECTOR, "--cli", url, *given)


@requirement("client:fastmcp")
def test_the_inspector_verifies_every_skill(served: Served, tmp_path: Path) -> None:
    told = inspected(
        served, tmp_path, "--method", "skills/list", "--verify", "--require-digests",
        "--skill-catalog-max-skills", "1000",
    )  # fmt: skip
    reports = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    uris = sorted(report["uri"] for report in reports if "uri" in report)
    assert uris == sorted(f"skill://{name}/SKILL.md" for name in served.library.names)


def test_the_inspector_finds_no_fault_with_the_tools(served: Served, tmp_path: Path) -> None:
    told = inspected(served, tmp_path, "--method", "tools/list", "--strict", "--format", "json")
    assert "load_skill" in told
    name = served.library.largest
    command = ("--cli", *served.stdio, "--method", "tools/call", "--tool-name", "load_skill")
    assert name in node(served, tmp_path, INSPECTOR, *command, "--tool-arg", f"name={name}")


@requirement("client:npx-skills")
def test_npx_skills_brings_every_file_byte_for_byte(served: Served, tmp_path: Path) -> None:
    where = ("--agent", "claude-code", "--yes", "--copy")
    node(served, tmp_path, "skills/bin/cli.mjs", "add", served.url, "--skill", "*", *where)
    installed = tmp_path / ".claude" / "skills"
    assert sorted(each.name for each in installed.iterdir()) == sorted(served.library.folders)
    for name in served.library.folders:
        assert files_below(installed / name) == served.library.files(name), name
