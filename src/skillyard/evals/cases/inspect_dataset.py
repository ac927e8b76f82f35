"""Reader of inspect_ai datasets: one sample a line, with ``input``, ``target`` and ``metadata``."""

from __future__ import annotations

import json
from collections import Counter
from string import ascii_uppercase
from typing import Any

from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.foreign_file import ForeignFile
from skillyard.evals.cases.parser import json_lines
from skillyard.evals.cases.records import Notes, Record, plain
from skillyard.evals.cases.skill_cases import Owner, SkillCases, SkillPrompt

__all__ = ["is_inspect_dataset", "read_inspect_dataset"]

_FIRES = ("should_fire", "should_trigger", "should_activate")
_READ = ("input", "target", "id", "metadata", "choices")


def is_inspect_dataset(text: str) -> bool:
    """True where the first line that is JSON is a sample of inspect_ai."""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                sample = json.loads(line)
            except (ValueError, RecursionError):
                return False
            return isinstance(sample, dict) and "input" in sample and "user_prompt" not in sample
    return False


def read_inspect_dataset(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the samples by skill: that of the folder, or ``metadata.skill``.

    ``target`` is the expected answer. The last message of the user is the prompt; others are named
    in a warning, and so are sandboxes, set-up scripts and files, which are not used.
    """
    foreign = ForeignFile(file, owner, notes)
    for number, record in enumerate(json_lines(file.text, notes), 1):
        metadata = plain(record.raw("metadata"))
        metadata = metadata if isinstance(metadata, dict) else {}
        text = _input(record, foreign.unread)
        no_text = "write input as a text, or with a message of the user"
        skill = foreign.skill_of(record, metadata, text, "metadata.skill", no_text)
        if skill:
            foreign.unread.update(name for name in record.fields if name not in _READ)
            foreign.add(record, skill, _prompt(record, number, text, metadata))
    foreign.warn_unread("not read", "write what matters into input or target")
    return foreign.skill_cases()


def _input(record: Record, unread: Counter[str]) -> str:
    """Return the text of the input, which is a text or a list of chat messages."""
    value: Any = plain(record.raw("input"))
    if isinstance(value, list):
        messages = [each for each in value if isinstance(each, dict)]
        user_messages = [each for each in messages if each.get("role") == "user"]
        unread.update({"earlier messages": len(messages) - 1} if len(messages) > 1 else {})
        value = user_messages[-1].get("content") if user_messages else ""
    if isinstance(value, list):
        parts = [each for each in value if isinstance(each, dict)]
        others = sum("text" not in each for each in parts)
        unread.update({"parts that are no text": others} if others else {})
        value = "\n".join(str(each["text"]) for each in parts if "text" in each)
    text = value.strip() if isinstance(value, str) else ""
    choices = record.texts("choices")
    listed = [
        f"{letter}) {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)
    ]
    return "\n".join([text, *listed]) if text else ""


def _prompt(record: Record, number: int, text: str, metadata: dict[str, Any]) -> SkillPrompt:
    target = plain(record.raw("target"))
    targets = [str(each) for each in target] if isinstance(target, list) else [target]
    fires = next((metadata[name] for name in _FIRES if isinstance(metadata.get(name), bool)), None)
    key = record.raw("id")
    is_id = isinstance(key, str | int) and not isinstance(key, bool) and str(key).strip()
    return SkillPrompt(
        str(key).strip() if is_id else str(number),
        text,
        fires,
        " or ".join(each for each in targets if isinstance(each, str) and each.strip()),
        line=record.line,
    )
