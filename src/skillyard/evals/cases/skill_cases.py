"""The cases of one skill, in the formats that are read.

Skillyard's own YAML (``evals/<skill>.yaml``: ``skill`` and ``prompts``) serves every layer. Rubrics
(``skill_name`` and ``test_prompts``) and lists of ``candidates`` are the forms of the size-impact
document. They do not say whether a router should pick the skill.

JSON is the ``evals.json`` of skill-creator, ``{"skill_name", "evals": [{"id", "prompt",
"expected_output", "files", "expectations"}]}``, and trigger sets, ``[{"query",
"should_trigger"}]``. An entry that cannot be used is left out with a warning, and so is a field
that is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Skill
from skillyard.evals.arms import MAX_SIBLING_BYTES
from skillyard.evals.cases.reading import (
    NOT_READ,
    Located,
    Notes,
    SomeText,
    SourceFile,
    Text,
    checked,
    json_item_lines,
    json_value,
    known_skill,
    name_of,
    note_not_used,
    prompt_key,
    quote,
    yaml_value,
)
from skillyard.evals.checks import Check, CheckKind
from skillyard.evals.criteria import STRICT, Criterion, criteria_faults

PLACEHOLDER = "TODO"
"""A prompt that begins with this word is still to be written."""
_ADVISED_CRITERIA = range(3, 7)
_PROMPTS = ("prompts", "test_prompts", "test_prompt")
_LIST = "evals"
_STATEMENTS = ("assertions", "expectations")
_JSON_FIELDS = (
    "id", "prompt", "query", "expected_output", *_STATEMENTS, "files", "should_trigger",
)  # fmt: skip
_DESCRIPTIVE = ("name", "category", "description", "notes", "note", "tags", "reason", "version")
"""Fields of JSON that describe an entry or a file and change nothing in a run."""
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
    source: Annotated[str, NOT_READ] = ""
    """The name of the file without its ending, for formats whose ids are not unique; else empty."""

    def prompt_id(self, prompt: SkillPrompt) -> str:
        """Return the id of a prompt among those of all skills."""
        return "/".join(filter(None, (self.skill, self.source, str(prompt.id))))


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
    if cases.criteria and len(cases.criteria) not in _ADVISED_CRITERIA:
        hint = "3 to 6 are advised: fewer say little, more are not kept apart by judges"
        notes.warning("rubric_criteria_count", line, f"{len(cases.criteria)} criteria", hint)
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
    top = root.value if isinstance(root.value, dict) else {}
    place = (_LIST,) if top else ()
    entries = top.get(_LIST) if top else root.value
    if not isinstance(entries, list) or not any(map(_is_request, entries)):
        note_not_used(notes)
        return
    skill = _skill_of(str(top.get("skill_name") or "").strip(), file, default_skill, catalog, notes)
    if skill is None:
        return
    lines = enumerate(json_item_lines(file.text, *place))
    root = Located(root.value, {(): 1, **{(*place, number): line for number, line in lines}})
    unread = dict.fromkeys(n for n in top if n not in (_LIST, "skill_name", *_DESCRIPTIVE))
    read = (
        _json_prompt(root.at(*place, number), number, skill, notes, unread)
        for number in range(len(entries))
    )
    prompts = tuple(each for each in read if each is not None)
    if unread:
        hint = "write what matters as assertions, or as checks in a case file of skillyard"
        notes.warning("eval_unread_fields", 1, f"not read: {', '.join(unread)}", hint)
    if prompts:
        # The entries of trigger sets are only numbered: their ids need the name of the file.
        is_trigger_set = not any(prompt.is_answered for prompt in prompts)
        source = os.path.splitext(os.path.basename(file.path))[0] if is_trigger_set else ""
        yield SkillCases(skill.name, prompts, path=file.path, line=1, source=source)


def _is_request(item: Any) -> bool:
    return isinstance(item, dict) and not item.keys().isdisjoint(("prompt", "query"))


def _skill_of(
    named: str, file: SourceFile, default_skill: str | None, catalog: Catalog, notes: Notes
) -> Skill | None:
    """Return the skill that a JSON file is about; None, and a note, without one."""
    names = [name for name in (file.home, named, default_skill) if name]
    if not names:
        hint = "add skill_name to the file, or give --skill NAME"
        notes.error("case_missing_field", 1, "skill_name is missing", hint)
    tried = Notes(file.path)
    skills = (known_skill(name, "skill_name", 1, catalog, tried) for name in names)
    skill = next(filter(None, skills), None)
    if skill is None:
        notes.diagnostics += tried.diagnostics[:1]
    elif named not in ("", skill.name):
        what = f"skill_name is {quote(named)}, and {skill.name} is evaluated"
        notes.warning("eval_other_skill", 1, what, f"write {skill.name}", named)
    return skill


def _json_prompt(
    entry: Located, number: int, skill: Skill, notes: Notes, unread: dict[str, None]
) -> SkillPrompt | None:
    """Return the prompt of an entry; None, and a warning, where it cannot be used."""
    own = Notes(notes.path)
    item = entry.value
    fields = _json_fields(item, unread) if isinstance(item, dict) else item
    prompt = checked(SkillPrompt, entry._replace(value=fields), own)
    if prompt is not None:
        check_prompt(prompt.prompt, [skill.name], entry.line(), own)
    if prompt is None or own.errors:
        first = own.diagnostics[0]
        message = f"{name_of(entry)} is left out: {first.message}"
        notes.warning("eval_left_out", entry.line(), message, first.hint, first.found)
        return None
    judged = bool(prompt.expected or prompt.assertions)
    return replace(
        prompt,
        id=str(prompt.id) or str(number + 1),
        is_answered=prompt.should_fire is None or judged,
        line=entry.line(),
    )


def _json_fields(item: dict[str, Any], unread: dict[str, None]) -> dict[str, Any]:
    """Return the fields of an entry that are read; statements are texts, or objects with a text."""
    fields = {name: item[name] for name in _JSON_FIELDS if item.get(name) is not None}
    for name in _STATEMENTS & fields.keys():
        items = fields[name] if isinstance(fields[name], list) else [fields[name]]
        texts = [each.get("text") if isinstance(each, dict) else each for each in items]
        fields[name] = [text for text in texts if isinstance(text, str)]
        if len(fields[name]) < len(texts):
            unread[name] = None
    unread.update(dict.fromkeys(n for n in item if n not in (*_JSON_FIELDS, *_DESCRIPTIVE)))
    return fields
