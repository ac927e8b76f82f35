"""Checks that ids of cases are unique, and warns of prompts that occur twice."""

from __future__ import annotations

from skillyard.evals.cases.records import Record
from skillyard.text import find_hidden

__all__ = ["Identities", "case_id"]

ID_CHARS = 200
"""Maximum length of an id, which occurs in results, reports and file names."""


class Identities:
    """The ids and prompts of the files read so far, with where each stood first."""

    __slots__ = ("_ids", "_prompts")

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._prompts: dict[str, str] = {}

    def id(self, record: Record, key: str) -> None:
        """Note an id that occurred before."""
        here = _where(record)
        first = self._ids.setdefault(key, here)
        if first != here:
            record.notes.error(
                "case_duplicate_id",
                record.line_of("id"),
                f"the id is taken (first at {first})",
                "give each case an id of its own",
                key,
            )

    def prompt(self, record: Record, prompt: str) -> None:
        """Note a prompt that occurred before: it is counted twice."""
        if not prompt:
            return
        here = _where(record)
        first = self._prompts.setdefault(" ".join(prompt.casefold().split()), here)
        if first != here:
            record.notes.warning(
                "case_duplicate_prompt",
                record.line_of("user_prompt"),
                f"the prompt occurs twice (first at {first})",
                "remove one: it would weigh double",
                prompt,
            )


def case_id(record: Record, identities: Identities) -> str:
    """Return the id of the record, or an empty text. A fault of the id is noted."""
    key = record.some_text("id")
    if len(key) > ID_CHARS:
        record.wrong("id", f"is longer than {ID_CHARS} characters", "shorten it", key)
    elif find_hidden(key) is not None or "\n" in key or "\t" in key:
        record.wrong("id", "holds a character that no reader sees", "use visible ones", key)
    elif key:
        identities.id(record, key)
    return key


def _where(record: Record) -> str:
    return f"{record.notes.path}:{record.line}"
