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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Skill
from skillyard.evals.cases.reading import (
    STRICT,
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
from skillyard.evals.checks.outcome import Check, CheckKind
from skillyard.evals.conditions.arms import MAX_SIBLING_BYTES
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion, criteria_faults

PLACEHOLDER = "TODO"
"""A prompt that begins with this word is still to be written."""
_ADVISED_CRITERIA = range(3, 7)
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
class PromptEntry:
    """One request as a file has it, and what should follow from it."""

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


@dataclass(frozen=True, slots=True)
class SkillPrompt(PromptEntry):
    """One request of a skill."""

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

    skill: str
    prompts: tuple[SkillPrompt, ...]
    criteria: tuple[Criterion, ...] = ()
    """The rubric of every answer. Empty: the file has none."""
    siblings: tuple[str, ...] = ()
    """Files beside SKILL.md for the arm ``full_siblings``, in their order. Not looked at here."""
    max_sibling_bytes: int = MAX_SIBLING_BYTES
    expected_tier: str | None = None
    """``small``, ``medium`` or ``large``: the size that the author expects, or None."""
    path: str = ""
    line: int | None = None
    source: str = ""
    """The name of the file without its ending, for formats whose ids are not unique; else empty."""

    def prompt_id(self, prompt: SkillPrompt) -> str:
        """Return the id of a prompt among those of all skills."""
        return "/".join(filter(None, (self.skill, self.source, str(prompt.id))))


@dataclass(frozen=True, slots=True)
class _SkillEntry:
    """The cases of a skill as a YAML file has them."""

    __pydantic_config__ = STRICT

    skill: Annotated[SomeText, _or("skill", "skill_name")]
    prompts: Annotated[
        tuple[PromptEntry, ...], Field(min_length=1), _or("prompts", "test_prompts", "test_prompt")
    ]
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)] | None = None
    siblings: tuple[SomeText, ...] = ()
    max_sibling_bytes: Annotated[int, Field(ge=1, le=10_000_000)] = MAX_SIBLING_BYTES
    expected_tier: Literal["small", "medium", "large"] | None = None


@dataclass(frozen=True, slots=True)
class _Candidates:
    __pydantic_config__ = STRICT

    candidates: tuple[dict[str, Any], ...]


def read_yaml_cases(file: SourceFile, catalog: Catalog, notes: Notes) -> Iterator[SkillCases]:
    """Yield the cases of a YAML file; of a skill with a fault there are none, and notes."""
    root = yaml_value(file.text, notes)
    if root is None:
        return
    if "candidates" not in root.value:
        yield from _skill_cases(root, file, catalog, notes)
    elif (read := checked(_Candidates, root, notes)) is not None:
        for number in range(len(read.candidates)):
            entry = root.at("candidates", number)
            for cases in _skill_cases(entry, file, catalog, notes):
                yield replace(cases, criteria=cases.criteria or DEFAULT_CRITERIA)


def _skill_cases(
    entry: Located, file: SourceFile, catalog: Catalog, notes: Notes
) -> Iterator[SkillCases]:
    """Yield the cases of one skill, unless one of them is wrong."""
    before, fields = notes.errors, dict(entry.value)
    if isinstance(fields.get("test_prompt"), str):
        fields["test_prompt"] = [fields["test_prompt"]]
    for name, prompts in fields.items():
        if name.endswith(("prompts", "prompt")) and isinstance(prompts, list):
            fields[name] = [{"prompt": each} if isinstance(each, str) else each for each in prompts]
    read = checked(_SkillEntry, entry._replace(value=fields), notes)
    if read is None:
        return
    fires = "prompts" in fields  # in the document's forms nothing is said of it
    name = next(name for name in fields if name.endswith(("prompts", "prompt")))
    prompts = tuple(
        _prompt(
            each if each.should_fire is not None or not fires else replace(each, should_fire=True),
            number,
            entry.line(name, number, "prompt"),
        )
        for number, each in enumerate(read.prompts)
    )
    skill = known_skill(read.skill, "skill", entry.line("skill"), catalog, notes)
    _check_prompts(prompts, read.skill, notes)
    for number, prompt in enumerate(prompts):
        for place, check in enumerate(prompt.checks):
            for kind, value in check.items():
                if fault := Check(kind, value).fault:
                    line = entry.line(name, number, "checks", place)
                    message = f"checks[{place}].{kind} {fault}"
                    notes.error("case_bad_check", line, message, "correct it", value)
    for fault in criteria_faults(read.criteria or ()):
        message, _, hint = fault.partition("; ")
        notes.error("case_bad_field", entry.line("criteria"), message, hint)
    if read.criteria and len(read.criteria) not in _ADVISED_CRITERIA:
        hint = "3 to 6 are advised: fewer say little, more are not kept apart by judges"
        message = f"there are {len(read.criteria)} criteria"
        notes.warning("rubric_criteria_count", entry.line("criteria"), message, hint)
    if skill is not None and notes.errors == before:
        yield SkillCases(
            skill.name,
            prompts,
            read.criteria or (),
            tuple(dict.fromkeys(read.siblings)),
            read.max_sibling_bytes,
            read.expected_tier,
            file.path,
            entry.line("skill"),
        )


