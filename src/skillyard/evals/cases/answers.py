"""The prompts of skills whose answers are compared (L5 and L6), whatever file they come from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from skillyard.base.errors import ResourceRefused, SkillError
from skillyard.engine.catalog import Catalog
from skillyard.engine.resources import read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.cases.case_files import (
    DOCUMENT,
    JSON,
    SKILL,
    CasePlaces,
    Dataset,
    build_dataset,
    find_sources,
    read_case_files,
)
from skillyard.evals.cases.input_files import InputFile, load_file, with_files
from skillyard.evals.cases.reading import Notes
from skillyard.evals.cases.skill_cases import SkillCases, SkillPrompt
from skillyard.evals.checks.outcome import Check
from skillyard.evals.conditions.arms import MAX_SIBLING_BYTES
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion

_DOCUMENT = "skill.md"
_FILE_HINT = "name files beside the cases or inside the skill's folder, or correct the path"


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """One prompt, and how its answers are rated."""

    prompt: str
    """With its text files behind it."""
    criteria: tuple[Criterion, ...]
    """Empty: only the checks decide, and no judge is called."""
    checks: tuple[Check, ...] = ()
    files: tuple[InputFile, ...] = ()
    """All input files, for the scripts of checks."""


@dataclass(frozen=True, slots=True)
class AnswerCases:
    """The prompts of one skill, and the files that its arm with siblings gets."""

    skill: str
    prompts: tuple[AnswerPrompt, ...]
    expected_tier: str | None = None
    siblings: tuple[str, ...] = ()
    max_sibling_bytes: int = MAX_SIBLING_BYTES
    path: str = ""
    line: int | None = None


def read_answer_cases(places: CasePlaces, catalog: Catalog) -> Dataset[AnswerCases]:
    """Return the skills whose answers are compared, each with all of its prompts."""
    notes = Notes()
    files = find_sources(places, catalog, notes)
    skills = [
        skill
        for kinds in ((DOCUMENT,), (SKILL, JSON))
        for skill in read_case_files(files, catalog, notes, places.skill, kinds)
    ]
    answers = [_answers_of(each, catalog, notes.of_file(each.path)) for each in skills]
    merged = _merged([each for each in answers if each.prompts], notes)
    return build_dataset(merged, notes, files, (DOCUMENT, SKILL, JSON))


def _answers_of(cases: SkillCases, catalog: Catalog, notes: Notes) -> AnswerCases:
    """Return the cases of a skill whose answers are compared, with their files.

    A prompt whose files cannot be read is left out, with a warning.
    """
    skill = catalog.get(cases.skill)
    tested = [prompt for prompt in cases.prompts if prompt.is_tested]
    _note_own_documents(tested, notes)
    prompts = []
    for prompt in tested:
        try:
            prompts.append(_answer_prompt(prompt, cases, skill, notes))
        except SkillError as error:
            hint = (isinstance(error, ResourceRefused) and error.hint) or _FILE_HINT
            what = f"the eval {prompt.id} is left out: {error.message}"
            notes.warning("eval_input_file", prompt.line, what, hint)
    return AnswerCases(
        skill.name,
        tuple(prompts),
        cases.expected_tier,
        tuple(dict.fromkeys(cases.siblings)),
        cases.max_sibling_bytes,
        cases.path,
        cases.line,
    )


def _merged(cases: Iterable[AnswerCases], notes: Notes) -> tuple[AnswerCases, ...]:
    """Return one value a skill, in the order in which the skills first occur.

    A prompt that several files have is taken once, with a warning.
    """
    merged: dict[str, AnswerCases] = {}
    for each in cases:
        before = merged.get(each.skill)
        if before is None:
            merged[each.skill] = each
            continue
        known = {prompt.prompt for prompt in before.prompts}
        new = tuple(prompt for prompt in each.prompts if prompt.prompt not in known)
        repeated = len(each.prompts) - len(new)
        if repeated:
            are = "prompt is" if repeated == 1 else "prompts are"
            what = f"{repeated} {are} also in {before.path}, and used once"
            hint = "keep each prompt in one file"
            notes.of_file(each.path).warning("case_duplicate_prompt", each.line, what, hint)
        merged[each.skill] = replace(
            before,
            prompts=before.prompts + new,
            expected_tier=before.expected_tier or each.expected_tier,
            siblings=tuple(dict.fromkeys(before.siblings + each.siblings)),
        )
    return tuple(merged.values())


def _answer_prompt(
    prompt: SkillPrompt, cases: SkillCases, skill: Skill, notes: Notes
) -> AnswerPrompt:
    """Return a prompt with its files. Raises SkillError where one cannot be read."""
    names = [name for name in prompt.files if not _is_document(name)]
    files = [_input_file(name, cases, skill) for name in names]
    text = with_files(prompt.prompt, files)
    for file in files:
        if file.text is None:
            notes.warning(
                "eval_input_unshown",
                prompt.line,
                f"no model can read the file {file.name} of the eval {prompt.id}: only its name is"
                " given",
                "give its content as text; the scripts of checks get every file",
                file.name,
            )
    checks = tuple(_with_script_files(check, cases, skill) for check in prompt.checks)
    return AnswerPrompt(text, _criteria(prompt, cases), checks, tuple(files))


def _criteria(prompt: SkillPrompt, cases: SkillCases) -> tuple[Criterion, ...]:
    """Return what a judge rates: half the rubric of the file, half what the prompt expects.

    Without one of them the other counts alone. A prompt with checks and neither needs no judge;
    one without anything gets the default criteria.
    """
    own = [(f"assertion {number}", text) for number, text in enumerate(prompt.assertions, 1)]
    if prompt.expected:
        own.append(("expected output", f"The answer amounts to this: {prompt.expected}"))
    share = 0.5 if cases.criteria else 1.0
    statements = tuple(Criterion(name, share / len(own), text) for name, text in own)
    if not cases.criteria:
        return statements or (() if prompt.checks else DEFAULT_CRITERIA)
    if not statements:
        return cases.criteria
    return (*(replace(each, weight=each.weight / 2) for each in cases.criteria), *statements)


def _with_script_files(check: Check, cases: SkillCases, skill: Skill) -> Check:
    """Return a script's check with the files that its command names, others as they are."""
    if check.kind != "script":
        return check
    files = []
    for argument in shlex.split(check.value):
        with suppress(SkillError):  # an argument that is no file
            files.append(_input_file(argument, cases, skill))
    return replace(check, files=tuple(files))


