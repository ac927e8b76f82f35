"""The cases of each layer, read from every file that has some: one function a layer.

Cases come from skillyard's own files for one layer (rubrics, candidates, ``*.jsonl``) and from
files about a whole skill, which serve every layer: ``evals/<skill>.yaml``, ``evals.json`` and
trigger sets.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.activation import ActivationCase, read_activation
from skillyard.evals.cases.answer_cases import AnswerCases, answers_of_skill, merge_answers
from skillyard.evals.cases.case_files import (
    CANDIDATES,
    LINES,
    RUBRIC,
    WHOLE_SKILL,
    find_sources,
    read_case_files,
    skill_sources,
)
from skillyard.evals.cases.confusion import ConfusionCase, read_confusion
from skillyard.evals.cases.dataset import Dataset, SourceFile, build_dataset
from skillyard.evals.cases.records import Notes, prompt_key, quote
from skillyard.evals.cases.skill_cases import SkillCases

Case = TypeVar("Case")

CATEGORY = "trigger set"
"""The category of activation cases that come from files about one skill."""


@dataclass(frozen=True, slots=True)
class CasePlaces:
    """Where the cases of a run lie."""

    paths: tuple[str, ...] = ()
    """Files or folders."""
    in_skills: bool = False
    """Look into the ``evals`` folders of the skills instead."""
    skill: str | None = None
    """The skill of files that name none."""


def read_activation_cases(places: CasePlaces, catalog: Catalog) -> Dataset[ActivationCase]:
    """Return the activation cases (L3): which skills a request should activate."""
    notes = Notes()
    files = _find(places, catalog, notes)
    cases = read_activation(_of_kind(files, LINES), catalog, notes)
    for each in read_case_files(files, catalog, notes, places.skill):
        if catalog.get(each.skill).hidden:
            what = f"{each.skill} is hidden: no router may choose it, so its prompts are left out"
            own = notes.of_file(each.path)
            own.warning("case_hidden_skill", each.line, what, "only @name calls it")
        else:
            cases += activation_cases(each)
    return _dataset(_distinct(cases, notes), notes, files, (LINES,))


def read_confusion_cases(places: CasePlaces, catalog: Catalog) -> Dataset[ConfusionCase]:
    """Return the confusion cases (L4): the requests of skills that are in a group."""
    notes = Notes()
    files = _find(places, catalog, notes)
    skills = read_case_files(files, catalog, notes, places.skill)
    grouped = [case for each in skills for case in confusion_cases(each)]
    cases = read_confusion(_of_kind(files, LINES), catalog, grouped, notes)
    return _dataset(cases, notes, files, (LINES,))


def read_answer_cases(
    places: CasePlaces, catalog: Catalog, *, otherwise: str = RUBRIC
) -> Dataset[AnswerCases]:
    """Return the skills whose answers are compared (L5 and L6), each with all of its prompts.

    ``otherwise`` says how a YAML file of no known format is read: as a rubric, or as candidates.
    """
    notes = Notes()
    files = [
        replace(each, kind=otherwise) if _is_unknown_yaml(each) else each
        for each in _find(places, catalog, notes)
    ]
    skills = [
        skill
        for kinds in ((RUBRIC,), (CANDIDATES,), WHOLE_SKILL)
        for skill in read_case_files(files, catalog, notes, places.skill, kinds)
    ]
    answers = [answers_of_skill(each, catalog, notes.of_file(each.path)) for each in skills]
    merged = merge_answers([each for each in answers if each.prompts], notes)
    return _dataset(merged, notes, files, (RUBRIC, CANDIDATES))


def activation_cases(cases: SkillCases) -> list[ActivationCase]:
    """Return a case for each prompt that says whether the skill should fire.

    Each is *about* the skill: only whether that skill is picked counts.
    """
    return [
        ActivationCase(
            cases.prompt_id(each),
            each.prompt,
            expected_skills=(cases.skill,) if each.should_fire else (),
            should_activate=bool(each.should_fire),
            category=CATEGORY,
            about=cases.skill,
            path=cases.path,
            line=each.line,
        )
        for each in cases.prompts
        if each.should_fire is not None
    ]


def confusion_cases(cases: SkillCases) -> list[ConfusionCase]:
    """Return a case for each prompt that should fire, where the file names a group."""
    return [
        ConfusionCase(
            cases.prompt_id(each),
            cases.group,
            each.prompt,
            cases.skill,
            path=cases.path,
            line=each.line,
        )
        for each in cases.prompts
        if cases.group and each.should_fire
    ]


def _distinct(cases: Sequence[ActivationCase], notes: Notes) -> list[ActivationCase]:
    """Return the cases, each with an id of its own.

    A request that a file about one skill has again is used once, with a warning. One that should
    fire and should not is an error.
    """
    _note_contradictions(cases, notes)
    first_of: dict[tuple[str, str], ActivationCase] = {}
    ids: set[str] = set()
    distinct: list[ActivationCase] = []
    for case in cases:
        first = first_of.setdefault((case.about or "", prompt_key(case.user_prompt)), case)
        if case.about is not None and first is not case:
            what = f"the prompt is also in {_place(first)}, and used once"
            hint = "keep each prompt in one place"
            own = notes.of_file(case.path)
            own.warning("case_duplicate_prompt", case.line, what, hint, case.user_prompt)
            continue
        stem = os.path.splitext(os.path.basename(case.path))[0]
        distinct.append(replace(case, id=f"{case.id}/{stem}") if case.id in ids else case)
        ids.add(case.id)
    return distinct


def _note_contradictions(cases: Iterable[ActivationCase], notes: Notes) -> None:
    """Note each request that should fire a skill by one case, and by another should not.

    Of several skills any one may fire, so that one of them should not is no contradiction.
    """
    fires: dict[tuple[str, str | None], ActivationCase] = {}
    silent: dict[tuple[str, str | None], ActivationCase] = {}
    for case in cases:
        own, others = (fires, silent) if case.should_activate else (silent, fires)
        # None stands for every skill: a negative case that is about no skill in particular.
        only = case.expected_skills if len(case.expected_skills) == 1 else ()
        names = (*only, None) if case.should_activate else (case.about,)
        keys = [(prompt_key(case.user_prompt), name) for name in names]
        opposite = next((others[key] for key in keys if key in others), None)
        if opposite is not None:
            notes.of_file(case.path).error(
                "case_contradiction",
                case.line,
                f'{_claim(case)} for "{quote(case.user_prompt)}", but at '
                f"{_place(opposite)} {_claim(opposite)} for it",
                "remove the entry that is wrong: with both, the request would count as each",
                case.user_prompt,
            )
        for key in keys:
            own.setdefault(key, case)


def _claim(case: ActivationCase) -> str:
    if case.should_activate:
        return f"{quote(' or '.join(case.expected_skills))} should fire"
    return f"{case.about} should not fire" if case.about else "no skill should fire"


def _place(case: ActivationCase) -> str:
    return f"{case.path}:{case.line}" if case.line else case.path


def _find(places: CasePlaces, catalog: Catalog, notes: Notes) -> list[SourceFile]:
    if places.in_skills:
        return skill_sources(catalog, notes)
    return find_sources(places.paths, catalog, notes)


def _of_kind(files: Iterable[SourceFile], *kinds: str) -> list[SourceFile]:
    return [each for each in files if each.kind in kinds]


def _is_unknown_yaml(file: SourceFile) -> bool:
    return file.path.endswith((".yaml", ".yml")) and not file.kind and file.home is None


def _dataset(
    cases: Iterable[Case], notes: Notes, files: Sequence[SourceFile], own: Sequence[str]
) -> Dataset[Case]:
    """Return the dataset of a layer. A file that it does not use is noted and not in the digest."""
    kinds = (*own, *WHOLE_SKILL)
    for file in files:
        if file.kind not in kinds:
            notes.of_file(file.path).warning(
                "case_file_not_used",
                None,
                "the file holds no cases of this kind, and is not read",
                "see the formats of cases in the guide; other files can lie in a folder below",
            )
    return build_dataset(cases, notes, _of_kind(files, *kinds))