def _prompt(
    entry: PromptEntry, number: int, line: int | None, *, is_answered: bool = True
) -> SkillPrompt:
    fields = {**asdict(entry), "id": str(entry.id) or str(number + 1)}
    return SkillPrompt(**fields, is_answered=is_answered, line=line)


def _check_prompts(prompts: Sequence[SkillPrompt], skill: str, notes: Notes) -> None:
    """Note prompts that occur twice, that name the skill, or that are still to be written."""
    seen: dict[tuple[str, str], SkillPrompt] = {}
    to_write = [each for each in prompts if each.prompt.startswith(PLACEHOLDER)]
    for prompt in prompts:
        if prompt in to_write:
            continue
        check_prompt(prompt.prompt, [skill], prompt.line, notes)
        for field, value in (("id", str(prompt.id)), ("prompt", prompt.prompt)):
            first = seen.setdefault((field, prompt_key(value)), prompt)
            if first is not prompt:
                message = f"the {field} occurs twice (first on line {first.line})"
                hint = "remove one: repeats are what --runs is for"
                notes.error(f"case_duplicate_{field}", prompt.line, message, hint, value)
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
    unread = Counter(name for name in top if name not in (_LIST, "skill_name", *_DESCRIPTIVE))
    read = (
        _json_prompt(root.at(*place, number), number, skill, notes, unread)
        for number in range(len(entries))
    )
    prompts = tuple(each for each in read if each is not None)
    if unread:
        names = (f"{name} ({count} times)" if count > 1 else name for name, count in unread.items())
        hint = "write what matters as assertions, or as checks in a case file of skillyard"
        notes.warning("eval_unread_fields", 1, f"not read: {', '.join(names)}", hint)
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
    skill, tried = None, Notes(file.path)
    for name in names:
        skill = skill or known_skill(name, "skill_name", 1, catalog, tried)
    if skill is None:
        notes.diagnostics += tried.diagnostics[:1]
    elif named and known_skill(named, "", 1, catalog, tried) is not skill:
        what = f"skill_name is {quote(named)}, but {skill.name} is evaluated"
        notes.warning("eval_other_skill", 1, what, f"write {skill.name}", named)
    return skill


def _json_prompt(
    entry: Located, number: int, skill: Skill, notes: Notes, unread: Counter[str]
) -> SkillPrompt | None:
    """Return the prompt of an entry; None, and a warning, where it cannot be used."""
    own, fields = Notes(notes.path), entry.value
    if isinstance(fields, dict):
        unread.update(name for name in fields if name not in (*_JSON_FIELDS, *_DESCRIPTIVE))
        fields = {name: fields[name] for name in _JSON_FIELDS if fields.get(name) is not None}
        for name in _STATEMENTS & fields.keys():
            fields[name] = list(_texts(fields[name], name, unread))
    read = checked(PromptEntry, entry._replace(value=fields), own)
    if read is not None:
        check_prompt(read.prompt, [skill.name], entry.line(), own)
    if read is None or own.errors:
        first = own.diagnostics[0]
        message = f"{name_of(entry)} is left out: {first.message}"
        notes.warning("eval_left_out", entry.line(), message, first.hint, first.found)
        return None
    judged = bool(read.expected or read.assertions)
    return _prompt(read, number, entry.line(), is_answered=read.should_fire is None or judged)


def _texts(items: Any, field: str, unread: Counter[str]) -> Iterator[Any]:
    """Yield the statements of a field: texts, or objects with a text."""
    for item in items if isinstance(items, list) else [items]:
        fields = item if isinstance(item, dict) else {"text": item}
        unread.update(f"{field}.{name}" for name in fields if name not in ("id", "text"))
        if isinstance(fields.get("text"), str):
            yield fields["text"]
        else:
            unread[field] += 1
