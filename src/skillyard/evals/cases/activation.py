"""The cases of activation (L3): requests, each with the skills that it should activate.

They come from JSONL (one request a line, for a whole library) and from the files about one skill,
each of whose prompts is *about* that skill: only whether it is picked counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.reading import (
    NOT_READ,
    CasePlaces,
    Dataset,
    Located,
    Notes,
    SomeText,
    SourceFile,
    Text,
    build_dataset,
    checked,
    find_sources,
    json_value,
    known_skill,
    prompt_key,
)
from skillyard.evals.cases.skill_cases import check_prompt, read_case_files
from skillyard.evals.judgement.verdicts import STRICT

CATEGORY = "trigger set"
"""The category of activation cases that come from files about one skill."""
ID_CHARS = 200
"""Maximum length of an id, which occurs in results, reports and file names."""


@dataclass(frozen=True, slots=True)
class ActivationCase:
    """One request, what a router should pick for it, and where it stands."""

    __pydantic_config__ = STRICT

    id: Annotated[SomeText, Field(max_length=ID_CHARS)]
    user_prompt: SomeText
    should_activate: bool
    expected_skills: tuple[str, ...] = ()
    """Any of them is right."""
    acceptable_skills: tuple[str, ...] = ()
    """Neither right nor wrong beside an expected one."""
    category: Text = ""
    path: Annotated[str, NOT_READ] = ""
    line: Annotated[int | None, NOT_READ] = None
    about: Annotated[str | None, NOT_READ] = None
    """For a file about one skill: that skill. Only whether it is picked counts then; what else is
    picked is neither right nor wrong. None: every pick counts."""


def read_activation_cases(places: CasePlaces, catalog: Catalog) -> Dataset[ActivationCase]:
    """Return the activation cases: which skills a request should activate."""
    notes = Notes()
    files = find_sources(places, catalog, notes)
    cases = [
        case
        for file in files
        if file.path.endswith(".jsonl")
        for case in _lines(file, catalog, notes)
    ]
    for each in read_case_files(files, catalog, notes, places.skill):
        if catalog.get(each.skill).hidden:
            what = f"{each.skill} is hidden: no router may choose it, so its prompts are left out"
            own = notes.of_file(each.path)
            own.warning("case_hidden_skill", each.line, what, "only @name calls it")
            continue
        for prompt in each.prompts:
            if prompt.should_fire is not None:
                case = ActivationCase(
                    f"{each.skill}/{prompt.id}",
                    prompt.prompt,
                    prompt.should_fire,
                    (each.skill,) if prompt.should_fire else (),
                    category=CATEGORY,
                    path=each.path,
                    line=prompt.line,
                    about=each.skill,
                )
                cases.append(case)
    return build_dataset(_distinct(cases, notes), notes, files)


def _lines(file: SourceFile, catalog: Catalog, notes: Notes) -> Iterator[ActivationCase]:
    """Yield the cases of the lines; blank ones, and those that start with ``#``, are skipped."""
    own = notes.of_file(file.path)
    for number, text in enumerate(file.text.split("\n"), 1):
        before = own.errors
        is_case = text.strip() and not text.lstrip().startswith("#")
        entry = json_value(text, own, number) if is_case else None
        case = checked(ActivationCase, _renamed(entry), own) if entry is not None else None
        if case is None:
            continue
        if case.should_activate != bool(case.expected_skills or case.acceptable_skills):
            named = "no skill is expected" if case.should_activate else "skills are named"
            message = f"should_activate is {str(case.should_activate).lower()}, yet {named}"
            own.error("case_bad_field", number, message, "correct one of the two")
        expected = _known(case.expected_skills, "expected_skills", number, catalog, own)
        others = _known(case.acceptable_skills, "acceptable_skills", number, catalog, own)
        check_prompt(case.user_prompt, expected, number, own)
        if own.errors == before:
            yield replace(
                case,
                expected_skills=expected,
                acceptable_skills=tuple(name for name in others if name not in expected),
                path=file.path,
                line=number,
            )


def _renamed(entry: Located) -> Located:
    """Return a case of a group of similar skills, as files up to 0.1 have it, as one of ours."""
    if not isinstance(entry.value, dict) or "expected_skill" not in entry.value:
        return entry
    fields = {**entry.value}
    skill, group = fields.pop("expected_skill"), fields.pop("group", "")
    own = {"expected_skills": [skill] if skill else [], "should_activate": bool(skill)}
    return entry._replace(value={**fields, **own, "category": group})


def _known(
    names: Sequence[str], field: str, line: int, catalog: Catalog, notes: Notes
) -> tuple[str, ...]:
    """Return the names of the skills that names or ids refer to; others are noted."""
    skills = [known_skill(name, field, line, catalog, notes) for name in names]
    for skill in skills:
        if skill is not None and skill.hidden:
            message, hint = f"{field} names a hidden skill", "only @name calls it, and no router"
            notes.error("case_bad_field", line, message, hint, skill.name)
    return tuple(dict.fromkeys(skill.name for skill in skills if skill is not None))


def _distinct(cases: Iterable[ActivationCase], notes: Notes) -> Iterator[ActivationCase]:
    """Yield the cases, each with an id of its own. A request that occurs twice is used once."""
    first_of: dict[tuple[str | None, str], ActivationCase] = {}
    ids: set[str] = set()
    for each in cases:
        own = notes.of_file(each.path)
        first = first_of.setdefault((each.about, prompt_key(each.user_prompt)), each)
        if first is not each:
            message = f"the prompt is also at {first.path}:{first.line}, and used once"
            hint = "keep each prompt in one place"
            own.warning("case_duplicate_prompt", each.line, message, hint, each.user_prompt)
            continue
        if each.id in ids:
            stem = os.path.splitext(os.path.basename(each.path))[0]
            each = replace(each, id=f"{each.id}/{stem}")
        if each.id in ids:
            message, hint = "the id occurs twice", "give each case an id of its own"
            own.error("case_duplicate_id", each.line, message, hint, each.id)
            continue
        ids.add(each.id)
        yield each
