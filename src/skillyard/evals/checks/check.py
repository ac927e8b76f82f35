"""A check of an answer, as a case file describes it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import clean_line, shorten
from skillyard.evals.cases.input_files import InputFile
from skillyard.evals.cases.reading import Located, Notes

KINDS = ("contains", "not_contains", "regex", "not_regex", "script")
"""``contains`` and ``not_contains`` respect case; ``regex`` is searched for, with RE2's syntax."""
_LABEL_CHARS = 100


@dataclass(frozen=True, slots=True)
class Check:
    """One statement about an answer that a program can decide."""

    kind: str
    """One of :data:`KINDS`."""
    value: str
    """The text, the pattern, or the command."""
    files: tuple[InputFile, ...] = ()
    """For a script: the files that its command names."""

    @property
    def label(self) -> str:
        """The check on one line, for results and reports."""
        value = self.value if self.kind == "script" else json.dumps(self.value)
        return f"{self.kind}: {clean_line(shorten(value, _LABEL_CHARS))}"


def read_checks(
    entries: Sequence[Mapping[str, Any]], prompt: Located, notes: Notes
) -> tuple[Check, ...]:
    """Return the ``checks`` of a prompt, each a mapping with one field, one of :data:`KINDS`."""
    checks = []
    for number, entry in enumerate(entries):
        kind, value = next(iter(entry.items()), ("", None))
        fault = "" if kind in KINDS and len(entry) == 1 else "must have one field that is a check"
        if not fault and not (isinstance(value, str) and value):
            fault = "is not text"
        fault = fault or find_fault(kind, str(value))
        if fault:
            message = f"checks[{number}]{f'.{kind}' if kind in KINDS else ''} {fault}"
            hint = f"write one check an entry: {', '.join(KINDS)}"
            line = prompt.line("checks", number)
            notes.error("case_bad_check", line, message, hint, ", ".join(map(str, entry)))
        else:
            checks.append(Check(kind, str(value)))
    return tuple(checks)


def find_fault(kind: str, value: str) -> str:
    """Return what is wrong with the pattern or command of a check; empty if nothing is.

    Nothing is found where a library is not installed: a run names the extra that is missing.
    """
    try:
        if kind.endswith("regex"):
            compile_pattern(value)
        elif kind == "script":
            _check_command(value)
    except InvalidInput as error:
        return str(error)
    except ImportError:
        return ""
    return ""


def _check_command(command: str) -> None:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"cannot be split into arguments: {error}") from None
    if not arguments:
        raise InvalidInput("is empty")


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
        raise InvalidInput(f"is not a pattern of RE2: {text}") from None
