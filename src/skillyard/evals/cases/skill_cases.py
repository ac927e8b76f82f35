"""The cases of one skill in YAML.

``evals/<skill>.yaml`` is written once and used by every layer. Rubrics (``rubrics/<skill>.yaml``)
and candidates for size impact (``candidates.yaml``) hold the test prompts of skills for the layers
that compare answers. They do not say whether a router should pick the skill.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import SomeText
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import LocatedValue, Notes, Record, prompt_key
from skillyard.evals.cases.skill_names import check_prompt, known_skill
from skillyard.evals.checks.check import Check, read_checks
from skillyard.evals.conditions.siblings import MAX_SIBLING_BYTES
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion, read_criteria

TIERS = ("small", "medium", "large")
PLACEHOLDER = "TODO"
"""A prompt that begins with this word is still to be written."""


class Owner(NamedTuple):
    """The skill that a file is about, and the catalog that has it."""

    catalog: Catalog
    home: str | None = None
    """The skill in whose folder the file lies. It goes before a name in the file."""
    otherwise: str | None = None
    """The skill of a file that names none."""


@dataclass(frozen=True, slots=True)
class SkillPrompt:
    """One request, and what should follow from it."""

    id: str
    """Unique among the prompts of the file; its number where it has none."""
    prompt: SomeText
    should_fire: bool | None = True
    """Whether the skill should be picked for it. None: the file does not say."""
    expected: str = ""
    """What a good answer has, for the judge."""
    assertions: tuple[str, ...] = ()
    """Statements that must be true of a good answer, for the judge."""
    files: tuple[str, ...] = ()
    """Input files, relative to the folder of the file, or to the folder above it."""
    checks: tuple[Check, ...] = ()
    """Checks that need no judge."""
    is_answered: bool = True
    """False for an entry of a trigger set, which only says when the skill should be picked."""
    line: int | None = None

    @property
    def is_tested(self) -> bool:
        """True if answers to it are compared: it needs the skill, and is more than a trigger."""
        return self.is_answered and self.should_fire is not False


@dataclass(frozen=True, slots=True)
class SkillCases:
    """The cases of one skill in one file."""

    skill: SomeText
    prompts: tuple[SkillPrompt, ...]
    criteria: tuple[Criterion, ...] = ()
    """The rubric of every answer. Empty: the file has none."""
    group: str = ""
    """The group of similar skills in which it may be mistaken for another; empty: none."""
    siblings: tuple[str, ...] = ()
    """Files beside SKILL.md for the arm ``full_siblings``, in their order. Not looked at here."""
    max_sibling_bytes: Annotated[int, Bounds(1, 10_000_000)] = MAX_SIBLING_BYTES
    expected_tier: str | None = None
    """``small``, ``medium`` or ``large``: the size that the author expects, or None."""
    path: str = ""
    line: int | None = None
    source: str = ""
    """The name of the file without its ending, for formats whose ids are not unique; else empty."""

    def prompt_id(self, prompt: SkillPrompt) -> str:
        """Return the id of a prompt among those of all skills."""
        return "/".join(filter(None, (self.skill, self.source, prompt.id)))


def read_skill_cases(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of a file; none, and notes with lines, where one of them is wrong."""
    record = yaml_record(file.text, notes)
    if record is None:
        return []
    skill = record.value("skill", SomeText)
    cases = record.read(
        SkillCases,
        ("group", "siblings"),
        also=("skill", "prompts", "criteria"),
        skill=skill,
        prompts=_read_prompts(record, "prompts", skill, should_fire=True),
        criteria=read_criteria(record) if "criteria" in record else (),
        path=file.path,
        line=record.line_of("skill"),
    )
    return [] if notes.errors else [cases]


