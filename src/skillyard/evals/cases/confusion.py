"""Confusion cases: requests that one skill of a group of similar skills should take.

The members of a group are the skills that its cases expect. A case that expects no skill is a
negative: no skill of its group may be picked. A negative without a group counts for all groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from skillyard.base.strict_toml import SomeText
from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.case_lines import Identities, read_case_lines
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.records import Notes, Record
from skillyard.evals.cases.skill_names import check_prompt, known_skills

MIN_MEMBERS = 2


@dataclass(frozen=True, slots=True)
class ConfusionCase:
    """One request, the group whose skills are the choice, and the right one of them."""

    id: SomeText
    group: str
    """Empty for a negative that holds for every group."""
    user_prompt: SomeText
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
    files: Iterable[SourceFile], catalog: Catalog, more: Sequence[ConfusionCase], notes: Notes
) -> list[ConfusionCase]:
    """Return the confusion cases of files, one a line; negatives may have files of their own.

    An id may occur once in all of them. A group needs two skills that its cases expect; one with
    fewer is an error, and so is a negative of a group that no other case names. ``more`` are cases
    from other files, whose skills are members too.
    """
    identities = Identities()
    cases = read_case_lines(files, notes, lambda record: _case(record, catalog, identities))
    cases += more
    members = groups_of(cases)
    odd = {case.group for case in cases if case.group} - {
        group for group, skills in members.items() if len(skills) >= MIN_MEMBERS
    }
    for group in sorted(odd):
        first = next(case for case in cases if case.group == group)
        skills = members.get(group, ())
        notes.of_file(first.path).error(
            "confusion_group",
            first.line,
            f"the group {group!r} has {len(skills)} expected skills",
            "write cases for at least two skills of it, or correct the group's name",
            ", ".join(skills),
        )
    return [case for case in cases if case.group not in odd]


def _case(record: Record, catalog: Catalog, identities: Identities) -> ConfusionCase:
    negative = record.raw("expected_skill") is None
    case = record.read(
        ConfusionCase,
        also=("group", "expected_skill"),
        group=record.value("group", str, "") if negative else record.value("group", SomeText),
        expected_skill=None if negative else record.value("expected_skill", SomeText),
        path=record.notes.path,
        line=record.line,
    )
    identities.check(record, case.id, case.user_prompt)
    acceptable = known_skills(catalog, case.acceptable_skills, record, "acceptable_skills")
    if negative and acceptable:
        record.wrong(
            "acceptable_skills",
            "names skills, yet none is expected",
            "name the right one as expected_skill, or leave the list empty",
            ", ".join(acceptable),
        )
    if not case.expected_skill:
        return case
    (expected,) = known_skills(catalog, [case.expected_skill], record, "expected_skill")
    check_prompt(case.user_prompt, [expected], record.notes, record.line)
    if expected in acceptable:
        hint = "name the others only"
        record.wrong("acceptable_skills", "names the expected skill", hint, expected)
    return replace(case, expected_skill=expected, acceptable_skills=acceptable)
