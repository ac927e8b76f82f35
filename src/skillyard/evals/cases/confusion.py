"""Confusion cases: requests that one skill of a group of similar skills should take.

The members of a group are the skills that its cases expect. A case that expects no skill is a
negative: no skill of its group may be picked. A negative without a group counts for all groups.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillyard.catalog import Catalog
from skillyard.errors import Diagnostic
from skillyard.evals.cases.dataset import Dataset, in_order, read_json_cases
from skillyard.evals.cases.identity import Identities, case_id
from skillyard.evals.cases.records import Record
from skillyard.evals.cases.skill_names import check_prompt, known_skill, known_skills

__all__ = ["ConfusionCase", "groups_of", "read_confusion"]

_FIELDS = ("id", "group", "user_prompt", "expected_skill", "acceptable_skills")
MIN_MEMBERS = 2


@dataclass(frozen=True, slots=True)
class ConfusionCase:
    """One request, the group whose skills are the choice, and the right one of them."""

    id: str
    group: str
    """Empty for a negative that holds for every group."""
    user_prompt: str
    expected_skill: str | None
    """None for a negative: none of the group may be picked."""
    acceptable_skills: tuple[str, ...] = ()
    """Right too, if picked instead."""
    path: str = ""
    line: int | None = None


def groups_of(cases: Sequence[ConfusionCase]) -> dict[str, tuple[str, ...]]:
    """Return the members of each group, sorted, by group name, sorted."""
    members: dict[str, set[str]] = {}
    for case in cases:
        if case.expected_skill is not None:
            members.setdefault(case.group, set()).add(case.expected_skill)
    return {group: tuple(sorted(members[group])) for group in sorted(members)}


def read_confusion(
    *places: str | os.PathLike[str], catalog: Catalog | None = None
) -> Dataset[ConfusionCase]:
    """Read the ``*.jsonl`` files of folders, or files themselves; negatives may have their own.

    An id may occur once in all of them. A group needs two skills that its cases expect; one with
    fewer is an error, and so is a negative of a group that no other case names.
    """
    identities = Identities()
    dataset = read_json_cases(places, lambda record: _case(record, catalog, identities))
    groups = groups_of(dataset.cases)
    usable = [
        case for case in dataset.cases if not case.group or len(groups.get(case.group, ())) > 1
    ]
    diagnostics = in_order([*dataset.diagnostics, *_odd_groups(dataset.cases, groups)])
    return replace(dataset, cases=tuple(usable), diagnostics=diagnostics)


def _case(record: Record, catalog: Catalog | None, identities: Identities) -> ConfusionCase:
    record.only(_FIELDS)
    key = case_id(record, identities)
    prompt = record.some_text("user_prompt")
    identities.prompt(record, prompt)
    negative = record.raw("expected_skill") is None
    expected = None if negative else record.some_text("expected_skill")
    group = record.text("group") if negative else record.some_text("group")
    acceptable = record.texts("acceptable_skills")
    if negative and acceptable:
        record.wrong(
            "acceptable_skills",
            "names skills, yet none is expected",
            "name the right one as expected_skill, or leave the list empty",
            ", ".join(acceptable),
        )
    acceptable = known_skills(catalog, acceptable, record, "acceptable_skills")
    if expected:
        skill = known_skill(catalog, expected, record, "expected_skill", routed=True)
        expected = expected if skill is None else skill.name
        check_prompt(prompt, [expected], record.notes, record.line)
        if expected in acceptable:
            record.wrong(
                "acceptable_skills", "names the expected skill", "name the others only", expected
            )
    return ConfusionCase(key, group, prompt, expected, acceptable, record.notes.path, record.line)


def _odd_groups(
    cases: Sequence[ConfusionCase], groups: Mapping[str, tuple[str, ...]]
) -> list[Diagnostic]:
    """Return one error for each group in which nothing can be confused."""
    errors = []
    reported: set[str] = set()
    for case in cases:
        members = groups.get(case.group, ())
        if not case.group or len(members) >= MIN_MEMBERS or case.group in reported:
            continue
        reported.add(case.group)
        errors.append(
            Diagnostic(
                "confusion_group",
                "error",
                case.path,
                f"the group {case.group!r} has {len(members)} expected skills",
                "write cases for at least two skills of it, or correct the group's name",
                line=case.line,
                found=", ".join(members),
            )
        )
    return errors
