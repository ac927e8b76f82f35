"""The cases of activation (L3): requests, each with the skills that it should activate.

They come from JSONL (one request a line, for a whole library) and from the files about one skill,
each of whose prompts is *about* that skill: only whether it is picked counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from pydantic import Field

from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.case_files import (
    CasePlaces,
    Dataset,
    build_dataset,
    find_sources,
    read_case_files,
)
from skillyard.evals.cases.reading import (
    STRICT,
    Located,
    Notes,
    SomeText,
    SourceFile,
    Text,
    checked,
    json_lines,
    known_skill,
    prompt_key,
    quote,
)
from skillyard.evals.cases.skill_cases import check_prompt

CATEGORY = "trigger set"
"""The category of activation cases that come from files about one skill."""
ID_CHARS = 200
"""Maximum length of an id, which occurs in results, reports and file names."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One request as a line has it, and what a router should pick for it."""

    __pydantic_config__ = STRICT

    id: Annotated[SomeText, Field(max_length=ID_CHARS)]
    user_prompt: SomeText
    should_activate: bool
    expected_skills: tuple[str, ...] = ()
    """Any of them is right."""
    acceptable_skills: tuple[str, ...] = ()
    """Neither right nor wrong beside an expected one."""
    category: Text = ""


@dataclass(frozen=True, slots=True)
class ActivationCase(_Line):
    """One request, what a router should pick for it, and where it stands."""

    path: str = ""
    line: int | None = None
    about: str | None = None
    """For a file about one skill: that skill. Only whether it is picked counts then; what else is
    picked is neither right nor wrong. None: every pick counts."""

    @property
    def place(self) -> str:
        """The file, and the line where it has one."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def claim(self) -> str:
        """What the case says of its request."""
        if self.should_activate:
            names = self.expected_skills or self.acceptable_skills
            return f"{quote(' or '.join(names))} should fire"
        return f"{self.about} should not fire" if self.about else "no skill should fire"


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
                    each.prompt_id(prompt),
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
    own = notes.of_file(file.path)
    for entry in json_lines(file.text, own):
        before = own.errors
        line = checked(_Line, _renamed(entry), own)
        if line is None:
            continue
        if line.should_activate != bool(line.expected_skills or line.acceptable_skills):
            named = "no skill is expected" if line.should_activate else "skills are named"
            message = f"should_activate is {str(line.should_activate).lower()}, yet {named}"
            own.error("case_bad_field", entry.line(), message, "correct one of the two")
        expected = _known(line.expected_skills, "expected_skills", entry, catalog, own)
        others = _known(line.acceptable_skills, "acceptable_skills", entry, catalog, own)
        check_prompt(line.user_prompt, expected, entry.line(), own)
        if own.errors == before:
            acceptable = tuple(name for name in others if name not in expected)
            skills = {"expected_skills": expected, "acceptable_skills": acceptable}
            yield ActivationCase(**{**asdict(line), **skills}, path=file.path, line=entry.line())


def _renamed(entry: Located) -> Located:
    """Return a case of a group of similar skills, as files up to 0.1 have it, as one of ours."""
    if not isinstance(entry.value, dict) or "expected_skill" not in entry.value:
        return entry
    fields = {**entry.value}
    skill, group = fields.pop("expected_skill"), fields.pop("group", "")
    own = {"expected_skills": [skill] if skill else [], "should_activate": bool(skill)}
    return entry._replace(value={**fields, **own, "category": group})


def _known(
    names: Sequence[str], field: str, entry: Located, catalog: Catalog, notes: Notes
) -> tuple[str, ...]:
    """Return the names of the skills that names or ids refer to; others are noted."""
    skills = [known_skill(name, field, entry.line(), catalog, notes) for name in names]
    for skill in skills:
        if skill is not None and skill.hidden:
            message, hint = f"{field} names a hidden skill", "only @name calls it, and no router"
            notes.error("case_bad_field", entry.line(), message, hint, skill.name)
    return tuple(dict.fromkeys(skill.name for skill in skills if skill is not None))


def _distinct(cases: Iterable[ActivationCase], notes: Notes) -> Iterator[ActivationCase]:
    """Yield the cases, each with an id of its own.

    A request that occurs twice is used once, with a warning. One that should fire a skill by one
    case, and by another should not, is an error. Of several skills any one may fire, so that one of
    them should not is no contradiction.
    """
    first_of: dict[tuple[str | None, str], ActivationCase] = {}
    claims: dict[tuple[bool, str, str | None], ActivationCase] = {}
    ids: set[str] = set()
    for each in cases:
        own, fires, prompt = notes.of_file(each.path), each.should_activate, each.user_prompt
        key = prompt_key(prompt)
        # None stands for every skill: a negative case that is about no skill in particular.
        only = each.expected_skills if len(each.expected_skills) == 1 else ()
        skills = (*only, None) if fires else (each.about,)
        opposite = next(
            filter(None, (claims.get((not fires, key, skill)) for skill in skills)), None
        )
        if opposite is not None:
            message = (
                f'{each.claim} for "{quote(prompt)}", but at {opposite.place} {opposite.claim}'
            )
            hint = "remove the entry that is wrong: with both, the request would count as each"
            own.error("case_contradiction", each.line, f"{message} for it", hint, prompt)
        for skill in skills:
            claims.setdefault((fires, key, skill), each)
        first = first_of.setdefault((each.about, key), each)
        if first is not each:
            message = f"the prompt is also at {first.place}, and used once"
            hint = "keep each prompt in one place"
            own.warning("case_duplicate_prompt", each.line, message, hint, prompt)
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
