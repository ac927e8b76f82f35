"""The programs of ``examples/adapters`` and the snippets of the guide run, where they can."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.shared_data import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "adapters"
GUIDE = REPOSITORY / "docs" / "guides" / "adapters.md"
FRAMEWORKS = {
    "adk": ("google.adk", "adk_agent.py"),
    "pydantic_ai": ("pydantic_ai", "pydantic_ai_agent.py"),
    "langchain": ("langchain", "langchain_agent.py"),
    "openai_agents": ("agents", "openai_agents_agent.py"),
}
PRINTED = """\
> clean this messy csv export
I was sent: skillyard chose a skill for this message: csv-cleaning (project skill, agentskills, csv- …
I have 4 tools.
> sing me a sea shanty
I was sent: sing me a sea shanty …
I have 4 tools.
"""  # noqa: E501


def ran(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{EXAMPLES}"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments], env=environment, cwd=cwd,
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def framework(request: pytest.FixtureRequest) -> str:
    """The name of an adapter whose framework is installed; a failure where all should be."""
    name: str = request.param
    wanted = FRAMEWORKS[name][0]
    if not _installed(wanted):
        assert os.environ.get("SKILLYARD_ADAPTERS") != "1", f"{wanted} is not installed"
        pytest.skip(f"{wanted} is not installed (make adapters has it)")
    return name


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


@pytest.mark.parametrize("framework", FRAMEWORKS, indirect=True)
def test_the_example_and_the_snippet_of_the_guide_run(framework: str) -> None:
    found = [
        block.text
        for block in blocks(GUIDE.read_text(encoding="utf-8"))
        if block.language == "py" and f"skillyard.hosts.adapters.{framework} " in block.text
    ]
    assert len(found) == 1
    example = FRAMEWORKS[framework][1]
    echo = {"adk": "Echo(model='echo')", "pydantic_ai": "FunctionModel(echo)"}
    program = (
        "import asyncio, inspect\n"
        f"from {example.removesuffix('.py')} import *\n"
        "done = main()\n"
        "if inspect.isawaitable(done): asyncio.run(done)\n"
        f"print('=' * 9)\nmodel = {echo.get(framework, 'Echo()')}\n"
    )
    # One process for both: most of the time goes into importing the framework.
    done = ran("-c", program + found[0], cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    printed, snippet = done.stdout.split("=" * 9 + "\n")
    assert printed == PRINTED
    assert "skillyard chose a skill for this message: csv-cleaning" in snippet


def test_every_adapter_has_an_example_a_snippet_and_an_extra() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        name for _, name in FRAMEWORKS.values()
    }
    guide = GUIDE.read_text(encoding="utf-8")
    extras = set(re.findall(r"pip install '\.\[([a-z-]+)\]'", guide))
    assert extras == {name.replace("_", "-") for name in FRAMEWORKS}
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in project for extra in extras)
