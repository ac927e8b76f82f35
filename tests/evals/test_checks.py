"""Checks of answers: what passes, what fails, and the evidence for it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from skillyard.evals.checks import Check, InputFile, run_checks
from tests.tables import for_each

pytest.importorskip("re2")

ANSWER = 'The form is filled.\n\n```json\n{"rows": 3, "name": "Ada"}\n```\n'


def outcome(check: Check, answer: str = ANSWER, *, allow_scripts: bool = False) -> dict[str, Any]:
    (only,) = run_checks([check], answer, (), allow_scripts)
    return only


@for_each(
    ("kind", "value", "passed", "evidence"),
    [
        ("contains", "form is", True, "The form is filled."),
        ("contains", "Form", False, "not in the answer: The form is filled."),
        ("not_contains", "password", True, "not in the answer"),
        ("not_contains", "Ada", False, '"name": "Ada"'),
        ("regex", r'"rows":\s*\d', True, '"rows": 3'),
        ("regex", "^rows", False, "no match in the answer"),
        ("not_regex", "(?i)FORM", False, "The form is filled."),
    ],
)
def test_a_check_says_what_it_saw(kind: Any, value: str, passed: bool, evidence: str) -> None:
    result = outcome(Check(kind, value))
    assert (result["passed"], evidence in result["evidence"]) == (passed, True), result["evidence"]


def test_evidence_is_short_and_safe_to_show() -> None:
    result = outcome(Check("contains", "needle"), "x" * 5_000 + "\x1b[31m needle " + "y" * 5_000)
    assert result["passed"]
    assert "needle" in result["evidence"]
    assert len(result["evidence"]) < 200
    assert "\x1b" not in result["evidence"]


def test_a_pattern_takes_time_linear_in_the_answer() -> None:
    """Python's own engine needs years for this one."""
    assert outcome(Check("regex", "(a+)+$"), "a" * 100_000 + "b")["passed"] is False


def script(text: str, *files: InputFile) -> Check:
    return Check("script", "python check.py", (InputFile("check.py", text.encode()), *files))


def test_a_script_runs_only_when_allowed() -> None:
    check = script("import sys; sys.exit(0)")
    assert outcome(check)["evidence"] == "not run: give --allow-scripts"
    assert outcome(check, allow_scripts=True)["passed"]


def test_a_script_has_the_answer_and_the_files_and_nothing_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    check = script(
        "import os, sys\n"
        "assert sys.stdin.read() == open('answer.txt').read() == 'the answer'\n"
        "assert open('evals/x.bin', 'rb').read() == b'\\x00\\xff'\n"
        "assert 'ANTHROPIC_API_KEY' not in os.environ\n"
        "print('all', 'fine')\n"
    )
    files = [InputFile("evals/x.bin", b"\x00\xff")]
    (result,) = run_checks([check], "the answer", files, True)
    assert (result["passed"], result["evidence"]) == (True, "exit code 0: all fine")


def test_a_failed_script_shows_what_it_printed() -> None:
    result = outcome(script("import sys; sys.exit('two rows are missing')"), allow_scripts=True)
    assert (result["passed"], result["evidence"]) == (False, "exit code 1: two rows are missing")


def test_a_script_is_split_without_a_shell(tmp_path: Path) -> None:
    target = tmp_path / "made"
    command = f"python -c 'print(1)' ; touch {target}"
    outcome(Check("script", command), allow_scripts=True)
    assert not target.exists()


@for_each(
    ("command", "says"),
    [
        ("no-such-program-here", "cannot start no-such-program-here"),
        ("python gone.py", "exit code"),
    ],
)
def test_a_script_that_cannot_run_fails(command: str, says: str) -> None:
    result = outcome(Check("script", command), allow_scripts=True)
    assert result["passed"] is False
    assert says in result["evidence"]


def test_a_script_without_end_is_ended_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillyard.evals.checks.SCRIPT_SECONDS", 1.0)
    text = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    result = outcome(script(text), allow_scripts=True)
    assert (result["passed"], result["evidence"]) == (False, "ended after 1 s")
    assert time.monotonic() - started < 30


def test_a_script_that_prints_without_end_is_ended() -> None:
    result = outcome(script("while True: print('x' * 1000)"), allow_scripts=True)
    assert result["passed"] is False
    assert len(result["evidence"]) < 250


def test_no_folder_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome(script("open('left.txt', 'w').write('x')"), allow_scripts=True)
    assert os.listdir(tmp_path) == []
