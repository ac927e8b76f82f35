"""The prompts of skills whose answers are compared (L5 and L6), whatever file they come from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from skillyard.base.errors import ResourceRefused, SkillError
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Skill
from skillyard.evals.arms import MAX_SIBLING_BYTES
from skillyard.evals.cases.case_files import (
    CasePlaces,
    Dataset,
    build_dataset,
    find_sources,
    read_case_files,
)
from skillyard.evals.cases.reading import TEXT_CHARS, Notes
from skillyard.evals.cases.skill_cases import SkillCases, SkillPrompt
from skillyard.evals.checks import Check, InputFile, load_file
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion

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
    siblings: tuple[str, ...] = ()
    max_sibling_bytes: int = MAX_SIBLING_BYTES
    expected_tier: str | None = None


def read_answer_cases(places: CasePlaces, catalog: Catalog) -> Dataset[AnswerCases]:
    """Return the skills whose answers are compared, each with the prompts of all files, once."""
    notes = Notes()
    files = find_sources(places, catalog, notes)
    merged: dict[str, AnswerCases] = {}
    for cases in read_case_files(files, catalog, notes, places.skill):
        own, folders = notes.of_file(cases.path), _folders(cases, catalog.get(cases.skill))
        prompts = [
            prompt
            for each in cases.prompts
            if each.is_tested
            for prompt in _answer_prompt(each, cases.criteria, folders, own)
        ]
        before = merged.get(cases.skill)
        known = {prompt.prompt for prompt in before.prompts} if before else set()
        new = [prompt for prompt in prompts if prompt.prompt not in known]
        if len(new) < len(prompts):
            what = f"{plural(len(prompts) - len(new), 'prompt')} of another file, used once"
            hint = "keep each prompt in one file"
            own.warning("case_duplicate_prompt", cases.line, what, hint)
        if new:
            merged[cases.skill] = AnswerCases(
                cases.skill,
                (*before.prompts, *new) if before else tuple(new),
                tuple(dict.fromkeys((*(before.siblings if before else ()), *cases.siblings))),
                (before or cases).max_sibling_bytes,
                (before and before.expected_tier) or cases.expected_tier,
            )
    return build_dataset(merged.values(), notes, files)


def _answer_prompt(
    prompt: SkillPrompt, rubric: Sequence[Criterion], folders: Sequence[str], notes: Notes
) -> Iterator[AnswerPrompt]:
    """Yield a prompt with its files, unless one of them cannot be read: that is noted."""
    try:
        files = tuple(_input_file(name, folders) for name in prompt.files)
        text = "\n\n".join([prompt.prompt, *(file.in_prompt() for file in files)])
        if len(text) > TEXT_CHARS:
            raise ResourceRefused(f"with its files it is longer than {TEXT_CHARS:,} characters")
    except SkillError as error:
        message = f"the prompt {prompt.id} is left out: {error.message}"
        notes.warning("eval_input_file", prompt.line, message, error.hint or _FILE_HINT)
        return
    for file in files:
        if file.text is None:
            message = f"no model can read the file {file.name}: only its name is given"
            hint = "give its content as text; the scripts of checks get every file"
            notes.warning("eval_input_unshown", prompt.line, message, hint, file.name)
    checks = (
        Check(kind, value, _script_files(kind, value, folders))
        for each in prompt.checks
        for kind, value in each.items()
    )
    yield AnswerPrompt(text, _criteria(prompt, tuple(rubric)), tuple(checks), files)


def _criteria(prompt: SkillPrompt, rubric: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    """Return what a judge rates: half the rubric of the file, half what the prompt expects.

    Without one of them the other counts alone. A prompt with checks and neither needs no judge;
    one without anything gets the default criteria.
    """
    own = [(f"assertion {number}", text) for number, text in enumerate(prompt.assertions, 1)]
    if prompt.expected:
        own.append(("expected output", f"The answer amounts to this: {prompt.expected}"))
    share = 0.5 if rubric else 1.0
    statements = tuple(Criterion(name, share / len(own), text) for name, text in own)
    if not rubric:
        return statements or (() if prompt.checks else DEFAULT_CRITERIA)
    if not statements:
        return rubric
    return (*(replace(each, weight=each.weight / 2) for each in rubric), *statements)


def _folders(cases: SkillCases, skill: Skill) -> Sequence[str]:
    """Return the folders of input files: beside the cases, above, and the skill's own.

    Cases that lie in the skill's folder get no file from outside of it.
    """
    beside = os.path.dirname(os.path.abspath(cases.path))
    folders = [beside, os.path.dirname(beside)]
    if not skill.path:
        return folders
    own = os.path.dirname(os.path.abspath(skill.path))
    if os.path.commonpath([own, beside]) == own:
        folders = [folder for folder in folders if os.path.commonpath([own, folder]) == own]
    return [*folders, own]


def _input_file(name: str, folders: Sequence[str]) -> InputFile:
    if os.path.basename(name).lower() == "skill.md":
        raise ResourceRefused("SKILL.md is an input file, and the other arm must not see it")
    return load_file(name, folders)


def _script_files(kind: str, command: str, folders: Sequence[str]) -> tuple[InputFile, ...]:
    """Return the files that the command of a script names."""
    files = []
    for argument in shlex.split(command) if kind == "script" else ():
        with suppress(SkillError):  # an argument that is no file
            files.append(load_file(argument, folders))
    return tuple(files)