def read_rubric(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of the skill that a rubric is named after; none where there is a fault."""
    record = yaml_record(file.text, notes)
    if record is None:
        return []
    record.only(["skill_name", "test_prompts", "criteria"])
    name = record.value("skill_name", SomeText)
    stem = os.path.splitext(os.path.basename(file.path))[0]
    if name and name != stem:
        hint = f"name the file {name}.yaml, or write skill_name: {stem}"
        record.wrong("skill_name", f"differs from the file's name, {stem}", hint, name)
    else:
        known_skill(owner.catalog, name, record, "skill_name")
    prompts = _read_prompts(record, "test_prompts", name)
    criteria = read_criteria(record)
    line = record.line_of("skill_name")
    return [] if notes.errors else [SkillCases(name, prompts, criteria, path=file.path, line=line)]


def read_candidates(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the valid entries of ``candidates: [{skill, test_prompts, …}]``."""
    record = yaml_record(file.text, notes)
    if record is None:
        return []
    record.only(["candidates"])
    record.required("candidates")
    skills: set[str] = set()
    valid = []
    for entry in record.records("candidates"):
        before = notes.errors
        candidate = _candidate(entry, owner)
        if candidate.skill and candidate.skill in skills:
            hint = "put all prompts into one entry"
            entry.wrong("skill", "is a candidate twice", hint, candidate.skill)
        if notes.errors == before:
            valid.append(candidate)
        skills.add(candidate.skill)
    return valid


def _candidate(entry: Record, owner: Owner) -> SkillCases:
    name = entry.value("skill", SomeText)
    skill = known_skill(owner.catalog, name, entry, "skill")
    name = name if skill is None else skill.name
    candidate = entry.read(
        SkillCases,
        ("expected_tier", "siblings", "max_sibling_bytes"),
        also=("skill", "test_prompt", "test_prompts", "criteria"),
        skill=name,
        prompts=_candidate_prompts(entry, name),
        criteria=read_criteria(entry) if "criteria" in entry else DEFAULT_CRITERIA,
        path=entry.notes.path,
        line=entry.line,
    )
    tier = candidate.expected_tier
    if tier is not None and tier not in TIERS:
        entry.wrong("expected_tier", "is no tier", f"write {', '.join(TIERS)}", tier)
    siblings = tuple(dict.fromkeys(candidate.siblings))
    if len(siblings) < len(candidate.siblings):
        message = f"{entry.name_of('siblings')} names a file twice; it is injected once"
        line = entry.line_of("siblings")
        entry.notes.warning("candidate_sibling_twice", line, message, "remove one")
    return replace(candidate, siblings=siblings)


def _candidate_prompts(entry: Record, skill: str) -> tuple[SkillPrompt, ...]:
    """Return the prompts, from ``test_prompts`` or the one ``test_prompt``."""
    if "test_prompt" not in entry:
        return _read_prompts(entry, "test_prompts", skill)
    if "test_prompts" in entry:
        entry.wrong("test_prompt", "stands beside test_prompts", "keep one of the two")
        return ()
    one = entry.fields["test_prompt"]
    listed = LocatedValue(None if one.value is None else [one], entry.line_of("test_prompt"))
    alone = Record({"test_prompt": listed}, entry.line, entry.notes, entry.what)
    return _read_prompts(alone, "test_prompt", skill)


def _read_prompts(
    record: Record, field: str, skill: str, *, should_fire: bool | None = None
) -> tuple[SkillPrompt, ...]:
    """Return a list of prompts, each a text or a mapping.

    ``should_fire`` holds for those that do not say it. Prompts that occur twice, that name the
    skill, or that are still to be written are noted.
    """
    seen: dict[tuple[str, str], SkillPrompt] = {}
    prompts = []
    for number, entry in enumerate(record.some_records(field, "prompt", "prompt"), 1):
        prompt = entry.read(
            SkillPrompt,
            ("prompt", "expected", "assertions", "files"),
            also=("id", "should_fire", "checks"),
            id=entry.value("id", str, "") or str(number),
            should_fire=entry.value("should_fire", bool, should_fire),
            checks=read_checks(entry),
            line=entry.line_of("prompt"),
        )
        prompts.append(prompt)
        if not _is_placeholder(prompt):
            check_prompt(prompt.prompt, [skill], entry.notes, prompt.line)
            _check_unique(prompt, seen, entry)
    to_write = [each.line for each in prompts if _is_placeholder(each)]
    if to_write:
        are = "is" if len(to_write) == 1 else "are"
        record.notes.error(
            "case_placeholder",
            to_write[0],
            f"{plural(len(to_write), 'prompt')} {are} still to be written",
            f"replace each line that begins with {PLACEHOLDER} by a real request, or remove it",
        )
    return tuple(prompts)


def _check_unique(
    prompt: SkillPrompt, seen: dict[tuple[str, str], SkillPrompt], entry: Record
) -> None:
    """Note an id or a prompt that occurred before."""
    for field, value in (("id", prompt.id), ("prompt", prompt.prompt)):
        first = seen.setdefault((field, prompt_key(value)), prompt)
        if value and first is not prompt:
            entry.notes.error(
                f"case_duplicate_{field}",
                prompt.line,
                f"{entry.name_of(field)} occurs twice (first on line {first.line})",
                "remove one: repeats are what --runs is for",
                value,
            )


def _is_placeholder(prompt: SkillPrompt) -> bool:
    return prompt.prompt.startswith(PLACEHOLDER)
