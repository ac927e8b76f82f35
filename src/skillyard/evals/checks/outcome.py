"""Checks of an answer that need no judge: texts, patterns and scripts.

Each outcome has evidence, whether the check passes or fails.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from skillyard.base.errors import InvalidInput, ScriptRefused
from skillyard.base.extras import install_command
from skillyard.base.text import clean_line, shorten
from skillyard.engine.context.scripts import own_environment, run_command
from skillyard.evals.cases.input_files import InputFile

CheckKind = Literal["contains", "not_contains", "regex", "not_regex", "script"]
"""``contains`` and ``not_contains`` respect case; ``regex`` is searched for, with RE2's syntax."""
ANSWER_FILE = "answer.txt"
"""The answer, in the folder in which a script runs. It is its standard input too."""
SCRIPT_SECONDS = 30.0
SCRIPT_OUTPUT_BYTES = 10_000
_LABEL_CHARS = 100
_AROUND = 40
_EXCERPT_CHARS = 160
_PYTHON = ("python", "python3")


@dataclass(frozen=True, slots=True)
class Check:
    """One statement about an answer that a program can decide."""

    kind: CheckKind
    value: str
    """The text, the pattern, or the command."""
    files: tuple[InputFile, ...] = ()
    """For a script: the files that its command names."""

    @property
    def label(self) -> str:
        """The check on one line, for results and reports."""
        value = self.value if self.kind == "script" else json.dumps(self.value)
        return f"{self.kind}: {clean_line(shorten(value, _LABEL_CHARS))}"

    @property
    def fault(self) -> str:
        """What is wrong with the pattern or command; empty if nothing is.

        Nothing is where a library is not installed: a run names the extra that is missing.
        """
        try:
            if self.kind.endswith("regex"):
                compile_pattern(self.value)
            elif self.kind == "script" and not shlex.split(self.value):
                return "is empty"
        except ImportError:
            return ""
        except ValueError as error:  # InvalidInput is one
            return f"is wrong: {error}"
        return ""


@lru_cache(256)
def compile_pattern(pattern: str) -> Any:
    """Return the pattern compiled by RE2, which takes time linear in the answer.

    Python's own engine can take exponential time, and a pattern may come with a downloaded skill.
    Raises InvalidInput, and ImportError without the library.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidInput(f"not a pattern of RE2: {text}") from None


class CheckOutcome(NamedTuple):
    """Whether one check passed on one answer, and what shows it."""

    check: Check
    passed: bool | None
    """None: a script that was not run, because scripts are not allowed."""
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as skill-creator's ``grading.json`` has it, with its kind."""
        return {
            "kind": self.check.kind,
            "text": self.check.label,
            "passed": self.passed,
            "evidence": self.evidence,
        }


def run_checks(
    checks: Sequence[Check],
    answer: str,
    files: Sequence[InputFile] = (),
    *,
    allow_scripts: bool = False,
) -> tuple[CheckOutcome, ...]:
    """Return the outcome of each check. Raises InvalidInput where the extra ``eval`` is missing."""
    outcomes = []
    for check in checks:
        if check.kind != "script":
            outcome = _text_outcome(check, answer)
        elif allow_scripts:
            outcome = _script_outcome(check, answer, files)
        else:
            outcome = CheckOutcome(check, None, "not run: give --allow-scripts")
        outcomes.append(outcome)
    return tuple(outcomes)


def require_library(checks: Sequence[Check]) -> None:
    """Raise InvalidInput where a check needs RE2, and it is not installed."""
    if any(check.kind.endswith("regex") for check in checks) and find_spec("re2") is None:
        raise InvalidInput(f"the check regex needs re2: {install_command('eval')}")


def _text_outcome(check: Check, answer: str) -> CheckOutcome:
    """Search for a text or a pattern, which must be in the answer or must not."""
    if check.kind.endswith("regex"):
        match = compile_pattern(check.value).search(answer)
        place, absent = match.span() if match else None, "no match in the answer"
    else:
        at = answer.find(check.value)
        place, absent = (at, at + len(check.value)) if at >= 0 else None, "not in the answer"
    evidence = _excerpt(answer, *place) if place else f"{absent}: {_beginning(answer)}"
    return CheckOutcome(check, (place is None) == check.kind.startswith("not_"), evidence)


def _script_outcome(check: Check, answer: str, files: Sequence[InputFile]) -> CheckOutcome:
    """Run a command in a temporary folder with the files of the case: exit code 0 passes.

    The command is split without a shell. ``python`` is the interpreter that runs this program.
    """
    command = shlex.split(check.value)
    if command[0] in _PYTHON:
        command[0] = sys.executable
    with tempfile.TemporaryDirectory(prefix="skillyard-") as folder:
        answer_file = InputFile(ANSWER_FILE, answer.encode("utf-8", "replace"))
        for file in (*files, *check.files, answer_file):
            path = os.path.join(folder, *file.name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as output:
                output.write(file.data)
        with tempfile.TemporaryDirectory(prefix="skillyard-") as home:
            environment = own_environment(home)
            try:
                result = run_command(
                    command, folder, environment, answer, SCRIPT_SECONDS, SCRIPT_OUTPUT_BYTES
                )
            except (InvalidInput, ScriptRefused) as error:
                return CheckOutcome(check, False, str(error))
    if result.timed_out:
        return CheckOutcome(check, False, f"ended after {SCRIPT_SECONDS:g} s")
    printed = _beginning(f"{result.stdout}\n{result.stderr}".strip())
    return CheckOutcome(
        check, result.exit_code == 0, f"exit code {result.exit_code}: {printed}".rstrip(": ")
    )


def _excerpt(answer: str, start: int, end: int) -> str:
    """Return the place in the answer, with the text around it."""
    low, high = max(0, start - _AROUND), min(len(answer), end + _AROUND)
    before, after = "…" if low else "", "…" if high < len(answer) else ""
    return f"{before}{_beginning(answer[low:high])}{after}"


def _beginning(text: str) -> str:
    return clean_line(shorten(" ".join(text.split()), _EXCERPT_CHARS))
