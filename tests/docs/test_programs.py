"""Every program of ``examples/`` runs, and prints what a reviewer has read.

``SKILLYARD_UPDATE_GOLDEN=1`` rewrites the golden files.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from skillyard_testkit.fake_llm.agent import ToolCall
from skillyard_testkit.fake_llm.apis import Reply
from tests.docs.page_blocks import run_program
from tests.shared_data import REPOSITORY

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = REPOSITORY / "examples"
PROGRAMS = [
    *sorted((EXAMPLES / "programs").glob("*.py")),
    EXAMPLES / "demo.py",
    EXAMPLES / "demo_search.py",
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_program_prints_the_reviewed_output(program: Path, folder: Path) -> None:
    printed = run_program(folder / program.relative_to(REPOSITORY))
    # Programs find the library by their own place; where that is, is not their business to say.
    printed = printed.replace(f"{folder.resolve()}/", "")
    golden = GOLDEN / f"{program.stem}.txt"
    if os.environ.get("SKILLYARD_UPDATE_GOLDEN") == "1":
        golden.write_text(printed, encoding="utf-8")
    assert golden.is_file(), "no golden file; SKILLYARD_UPDATE_GOLDEN=1 writes it"
    assert printed == golden.read_text(encoding="utf-8")


def test_the_agent_loop_chooses_a_skill_runs_a_tool_and_keeps_the_skill(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anthropic", reason="the extra eval has it")
    path = "references/number-and-date-notations.md"
    call = ToolCall("read_skill_file", {"name": "csv-cleaning", "path": path})
    with FakeLlm() as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        fake.faults.add(lambda turn: turn.respond(Reply("", "tool", call=call)), times=1)
        printed = run_program(folder / "examples" / "agent_loop.py")
        sent = [call.body["messages"] for call in fake.log.calls]
    assert printed.startswith("> clean this messy csv export\n")
    first, after_tool, follow_up, thanks = sent
    assert "[skill:csv-cleaning]" in first[0]["content"]
    assert after_tool[0] == follow_up[0] == thanks[0] == first[0]
    assert f"[skill:csv-cleaning/{path}]" in after_tool[-1]["content"][0]["content"]
    assert "csv-cleaning, whose instructions stand above." in follow_up[-1]["content"]
    assert thanks[-1]["content"] == "thanks, that is all"


def test_the_five_programs_of_the_adk_document_are_there() -> None:
    assert {program.stem for program in PROGRAMS} >= {
        *("minimal_loop", "auto_discovery", "policy_filters", "injecting_runner", "workflow")
    }
