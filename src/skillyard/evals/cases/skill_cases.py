"""Cases, in the formats that are read: what a model is asked, and which skills a request needs.

Skillyard's own YAML (``evals/<skill>.yaml``: ``skill`` and ``prompts``) serves every layer. Rubrics
(``skill_name`` and ``test_prompts``) and lists of ``candidates`` are the forms of the size-impact
document. They do not say whether a router should pick the skill.

JSON is the ``evals.json`` of skill-creator, ``{"skill_name", "evals": [{"id", "prompt",
"expected_output", "files", "expectations"}]}``, and trigger sets, ``[{"query",
"should_trigger"}]``. An entry that cannot be used is left out with a warning; fields of other tools
are not looked at.

JSONL has the requests of a whole library for activation (L3), one a line. The prompts of the other
files are *about* one skill there: only whether it is picked counts.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from skillyard.base.errors import ResourceRefused, SkillError
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Skill
from skillyard.evals.arms import MAX_SIBLING_BYTES
from skillyard.evals.cases.reading import (
    NOT_READ,
    TEXT_CHARS,
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
    name_of,
    note_not_used,
    prompt_key,
    yaml_value,
)
from skillyard.evals.checks import Check, CheckKind, InputFile, load_file
from skillyard.evals.judgement.verdicts import DEFAULT_CRITERIA, STRICT, Criterion, criteria_faults

PLACEHOLDER = "TODO"
"""A prompt that begins with this word is still to be written."""
_PROMPTS = ("prompts", "test_prompts", "test_prompt")
_LIST = "evals"
_LIST_START, _NEXT = re.compile(rf'\A\s*\[|"{_LIST}"\s*:\s*\['), re.compile(r"[\s,]*(?=[^\s,\]])")
_STATEMENTS = ("assertions", "expectations")
_JSON_FIELDS = (
    "id", "prompt", "query", "expected_output", *_STATEMENTS, "files", "should_trigger",
)  # fmt: skip
_FILE_HINT = "name files beside the cases or inside the skill's folder, or correct the path"
_BEFORE = r"(?<![^\W_])(?<![-_])"
_AFTER = r"(?![^\W_])(?![-_][^\W_])"


def find_name(prompt: str, name: str) -> str | None:
    """Return the words by which the prompt names the skill, or None.

    Case is ignored, hyphens and underscores are equal, and the name must be a whole word: neither
    ``regex-building-blocks`` nor ``my-regex-building`` names ``regex-building``. A name of several
    hyphenated words counts anywhere. A name written with blanks, or one ordinary word (``pdf``),
    counts only in the forms ``@pdf``, ``/pdf``, ``[skill:pdf]``, *the pdf skill* and *the skill
    pdf*.
    """
    parts = [re.escape(part) for part in re.split(r"[-_\s]+", name.strip()) if part]
    if not parts:
        return None
    hyphenated = r"[-_]".join(parts)
    spoken = r"[-_\s]+".join(parts)
    patterns = [
        rf"{_BEFORE}[@/]{hyphenated}{_AFTER}(?![/.][^\W_])",
        rf"skill:\s*{hyphenated}{_AFTER}",
        rf"{_BEFORE}{spoken}\s+skill{_AFTER}",
        rf"{_BEFORE}skill\s+(?:called\s+|named\s+)?[`\"'“‘«]?+{spoken}{_AFTER}",
    ]
    if len(parts) > 1:
        patterns.insert(0, rf"{_BEFORE}{hyphenated}{_AFTER}")
    match = re.search("|".join(patterns), prompt, re.IGNORECASE)
    return match.group() if match else None


def check_prompt(prompt: str, names: Iterable[str], line: int | None, notes: Notes) -> None:
    """Note a prompt that names one of the skills: it would tell the arm without the skill of it."""
    for name in names:
        mention = find_name(prompt, name)
        if mention is not None:
            message = f"the prompt names the skill under test, {name}"
            hint = "ask for what is wanted, as somebody would who does not know the skill"
            notes.error("case_names_skill", line, message, hint, mention)


def _or(*names: str) -> Any:
    return Field(validation_alias=AliasChoices(*names))


@dataclass(frozen=True, slots=True)
class SkillPrompt:
    """One request, and what should follow from it."""

    __pydantic_config__ = STRICT

    prompt: Annotated[SomeText, _or("prompt", "query")]
    id: Text | int = ""
    """Unique among the prompts of the file; its number where it has none."""
    should_fire: Annotated[bool | None, _or("should_fire", "should_trigger")] = None
    """Whether the skill should be picked for it. None: the file does not say."""
    expected: Annotated[Text, _or("expected", "expected_output")] = ""
    """What a good answer has, for the judge."""
    assertions: Annotated[tuple[SomeText, ...], _or(*_STATEMENTS)] = ()
    """Statements that must be true of a good answer, for the judge."""
    files: tuple[SomeText, ...] = ()
    """Input files, relative to the folder of the file, or to the folder above it."""
    checks: tuple[Annotated[dict[CheckKind, SomeText], Field(min_length=1, max_length=1)], ...] = ()
    """Checks that need no judge."""
    is_answered: Annotated[bool, NOT_READ] = True
    """False for an entry of a trigger set, which only says when the skill should be picked."""
    line: Annotated[int | None, NOT_READ] = None

    @property
    def is_tested(self) -> bool:
        """True if answers to it are compared: it needs the skill, and is more than a trigger."""
        return self.is_answered and self.should_fire is not False


@dataclass(frozen=True, slots=True)
class SkillCases:
    """The cases of one skill in one file."""

    __pydantic_config__ = STRICT

    skill: Annotated[SomeText, _or("skill", "skill_name")]
    prompts: Annotated[tuple[SkillPrompt, ...], Field(min_length=1), _or(*_PROMPTS)]
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)] = ()
    """The rubric of every answer. Empty: the file has none."""
    siblings: tuple[SomeText, ...] = ()
    """Files beside SKILL.md for the arm ``full_siblings``, in their order. Not looked at here."""
    max_sibling_bytes: Annotated[int, Field(ge=1, le=10_000_000)] = MAX_SIBLING_BYTES
    expected_tier: Literal["small", "medium", "large"] | None = None
    """The size that the author expects."""
    path: Annotated[str, NOT_READ] = ""
    line: Annotated[int | None, NOT_READ] = None


def read_case_files(
    files: Iterable[SourceFile], catalog: Catalog, notes: Notes, skill: str | None = None
) -> Iterator[SkillCases]:
    """Yield the cases of the files, by skill and file.

    ``skill`` is the skill of files that name none; without it, the only skill of the catalog is.
    """
    only = catalog.skills[0].name if len(catalog.skills) == 1 else None
    for file in files:
        own = notes.of_file(file.path)
        if file.path.endswith(".json"):
            yield from read_json_cases(file, skill or only, catalog, own)
        elif not file.path.endswith(".jsonl"):
            yield from read_yaml_cases(file, catalog, own)


def read_yaml_cases(file: SourceFile, catalog: Catalog, notes: Notes) -> Iterator[SkillCases]:
    """Yield the cases of a YAML file; of a skill with a fault there are none, and notes."""
    root = yaml_value(file.text, notes)
    if root is None:
        return
    listed = root.value.get("candidates")
    entries = [root]
    if isinstance(listed, list) and len(root.value) == 1:
        entries = [root.at("candidates", number) for number in range(len(listed))]
    for entry in entries:
        before, fields = notes.errors, dict(entry.value) if isinstance(entry.value, dict) else {}
        if isinstance(fields.get("test_prompt"), str):
            fields["test_prompt"] = [fields["test_prompt"]]
        for name, items in fields.items():
            if name in _PROMPTS and isinstance(items, list):
                fields[name] = [
                    {"prompt": item} if isinstance(item, str) else item for item in items
                ]
        cases = checked(SkillCases, entry._replace(value=fields), notes)
        if cases is not None:
            cases = _checked_cases(cases, entry, catalog, notes)
            if notes.errors == before:
                yield replace(cases, path=file.path, line=entry.line("skill"))


def _checked_cases(cases: SkillCases, entry: Located, catalog: Catalog, notes: Notes) -> SkillCases:
    """Return the cases under the catalog's name of the skill, and note what is wrong with them."""
    field = next(name for name in _PROMPTS if name in entry.value)
    # In the document's forms nothing is said of whether the skill should fire.
    fires = True if field == "prompts" else None
    prompts = tuple(
        replace(
            each,
            id=str(each.id) or str(number + 1),
            should_fire=fires if each.should_fire is None else each.should_fire,
            line=entry.line(field, number, "prompt"),
        )
        for number, each in enumerate(cases.prompts)
    )
    skill = known_skill(cases.skill, "skill", entry.line("skill"), catalog, notes)
    _check_prompts(prompts, cases.skill, notes)
    for number, prompt in enumerate(prompts):
        for place, check in enumerate(prompt.checks):
            for kind, value in check.items():
                if fault := Check(kind, value).fault:
                    line = entry.line(field, number, "checks", place)
                    message = f"checks[{place}].{kind} {fault}"
                    notes.error("case_bad_check", line, message, "correct it", value)
    line = entry.line("criteria")
    for fault in criteria_faults(cases.criteria):
        message, _, hint = fault.partition("; ")
        notes.error("case_bad_field", line, message, hint)
    name = skill.name if skill is not None else ""
    siblings = tuple(dict.fromkeys(cases.siblings))
    return replace(cases, skill=name, prompts=prompts, siblings=siblings)


