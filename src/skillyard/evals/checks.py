"""Checks of an answer that need no judge: texts, patterns and scripts, and their pass rates.

Each outcome has evidence, whether the check passes or fails.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from math import fsum
from statistics import fmean
from typing import Any, Literal, NamedTuple

from skillyard.base.errors import InvalidInput, ResourceRefused, ScriptRefused, SkillError
from skillyard.base.extras import install_command
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.sums import wilson
from skillyard.base.text import clean_line, shorten
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_resource, safe_parts
from skillyard.engine.skill import Skill
from skillyard.evals.judgement.verdicts import PromptId
from skillyard.evals.statistics.intervals import mean_interval
from skillyard.evals.statistics.verdicts import OVERALL, rounded

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
_FILE_LIMITS = DEFAULT_LIMITS._replace(resource_bytes=20_000_000)
_Runs = Mapping[PromptId, Mapping[int, Sequence[bool]]]
"""Prompt -> run -> the outcomes of the checks of one answer."""


class InputFile(NamedTuple):
    """One file that a prompt comes with."""

    name: str
    """Relative, with ``/``, as the case names it."""
    data: bytes

    @property
    def text(self) -> str | None:
        """The content; None where it is no UTF-8 text."""
        try:
            return decode(self.data, self.name)
        except SkillError:
            return None

    def in_prompt(self) -> str:
        """Return the text in a fence; of any other file the name and the size."""
        if self.text is None:
            size = len(self.data)
            return f"The file {self.name} ({size:,} bytes) cannot be shown here; it is no text."
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", self.text)), default=0))
        return f"The file {self.name}:\n\n{fence}\n{self.text}\n{fence}"


def load_file(name: str, folders: Sequence[str]) -> InputFile:
    """Return the file from the first of the folders that has it.

    Only regular files inside a folder are read, no links and no absolute paths. Raises SkillError.
    """
    parts = safe_parts(name)
    for folder in folders:
        if os.path.lexists(os.path.join(folder, *parts)):
            owner = Skill("files", "Files beside cases.", "", path=os.path.join(folder, "SKILL.md"))
            return InputFile("/".join(parts), read_resource(owner, name, _FILE_LIMITS))
    raise ResourceRefused(f"there is no file {name!r}", path=name)


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


def run_checks(
    checks: Sequence[Check], answer: str, files: Sequence[InputFile], allow_scripts: bool
) -> list[dict[str, Any]]:
    """Return the outcome of each check as skill-creator's ``grading.json`` has it, with its kind.

    ``passed`` is None for a script that is not run. Raises InvalidInput where the extra ``eval`` is
    missing.
    """
    outcomes = []
    for check in checks:
        passed, evidence = None, "not run: give --allow-scripts"
        if check.kind != "script":
            passed, evidence = _text_outcome(check, answer)
        elif allow_scripts:
            passed, evidence = _script_outcome(check, answer, files)
        outcomes.append(
            {"kind": check.kind, "text": check.label, "passed": passed, "evidence": evidence}
        )
    return outcomes


def require_library(checks: Sequence[Check]) -> None:
    """Raise InvalidInput where a check needs RE2, and it is not installed."""
    if any(check.kind.endswith("regex") for check in checks) and find_spec("re2") is None:
        raise InvalidInput(f"the check regex needs re2: {install_command('eval')}")


def _text_outcome(check: Check, answer: str) -> tuple[bool | None, str]:
    """Search for a text or a pattern, which must be in the answer or must not."""
    if check.kind.endswith("regex"):
        match = compile_pattern(check.value).search(answer)
        place, absent = match.span() if match else None, "no match in the answer"
    else:
        at = answer.find(check.value)
        place, absent = (at, at + len(check.value)) if at >= 0 else None, "not in the answer"
    evidence = _excerpt(answer, *place) if place else f"{absent}: {_beginning(answer)}"
    return (place is None) == check.kind.startswith("not_"), evidence


def _script_outcome(
    check: Check, answer: str, files: Sequence[InputFile]
) -> tuple[bool | None, str]:
    """Run a command in a temporary folder with the files of the case: exit code 0 passes.

    The command is split without a shell. ``python`` is the interpreter that runs this program.
    """
    from skillyard.engine.context.scripts import own_environment, run_command

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
                return False, str(error)
    if result.timed_out:
        return False, f"ended after {SCRIPT_SECONDS:g} s"
    printed = _beginning(f"{result.stdout}\n{result.stderr}".strip())
    return result.exit_code == 0, f"exit code {result.exit_code}: {printed}".rstrip(": ")


def _excerpt(answer: str, start: int, end: int) -> str:
    """Return the place in the answer, with the text around it."""
    low, high = max(0, start - _AROUND), min(len(answer), end + _AROUND)
    before, after = "…" if low else "", "…" if high < len(answer) else ""
    return f"{before}{_beginning(answer[low:high])}{after}"


def _beginning(text: str) -> str:
    return clean_line(shorten(" ".join(text.split()), _EXCERPT_CHARS))


def add_pass_rates(summary: dict[str, dict[str, Any]], cases: Sequence[Mapping[str, Any]]) -> None:
    """Add ``pass_rate`` and ``pass_rate_differences`` to each skill with checks, and overall."""
    for skill, entry in summary.items():
        own = [case for case in cases if skill in (OVERALL, case.get("skill_name"))]
        outcomes = _outcomes(own)
        if not outcomes:
            continue
        shares = {
            condition: {
                prompt: fmean([sum(passed) / len(passed) for passed in runs.values()])
                for prompt, runs in of_condition.items()
            }
            for condition, of_condition in outcomes.items()
        }
        rates = {
            condition: _rate(of_condition, [*shares[condition].values()])
            for condition, of_condition in outcomes.items()
        }
        differences = {}
        for first, second in dict.fromkeys(
            (each["condition_a"], each["condition_b"]) for each in own
        ):
            one, other = shares.get(first, {}), shares.get(second, {})
            if values := [one[prompt] - other[prompt] for prompt in one if prompt in other]:
                differences[f"{first}/{second}"] = _difference(values)
        entry |= rounded({"pass_rate": rates, "pass_rate_differences": differences})


def _rate(outcomes: _Runs, shares: Sequence[float]) -> dict[str, Any]:
    """Return the checks that ran and passed, and the pass rate with its interval.

    The rate is the mean over prompts of the share of checks that passed. The interval is Wilson's
    with the prompt as the unit, since the checks of one answer depend on each other. A prompt half
    of whose checks pass is half a success.
    """
    low, high = wilson(min(fsum(shares), len(shares)), len(shares))
    single = [passed for runs in outcomes.values() for each in runs.values() for passed in each]
    return {
        "passed": sum(single),
        "total": len(single),
        "pass_rate": fmean(shares),
        "low": low,
        "high": high,
        "prompts": len(shares),
    }


def _difference(values: Sequence[float]) -> dict[str, Any]:
    """Return the difference of the pass rates over the prompts that both conditions have.

    The interval is a t interval over prompts. Where all differences are equal there is none,
    because their spread says nothing about other prompts.
    """
    low, high = mean_interval(values)
    return {"mean": fmean(values), "low": low, "high": high, "prompts": len(values)}


def _outcomes(
    cases: Sequence[Mapping[str, Any]],
) -> dict[str, dict[PromptId, dict[int, list[bool]]]]:
    """Return the outcomes of each answer once; several comparisons may share an answer."""
    outcomes: dict[str, dict[PromptId, dict[int, list[bool]]]] = {}
    for case in cases:
        prompt = (str(case["skill_name"]), int(case["prompt_index"]))
        for condition, checks in case.get("checks", {}).items():
            passed = [each["passed"] for each in checks if each["passed"] is not None]
            if passed:
                runs = outcomes.setdefault(condition, {}).setdefault(prompt, {})
                runs[case["run_index"]] = passed
    return outcomes
