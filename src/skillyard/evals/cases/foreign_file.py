"""What readers of other tools' files share: prompts by skill, and warnings of what is unused."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.records import HALF_CHARACTER, Notes, Record, quote
from skillyard.evals.cases.skill_cases import Owner, SkillCases, SkillPrompt
from skillyard.evals.cases.skill_names import check_prompt, find_skill
from skillyard.evals.fields import Fault

__all__ = ["ForeignFile", "first_text", "skill_name"]

SKILL_FIELDS = ("skill", "skill_name")


def first_text(values: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first of the named values that is a text and not blank, trimmed; else empty."""
    named = (values.get(name) for name in names)
    return next((each.strip() for each in named if isinstance(each, str) and each.strip()), "")


def skill_name(metadata: Mapping[str, Any]) -> str:
    """Return the skill that an entry names; empty where it names none."""
    return next((str(metadata[field]) for field in SKILL_FIELDS if field in metadata), "")


class ForeignFile:
    """One file of another tool while it is read."""

    __slots__ = ("notes", "owner", "path", "prompts", "unread")

    def __init__(self, file: SourceFile, owner: Owner, notes: Notes) -> None:
        self.path = file.path
        self.notes = notes
        self.owner = owner
        self.prompts: dict[str, list[SkillPrompt]] = {}
        """By skill."""
        self.unread: Counter[str] = Counter()
        """Contents that change nothing here, with how often they occur."""

    def leave_out(self, record: Record, why: str, hint: str, found: object = "") -> None:
        """Warn that an entry is not used."""
        what = record.what or "the entry"
        message = f"{what} is left out: {why}"
        self.notes.warning("eval_left_out", record.line, message, hint, found)

    def skill_of(
        self,
        record: Record,
        metadata: Mapping[str, Any],
        text: str,
        where: str,
        no_text: str,
        *,
        named: str = "",
    ) -> str:
        """Return the skill of an entry; empty, with a warning, where it cannot be used.

        ``where`` is the place for the skill's name, and ``no_text`` says how to write the request.
        ``named`` is the skill that the entry is about in whatever file it lies.
        """
        skill = named or self.owner.skill_of(skill_name(metadata))
        if not skill:
            self.leave_out(record, "it names no skill", f"add {where}, or --skill NAME")
            return ""
        if not text:
            self.leave_out(record, "its request cannot be read", no_text)
            return ""
        otherwise = None if named else self.owner.otherwise
        return skill if self.check_skill(record, skill, otherwise) else ""

    def check_skill(self, record: Record, name: str, otherwise: str | None) -> bool:
        """True where an entry of the skill is used; otherwise a warning says that it is left out.

        Where the catalog has no such skill, the entry is about the skill ``otherwise``, if any.
        """
        skill = find_skill(self.owner.catalog, name)
        if not isinstance(skill, Fault) or otherwise not in (None, name):
            return True
        why = f"the skill {skill.message}: {quote(name)}"
        self.leave_out(record, why, skill.hint, name)
        return False

    def add(
        self, record: Record, skill: str, prompt: SkillPrompt, notes: Notes | None = None
    ) -> None:
        """Add the prompt of an entry to those of a skill.

        One with an error among its own ``notes``, that names the skill, or that holds half of a
        character, is left out. In a trigger set a prompt may name the skill, which is a warning.
        """
        own = notes or Notes(self.path)
        if skill:
            check_prompt(prompt.prompt, [skill], own, record.line, severe=prompt.is_answered)
        for field, text in _texts_of(prompt):
            if re.search("[\ud800-\udfff]", text):
                Record({}, record.line, own).wrong(field, *HALF_CHARACTER)
        if own.errors:
            first = next(each for each in own.diagnostics if each.severity == "error")
            self.leave_out(record, first.message, first.hint, first.found)
        else:
            self.notes.diagnostics += own.diagnostics
            self.prompts.setdefault(skill, []).append(prompt)

    def warn_unread(self, what: str, hint: str) -> None:
        """Name what of the file changes nothing here."""
        names = ", ".join(
            f"{name} ({count} times)" if count > 1 else name for name, count in self.unread.items()
        )
        if names:
            self.notes.warning("eval_unread_fields", 1, f"{what}: {names}", hint)

    def skill_cases(self, line: int | None = None) -> list[SkillCases]:
        """Return the cases of each skill; the ids of their prompts are not unique among files.

        ``line`` is where the file names its skill; by default, the first prompt does.
        """
        source = os.path.splitext(os.path.basename(self.path))[0]
        return [
            SkillCases(
                skill, tuple(prompts), path=self.path, line=line or prompts[0].line, source=source
            )
            for skill, prompts in self.prompts.items()
        ]


def _texts_of(prompt: SkillPrompt) -> Iterator[tuple[str, str]]:
    """Yield the texts of a prompt that are sent or shown, each with the name of its field."""
    yield from (("prompt", prompt.prompt), ("id", prompt.id), ("expected", prompt.expected))
    yield from (("assertions", text) for text in prompt.assertions)
    yield from (("files", path) for path in prompt.files)
    yield from (("checks", check.value) for check in prompt.checks)