def _check_prompts(prompts: Sequence[SkillPrompt], skill: str, notes: Notes) -> None:
    """Note prompts that occur twice, that name the skill, or that are still to be written."""
    first_of: dict[str, SkillPrompt] = {}
    to_write = [each for each in prompts if each.prompt.startswith(PLACEHOLDER)]
    for prompt in prompts:
        if prompt in to_write:
            continue
        check_prompt(prompt.prompt, [skill], prompt.line, notes)
        first = first_of.setdefault(prompt_key(prompt.prompt), prompt)
        if first is not prompt:
            message = f"the prompt occurs twice (first on line {first.line})"
            hint = "remove one: repeats are what --runs is for"
            notes.error("case_duplicate_prompt", prompt.line, message, hint, prompt.prompt)
    if to_write:
        are = "is" if len(to_write) == 1 else "are"
        message = f"{plural(len(to_write), 'prompt')} {are} still to be written"
        hint = f"replace each line that begins with {PLACEHOLDER} by a real request, or remove it"
        notes.error("case_placeholder", to_write[0].line, message, hint)


def read_json_cases(
    file: SourceFile, default_skill: str | None, catalog: Catalog, notes: Notes
) -> Iterator[SkillCases]:
    """Yield the cases of a JSON file with a list of entries.

    They are about the skill in whose folder the file lies, else the one that it names, else
    ``default_skill``.
    """
    root = json_value(file.text, notes)
    if root is None:
        return
    top = root.value if isinstance(root.value, dict) else {_LIST: root.value}
    entries = top.get(_LIST)
    if not isinstance(entries, list) or not any(map(_is_request, entries)):
        note_not_used(notes)
        return
    named = str(top.get("skill_name") or "").strip()
    name = file.home or named or default_skill
    if name is None:
        hint = "add skill_name to the file, or give --skill NAME"
        notes.error("case_missing_field", 1, "skill_name is missing", hint)
        return
    skill = known_skill(name, "skill_name", 1, catalog, notes)
    if skill is None:
        return
    place = (_LIST,) if isinstance(root.value, dict) else ()
    lines = chain(_entry_lines(file.text), repeat(1))
    read = (
        _json_prompt(root.at(*place, number)._replace(lines={(): line}), number, skill, notes)
        for number, line in zip(range(len(entries)), lines, strict=False)
    )
    prompts = tuple(each for each in read if each is not None)
    if prompts:
        yield SkillCases(skill.name, prompts, path=file.path, line=1)


