"""The cases of activation (L3): requests, each with the skills that it should activate.

They come from JSONL (one request a line, for a whole library) and from the files about one skill,
each of whose prompts is *about* that skill: only whether it is picked counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from skillyard.base.errors import AmbiguousName, SkillNotFound
from skillyard.base.invisible import find_hidden
from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.case_files import (
    JSON,
    LINES,
    SKILL,
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
    checked,
    json_lines,
    prompt_key,
    quote,
)
from skillyard.evals.cases.skill_cases import check_prompt

CATEGORY = "trigger set"
"""The category of activation cases that come from files about one skill."""
ID_CHARS = 200
"""Maximum length of an id, which occurs in results, reports and file names."""


@dataclass(frozen=True, slots=True)
class ActivationCase:
    """One request, and what a router should pick for it."""

    __pydantic_config__ = STRICT

    id: SomeText
    user_prompt: SomeText
    should_activate: bool
    expected_skills: tuple[str, ...] = ()
    """Any of them is right. Empty exactly where nothing should be picked."""
    acceptable_skills: tuple[str, ...] = ()
    """Neither right nor wrong beside an expected one."""
    category: str = ""


@dataclass(frozen=True, slots=True)
class LocatedCase:
    """An activation case, and where it stands."""

    case: ActivationCase
    path: str
    line: int | None
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
        if self.case.should_activate:
            return f"{quote(' or '.join(self.case.expected_skills))} should fire"
        return f"{self.about} should not fire" if self.about else "no skill should fire"


def read_activation_cases(places: CasePlaces, catalog: Catalog) -> Dataset[LocatedCase]:
    """Return the activation cases: which skills a request should activate."""
    notes = Notes()
    files = find_sources(places, catalog, notes)
    cases = [case for file in files if file.kind == LINES for case in _lines(file, catalog, notes)]
    cases = list(_with_own_ids(cases, notes))
    for each in read_case_files(files, catalog, notes, places.skill):
        if catalog.get(each.skill).hidden:
            what = f"{each.skill} is hidden: no router may choose it, so its prompts are left out"
            own = notes.of_file(each.path)
            own.warning("case_hidden_skill", each.line, what, "only @name calls it")
            continue
        for prompt in each.prompts:
            if prompt.should_fire is not None:
                expected = (each.skill,) if prompt.should_fire else ()
                case = ActivationCase(
                    each.prompt_id(prompt),
                    prompt.prompt,
                    prompt.should_fire,
                    expected,
                    category=CATEGORY,
                )
                cases.append(LocatedCase(case, each.path, prompt.line, each.skill))
    return build_dataset(_distinct(cases, notes), notes, files, (LINES, SKILL, JSON))


def _lines(file: SourceFile, catalog: Catalog, notes: Notes) -> Iterator[LocatedCase]:
    own = notes.of_file(file.path)
    for entry in json_lines(file.text, own):
        before = own.errors
        case = checked(ActivationCase, _renamed(entry), own)
        if case is None:
            continue
        case = replace(
            case,
            expected_skills=_known(case.expected_skills, "expected_skills", entry, catalog, own),
            acceptable_skills=_known(
                case.acceptable_skills, "acceptable_skills", entry, catalog, own
            ),
        )
        if own.errors == before:  # else a list may only be empty without its unknown names
            _note_faults(case, entry, own)
        check_prompt(case.user_prompt, case.expected_skills, own, entry.line())
        if own.errors == before:
            yield LocatedCase(case, file.path, entry.line())


def _renamed(entry: Located) -> Located:
    """Return a case of a group of similar skills, as files up to 0.1 have it, as one of ours."""
    if "expected_skill" not in entry.value:
        return entry
    fields = {**entry.value}
    skill, group = fields.pop("expected_skill"), fields.pop("group", "")
    own = {"expected_skills": [skill] if skill else [], "should_activate": bool(skill)}
    return entry._replace(value={**fields, **own, "category": group})


def _known(
    names: Sequence[str], field: str, entry: Located, catalog: Catalog, notes: Notes
) -> tuple[str, ...]:
    """Return the names of the skills that names or ids refer to; others are noted."""
    known = []
    for name in names:
        try:
            skill = catalog.get(name)
            known.append(skill.name)
            why, hint = "a hidden skill", "no router may choose it: only @name calls it"
            if not skill.hidden:
                continue
        except SkillNotFound as error:
            why = "a skill that is not there"
            hint = error.hint or "check the name, and the folder of skills"
        except AmbiguousName:
            why, hint = "a skill that is there several times", "use an id"
        notes.error("case_bad_field", entry.line(), f"{field} names {why}", hint, name)
    return tuple(dict.fromkeys(known))


def _note_faults(case: ActivationCase, entry: Located, notes: Notes) -> None:
    """Note fields that contradict each other, and ids that nobody can write."""
    named = [*case.expected_skills, *case.acceptable_skills]
    faults = (
        (
            case.should_activate and not case.expected_skills,
            "expected_skills is empty, yet something should be activated",
            "name the skills of which one must be picked, or write should_activate: false",
        ),
        (
            bool(named) and not case.should_activate,
            "should_activate is false, yet skills are named",
            "leave the lists of skills empty, or write should_activate: true",
        ),
        (
            not {*case.expected_skills}.isdisjoint(case.acceptable_skills),
            "acceptable_skills names a skill that is expected",
            "name each skill in one of the lists",
        ),
        (len(case.id) > ID_CHARS, f"id is longer than {ID_CHARS} characters", "shorten it"),
        (
            find_hidden(case.id) is not None or not case.id.isprintable(),
            "id holds a character that no reader sees",
            "use visible ones",
        ),
    )
    for is_fault, message, hint in faults:
        if is_fault:
            notes.error("case_bad_field", entry.line(), message, hint, ", ".join(named) or case.id)


def _with_own_ids(cases: Sequence[LocatedCase], notes: Notes) -> Iterator[LocatedCase]:
    """Yield the cases of lines. An id that occurs twice is an error, a prompt a warning."""
    seen: dict[tuple[str, str], LocatedCase] = {}
    for each in cases:
        own, case = notes.of_file(each.path), each.case
        first = seen.setdefault(("id", case.id), each)
        if first is not each:
            message = f"the id is taken (first at {first.place})"
            hint = "give each case an id of its own"
            own.error("case_duplicate_id", each.line, message, hint, case.id)
            continue
        first = seen.setdefault(("prompt", prompt_key(case.user_prompt)), each)
        if first is not each:
            message = f"the prompt occurs twice (first at {first.place})"
            hint = "remove one: it would weigh double"
            own.warning("case_duplicate_prompt", each.line, message, hint, case.user_prompt)
        yield each


def _distinct(cases: Sequence[LocatedCase], notes: Notes) -> list[LocatedCase]:
    """Return the cases, each with an id of its own.

    A request that a file about one skill has again is used once, with a warning. One that should
    fire and should not is an error.
    """
    _note_contradictions(cases, notes)
    first_of: dict[tuple[str, str], LocatedCase] = {}
    ids: set[str] = set()
    distinct: list[LocatedCase] = []
    for each in cases:
        case = each.case
        first = first_of.setdefault((each.about or "", prompt_key(case.user_prompt)), each)
        if each.about is not None and first is not each:
            what = f"the prompt is also in {first.place}, and used once"
            hint = "keep each prompt in one place"
            own = notes.of_file(each.path)
            own.warning("case_duplicate_prompt", each.line, what, hint, case.user_prompt)
            continue
        stem = os.path.splitext(os.path.basename(each.path))[0]
        if case.id in ids:
            each = replace(each, case=replace(case, id=f"{case.id}/{stem}"))
        distinct.append(each)
        ids.add(case.id)
    return distinct


def _note_contradictions(cases: Iterable[LocatedCase], notes: Notes) -> None:
    """Note each request that should fire a skill by one case, and by another should not.

    Of several skills any one may fire, so that one of them should not is no contradiction.
    """
    fires: dict[tuple[str, str | None], LocatedCase] = {}
    silent: dict[tuple[str, str | None], LocatedCase] = {}
    for each in cases:
        case = each.case
        own, others = (fires, silent) if case.should_activate else (silent, fires)
        # None stands for every skill: a negative case that is about no skill in particular.
        only = case.expected_skills if len(case.expected_skills) == 1 else ()
        names = (*only, None) if case.should_activate else (each.about,)
        keys = [(prompt_key(case.user_prompt), name) for name in names]
        opposite = next((others[key] for key in keys if key in others), None)
        if opposite is not None:
            notes.of_file(each.path).error(
                "case_contradiction",
                each.line,
                f'{each.claim} for "{quote(case.user_prompt)}", but at '
                f"{opposite.place} {opposite.claim} for it",
                "remove the entry that is wrong: with both, the request would count as each",
                case.user_prompt,
            )
        for key in keys:
            own.setdefault(key, each)