def _input_file(name: str, cases: SkillCases, skill: Skill) -> InputFile:
    """Return a file beside the cases, in the folder above, or in the skill's folder.

    Cases that lie in the skill's folder get no file from outside of it.
    """
    if skill.stored:
        return InputFile(name, read_resource(skill, name))
    return load_file(name, _folders(cases, skill))


def _folders(cases: SkillCases, skill: Skill) -> Sequence[str]:
    beside = os.path.dirname(os.path.abspath(cases.path))
    folders = [beside, os.path.dirname(beside)]
    if not skill.path:
        return folders
    own = os.path.dirname(os.path.abspath(skill.path))
    if os.path.commonpath([own, beside]) == own:
        folders = [folder for folder in folders if os.path.commonpath([own, folder]) == own]
    return [*folders, own]


def _is_document(name: str) -> bool:
    return os.path.basename(name).lower() == _DOCUMENT


def _note_own_documents(prompts: Sequence[SkillPrompt], notes: Notes) -> None:
    """Warn where prompts come with the skill itself as an input file."""
    lines = [each.line for each in prompts if any(map(_is_document, each.files))]
    if lines:
        evals = "an eval" if len(lines) == 1 else f"{len(lines)} evals"
        notes.warning(
            "eval_input_is_skill",
            lines[0],
            f"SKILL.md is an input file of {evals}; it is not given to the model, because the arm"
            " without the skill must not see it",
            "remove it from files",
        )