def _entry_lines(text: str) -> Iterator[int]:
    """Yield the line of each entry in the list of a file, which is JSON."""
    start = _LIST_START.search(text)
    at = start.end() if start else len(text)
    while match := _NEXT.match(text, at):
        yield text.count("\n", 0, match.end()) + 1
        _, at = json.JSONDecoder().raw_decode(text, match.end())


def _is_request(item: Any) -> bool:
    return isinstance(item, dict) and not item.keys().isdisjoint(("prompt", "query"))


def _json_prompt(entry: Located, number: int, skill: Skill, notes: Notes) -> SkillPrompt | None:
    """Return the prompt of an entry; None, and a warning, where it cannot be used."""
    own = Notes(notes.path)
    item = entry.value
    fields = _json_fields(item) if isinstance(item, dict) else item
    prompt = checked(SkillPrompt, entry._replace(value=fields), own)
    if prompt is not None:
        check_prompt(prompt.prompt, [skill.name], entry.line(), own)
    if prompt is None or own.errors:
        first = own.diagnostics[0]
        message = f"{name_of(entry)} is left out: {first.message}"
        notes.warning("eval_left_out", entry.line(), message, first.hint, first.found)
        return None
    is_answered = prompt.should_fire is None or bool(prompt.expected or prompt.assertions)
    name = str(prompt.id) or str(number + 1)
    return replace(prompt, id=name, is_answered=is_answered, line=entry.line())


