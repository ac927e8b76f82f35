"""Activation cases (``*.jsonl``): requests, each with the skills that it should activate."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from skillyard.catalog import Catalog
from skillyard.evals.cases.dataset import Dataset, read_json_cases
from skillyard.evals.cases.identity import Identities, case_id
from skillyard.evals.cases.records import Record
from skillyard.evals.cases.skill_names import check_prompt, known_skills

__all__ = ["ActivationCase", "read_activation"]

_FIELDS = (
    *("id", "user_prompt", "expected_skills", "acceptable_skills", "required_skills"),
    *("should_activate", "category"),
)


@dataclass(frozen=True, slots=True)
class ActivationCase:
    """One request, and what a router should pick for it."""

    id: str
    user_prompt: str
    expected_skills: tuple[str, ...] = ()
    """Any of them is right. Empty exactly where nothing should be picked."""
    acceptable_skills: tuple[str, ...] = ()
    """Neither right nor wrong beside an expected one."""
    required_skills: tuple[str, ...] = ()
    """All of them must be picked; each is also expected."""
    should_activate: bool = True
    category: str = ""
    about: str | None = None
    """For a trigger set: the one skill that the case is about. Only whether that skill is picked
    counts then; what else is picked is neither right nor wrong. None: every pick counts."""
    path: str = ""
    line: int | None = None


def read_activation(
    *places: str | os.PathLike[str], catalog: Catalog | None = None
) -> Dataset[ActivationCase]:
    """Read the ``*.jsonl`` files of folders, or files themselves, as activation cases.

    An id may occur once in all of them. With a catalog, every skill that is named must be in it
    and may not be hidden.
    """
    identities = Identities()
    return read_json_cases(places, lambda record: _case(record, catalog, identities))


def _case(record: Record, catalog: Catalog | None, identities: Identities) -> ActivationCase:
    record.only(_FIELDS)
    key = case_id(record, identities)
    prompt = record.some_text("user_prompt")
    identities.prompt(record, prompt)
    expected, acceptable, required = (
        _names(record, field, catalog)
        for field in ("expected_skills", "acceptable_skills", "required_skills")
    )
    active = record.flag("should_activate") if record.required("should_activate") else None
    _agree(record, active, expected, acceptable, required)
    check_prompt(prompt, expected, record.notes, record.line)
    return ActivationCase(
        key,
        prompt,
        expected,
        acceptable,
        required,
        bool(active),
        record.text("category"),
        None,
        record.notes.path,
        record.line,
    )


def _names(record: Record, field: str, catalog: Catalog | None) -> tuple[str, ...]:
    names = known_skills(catalog, record.texts(field), record, field)
    if len(set(names)) < len(names):
        record.wrong(field, "names a skill twice", "name each once", ", ".join(names))
    return names


def _agree(
    record: Record,
    active: bool | None,
    expected: tuple[str, ...],
    acceptable: tuple[str, ...],
    required: tuple[str, ...],
) -> None:
    """Note fields of a case that contradict each other."""
    if active is True and not expected:
        record.wrong(
            "expected_skills",
            "is empty, yet something should be activated",
            "name the skills of which one must be picked, or write should_activate: false",
        )
    if active is False and (expected or acceptable or required):
        record.wrong(
            "should_activate",
            "is false, yet skills are named",
            "leave the lists of skills empty, or write should_activate: true",
            ", ".join([*expected, *acceptable, *required]),
        )
    _overlap(record, expected, acceptable)
    missing = [name for name in required if name not in expected]
    if missing and active is not False:
        record.wrong(
            "required_skills",
            "names what expected_skills does not",
            "every required skill is expected too",
            ", ".join(missing),
        )


def _overlap(record: Record, expected: Iterable[str], acceptable: Iterable[str]) -> None:
    both = sorted(set(expected) & set(acceptable))
    if both:
        record.wrong(
            "acceptable_skills",
            "names a skill that is expected",
            "name each skill in one of the lists",
            ", ".join(both),
        )
