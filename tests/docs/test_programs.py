"""Every program of ``examples/`` runs, and prints what a reviewer has read.

``SKILLYARD_UPDATE_GOLDEN=1`` rewrites the golden files.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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


def test_the_five_programs_of_the_adk_document_are_there() -> None:
    assert {program.stem for program in PROGRAMS} >= {
        *("minimal_loop", "auto_discovery", "policy_filters", "injecting_runner", "workflow")
    }