def _json_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry that are read; statements are texts, or objects with a text."""
    fields = {name: item[name] for name in _JSON_FIELDS if item.get(name) is not None}
    for name in _STATEMENTS & fields.keys():
        items = fields[name] if isinstance(fields[name], list) else [fields[name]]
        texts = (each.get("text", each) if isinstance(each, dict) else each for each in items)
        fields[name] = list(texts)
    return fields


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
        if not prompts:
            continue
        first = AnswerCases(cases.skill, (), (), cases.max_sibling_bytes)
        before = merged.get(cases.skill, first)
        known = {prompt.prompt for prompt in before.prompts}
        new = [prompt for prompt in prompts if prompt.prompt not in known]
        merged[cases.skill] = replace(
            before,
            prompts=(*before.prompts, *new),
            siblings=tuple(dict.fromkeys((*before.siblings, *cases.siblings))),
            expected_tier=before.expected_tier or cases.expected_tier,
        )
    return build_dataset(merged.values(), notes, files)


def _answer_prompt(
    prompt: SkillPrompt, rubric: tuple[Criterion, ...], folders: Sequence[str], notes: Notes
) -> Iterator[AnswerPrompt]:
    """Yield a prompt with its files, unless one of them cannot be read: that is noted."""
    try:
        if any(os.path.basename(name).lower() == "skill.md" for name in prompt.files):
            raise ResourceRefused("SKILL.md is an input file, and the other arm must not see it")
        files = tuple(load_file(name, folders) for name in prompt.files)
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
    yield AnswerPrompt(text, _criteria(prompt, rubric), tuple(checks), files)


def _criteria(prompt: SkillPrompt, rubric: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    """Return what a judge rates: half the rubric of the file, half what the prompt expects.

    Without one of them the other counts alone. A prompt with checks and neither needs no judge;
    one without anything gets the default criteria.
    """
    own = [(f"assertion {number}", text) for number, text in enumerate(prompt.assertions, 1)]
    if prompt.expected:
        own.append(("expected output", f"The answer amounts to this: {prompt.expected}"))
    if not own:
        return rubric or (() if prompt.checks else DEFAULT_CRITERIA)
    share = 0.5 if rubric else 1.0
    statements = (Criterion(name, share / len(own), text) for name, text in own)
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


def _script_files(kind: str, command: str, folders: Sequence[str]) -> tuple[InputFile, ...]:
    """Return the files that the command of a script names."""
    files = []
    for argument in shlex.split(command) if kind == "script" else ():
        with suppress(SkillError):  # an argument that is no file
            files.append(load_file(argument, folders))
    return tuple(files)


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
