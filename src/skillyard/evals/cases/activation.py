"""Activation cases (``*.jsonl``): requests, each with the skills that it should activate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skillyard.base.strict_toml import SomeText
from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.case_lines import Identities, read_case_lines
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.records import Notes, Record
from skillyard.evals.cases.skill_names import check_prompt, known_skills

_NAMES = ("expected_skills", "acceptable_skills", "required_skills")


@dataclass(frozen=True, slots=True)
class ActivationCase:
    """One request, and what a router should pick for it."""

    id: SomeText
    user_prompt: SomeText
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
    files: Iterable[SourceFile], catalog: Catalog, notes: Notes
) -> list[ActivationCase]:
    """Return the activation cases of files, one a line.

    An id may occur once in all of them. Every skill that is named must be in the catalog and may
    not be hidden.
    """
    identities = Identities()
    return read_case_lines(files, notes, lambda record: _case(record, catalog, identities))


def _case(record: Record, catalog: Catalog, identities: Identities) -> ActivationCase:
    record.required("should_activate")
    case = record.read(
        ActivationCase,
        also=_NAMES,
        about=None,
        path=record.notes.path,
        line=record.line,
        **{field: _names(record, field, catalog) for field in _NAMES},
    )
    identities.check(record, case.id, case.user_prompt)
    if isinstance(record.raw("should_activate"), bool):
        _note_contradictions(record, case)
    check_prompt(case.user_prompt, case.expected_skills, record.notes, record.line)
    return case


def _names(record: Record, field: str, catalog: Catalog) -> tuple[str, ...]:
    names = known_skills(catalog, record.texts(field), record, field)
    if len(set(names)) < len(names):
        record.wrong(field, "names a skill twice", "name each once", ", ".join(names))
    return names


def _note_contradictions(record: Record, case: ActivationCase) -> None:
    """Note fields that contradict each other."""
    named = [*case.expected_skills, *case.acceptable_skills, *case.required_skills]
    if case.should_activate and not case.expected_skills:
        record.wrong(
            "expected_skills",
            "is empty, yet something should be activated",
            "name the skills of which one must be picked, or write should_activate: false",
        )
    if named and not case.should_activate:
        record.wrong(
            "should_activate",
            "is false, yet skills are named",
            "leave the lists of skills empty, or write should_activate: true",
            ", ".join(named),
        )
    both = sorted(set(case.expected_skills) & set(case.acceptable_skills))
    if both:
        record.wrong(
            "acceptable_skills",
            "names a skill that is expected",
            "name each skill in one of the lists",
            ", ".join(both),
        )
    missing = [name for name in case.required_skills if name not in case.expected_skills]
    if missing and case.should_activate:
        record.wrong(
            "required_skills",
            "names what expected_skills does not",
            "every required skill is expected too",
            ", ".join(missing),
        )
