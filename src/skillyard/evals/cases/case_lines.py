"""Case files of skillyard's own with one JSON object a line, each with an id of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from skillyard.base.invisible import find_hidden
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.parser import json_lines
from skillyard.evals.cases.records import Notes, Record, prompt_key

Case = TypeVar("Case")

ID_CHARS = 200
"""Maximum length of an id, which occurs in results, reports and file names."""


class Identities:
    """The ids and prompts of the files read so far, with where each stood first."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], str] = {}

    def check(self, record: Record, key: str, prompt: str = "") -> None:
        """Note an id that is unfit or was taken before, and a prompt that occurred before."""
        if len(key) > ID_CHARS:
            record.wrong("id", f"is longer than {ID_CHARS} characters", "shorten it", key)
        elif find_hidden(key) is not None or "\n" in key or "\t" in key:
            record.wrong("id", "holds a character that no reader sees", "use visible ones", key)
        elif key and (first := self._earlier_place(record, "id", key)):
            message = f"the id is taken (first at {first})"
            hint = "give each case an id of its own"
            record.notes.error("case_duplicate_id", record.line_of("id"), message, hint, key)
        if prompt and (first := self._earlier_place(record, "prompt", prompt_key(prompt))):
            record.notes.warning(
                "case_duplicate_prompt",
                record.line_of("user_prompt"),
                f"the prompt occurs twice (first at {first})",
                "remove one: it would weigh double",
                prompt,
            )

    def _earlier_place(self, record: Record, field: str, value: str) -> str | None:
        here = f"{record.notes.path}:{record.line}"
        first = self._places.setdefault((field, value), here)
        return first if first != here else None


def read_case_lines(
    files: Iterable[SourceFile], notes: Notes, parse: Callable[[Record], Case]
) -> list[Case]:
    """Return the cases of files with one case a line.

    ``parse`` notes the errors of a record; a case with an error is left out.
    """
    cases: list[Case] = []
    for file in files:
        own = notes.of_file(file.path)
        for record in json_lines(file.text, own):
            before = own.errors
            case = parse(record)
            if own.errors == before:
                cases.append(case)
    return cases
