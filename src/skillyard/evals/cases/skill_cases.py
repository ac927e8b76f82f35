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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.formats.yaml_guard import Node, Scalar
from skillyard.evals.cases.reading import (
    STRICT,
    Located,
    Notes,
    SomeText,
    SourceFile,
    checked,
    json_item_lines,
    json_value,
    located,
    prompt_key,
    yaml_nodes,
)
from skillyard.evals.checks.outcome import Check, read_checks
from skillyard.evals.conditions.arms import MAX_SIBLING_BYTES
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion, check_criteria

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
    words = [part for part in re.split(r"[-_\s]+", name.strip()) if part]
    if not words or _lacks_one(prompt, words):
        return None
    parts = [re.escape(part) for part in words]
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


def _lacks_one(prompt: str, words: list[str]) -> bool:
    """Tell that a name cannot be there, without a pattern compiled for it."""
    if not prompt.isascii() or not all(word.isascii() for word in words):
        return False  # the cases of other letters are for the pattern
    lowered = prompt.lower()
    return any(word.lower() not in lowered for word in words)


def check_prompt(
    prompt: str, names: Iterable[str], notes: Notes, line: int | None, *, severe: bool = True
) -> None:
    """Note a prompt that names one of the skills; an error, or a warning where not ``severe``."""
    for name in names:
        mention = find_name(prompt, name)
        if mention is None:
            continue
        note = notes.error if severe else notes.warning
        note(
            "case_names_skill",
            line,
            f"the prompt names the skill under test, {name}",
            "ask for what is wanted, as somebody would who does not know the skill",
            mention,
        )


PLACEHOLDER = "TODO"
"""A prompt that begins with this word is still to be written."""
_DOCUMENTS = {"skill_name": "skill", "test_prompts": "prompts", "test_prompt": "prompts"}
"""Fields of the size-impact document, and what they are called here."""
_LIST = "evals"
_PROMPT = ("prompt", "query")
_STATEMENTS = ("assertions", "expectations")
_DESCRIPTIVE = ("name", "category", "description", "notes", "note", "tags", "reason", "version")
"""Fields of JSON that describe an entry or a file and change nothing in a run."""
_READ = ("id", *_PROMPT, "expected_output", *_STATEMENTS, "files", "should_trigger", *_DESCRIPTIVE)


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
    prompt: str
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
        return "/".join(filter(None, (self.skill, self.source, prompt.id)))


@dataclass(frozen=True, slots=True)
class _PromptEntry:
    """A prompt as a YAML file has it."""

    __pydantic_config__ = STRICT

    prompt: SomeText
    id: str = ""
    should_fire: bool | None = None
    expected: str = ""
    assertions: tuple[SomeText, ...] = ()
    files: tuple[SomeText, ...] = ()
    checks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class _SkillEntry:
    """The cases of a skill as a YAML file has them."""

    __pydantic_config__ = STRICT

    skill: SomeText
    prompts: Annotated[tuple[_PromptEntry, ...], Field(min_length=1)]
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)] | None = None
    siblings: tuple[SomeText, ...] = ()
    max_sibling_bytes: Annotated[int, Field(ge=1, le=10_000_000)] = MAX_SIBLING_BYTES
    expected_tier: Literal["small", "medium", "large"] | None = None


@dataclass(frozen=True, slots=True)
class _JsonEntry:
    """An entry of a JSON file, without what is read apart."""

    prompt: SomeText
    id: str | int = ""
    should_trigger: bool | None = None
    expected_output: str = ""
    assertions: tuple[SomeText, ...] = ()
    files: tuple[SomeText, ...] = ()


def read_yaml_cases(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of a YAML file; of a skill with a fault there are none, and notes."""
    nodes = yaml_nodes(file.text, notes)
    if nodes is None:
        return []
    entries = nodes.get("candidates")
    if "candidates" not in nodes:
        return [each for each in [_skill(nodes, (), file, notes)] if each is not None]
    if len(nodes) > 1 or not isinstance(entries, list):
        hint = "put the skills below `candidates:`, each as `- skill: name`"
        notes.error("case_bad_field", 1, "candidates is not the one list of the file", hint)
        return []
    read = []
    for number, entry in enumerate(entries):
        fields: dict[str, Node] = entry if isinstance(entry, dict) else {}
        each = _skill(fields, ("candidates", number), file, notes)
        if each is not None:
            read.append(each if each.criteria else replace(each, criteria=DEFAULT_CRITERIA))
    twice = [name for name, count in Counter(each.skill for each in read).items() if count > 1]
    for name in twice:
        hint = "put all prompts into one entry"
        notes.error("case_bad_field", 1, f"{name} is a candidate twice", hint, name)
    return [each for each in read if each.skill not in twice]


def _skill(
    nodes: dict[str, Node], place: tuple[str | int, ...], file: SourceFile, notes: Notes
) -> SkillCases | None:
    """Return the cases of one skill; None, and notes, where one of them is wrong."""
    fires = "prompts" in nodes or None  # in the document's forms nothing is said of it
    renamed = {_DOCUMENTS.get(name, name): node for name, node in nodes.items()}
    if isinstance(one := nodes.get("test_prompt"), Scalar):
        renamed["prompts"] = [one]
    if isinstance(prompts := renamed.get("prompts"), list):
        renamed["prompts"] = [
            {"prompt": each} if isinstance(each, Scalar) and not each.null else each
            for each in prompts
        ]
    entry, before = located(renamed), notes.errors
    if len(renamed) < len(nodes):
        hint = "keep one of the two"
        notes.error("case_bad_field", entry.line(), "a field is there under two names", hint)
    what = "".join(f"[{key}]" if isinstance(key, int) else key for key in place)
    read = checked(_SkillEntry, entry, notes, what)
    if read is None:
        return None
    read_prompts = tuple(
        SkillPrompt(
            each.id or str(number + 1),
            each.prompt,
            fires if each.should_fire is None else each.should_fire,
            each.expected,
            each.assertions,
            each.files,
            read_checks(each.checks, entry.at("prompts", number), notes),
            line=entry.line("prompts", number, "prompt"),
        )
        for number, each in enumerate(read.prompts)
    )
    _check_prompts(read_prompts, read.skill, notes)
    check_criteria(read.criteria or (), entry.line("criteria"), notes)
    if notes.errors > before:
        return None
    return SkillCases(
        read.skill,
        read_prompts,
        read.criteria or (),
        tuple(dict.fromkeys(read.siblings)),
        read.max_sibling_bytes,
        read.expected_tier,
        file.path,
        entry.line("skill"),
    )


def _check_prompts(prompts: Sequence[SkillPrompt], skill: str, notes: Notes) -> None:
    """Note prompts that occur twice, that name the skill, or that are still to be written."""
    seen: dict[tuple[str, str], SkillPrompt] = {}
    to_write = [each for each in prompts if each.prompt.startswith(PLACEHOLDER)]
    for prompt in prompts:
        if prompt in to_write:
            continue
        check_prompt(prompt.prompt, [skill], notes, prompt.line)
        for field, value in (("id", prompt.id), ("prompt", prompt.prompt)):
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


def json_entries(value: Any) -> list[Any]:
    """Return the entries of a JSON file of requests; empty for any other content."""
    entries = value.get(_LIST) if isinstance(value, dict) else value
    items = entries if isinstance(entries, list) else []
    requests = [
        each for each in items if isinstance(each, dict) and not each.keys().isdisjoint(_PROMPT)
    ]
    return items if requests else []


def read_json_cases(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of a JSON file. One without entries, or without a skill, is noted."""
    root = json_value(file.text, notes)
    if root is None:
        return []
    top = root.value if isinstance(root.value, dict) else {}
    entries, skill = json_entries(root.value), _skill_of(top, owner, notes)
    if not entries:
        hint = 'write {"skill_name": …, "evals": [{"id": …, "prompt": …}]}'
        notes.error("eval_no_list", 1, "there is no list of entries", hint)
    elif not skill:
        hint = "add skill_name to the file, or give --skill NAME"
        notes.error("case_missing_field", 1, "skill_name is missing", hint)
    if not entries or not skill:
        return []
    unread: Counter[str] = Counter()
    field = _LIST if top else ""
    lines = json_item_lines(file.text, field) or [1] * len(entries)
    read = [
        _json_prompt(entry, f"{field}[{number}]", str(number + 1), line, skill, notes, unread)
        for number, (entry, line) in enumerate(zip(entries, lines, strict=True))
    ]
    unread.update(name for name in top if name not in (_LIST, "skill_name", *_DESCRIPTIVE))
    if unread:
        names = (f"{name} ({count} times)" if count > 1 else name for name, count in unread.items())
        hint = "write what matters as assertions, or as checks in a case file of skillyard"
        notes.warning("eval_unread_fields", 1, f"not read: {', '.join(names)}", hint)
    prompts = tuple(_usable([each for each in read if each is not None], notes))
    if not prompts:
        return []
    # The entries of trigger sets are only numbered: their ids need the name of the file.
    is_trigger_set = not any(prompt.is_answered for prompt in prompts)
    source = os.path.splitext(os.path.basename(file.path))[0] if is_trigger_set else ""
    return [SkillCases(skill, prompts, path=file.path, line=1, source=source)]


def _skill_of(top: Mapping[str, Any], owner: Owner, notes: Notes) -> str:
    """Return the skill of the file. A name beside that of its own folder is noted."""
    name = top.get("skill_name")
    name = name.strip() if isinstance(name, str) else ""
    if owner.home is not None and name not in ("", owner.home):
        home = owner.home
        what = f"skill_name is not that of the skill it lies in, {home}; that one is evaluated"
        notes.warning("eval_other_skill", 1, what, f"write {home}", name)
    return owner.home or name or owner.otherwise or ""


def _json_prompt(
    item: Any,
    what: str,
    default_id: str,
    line: int,
    skill: str,
    notes: Notes,
    unread: Counter[str],
) -> SkillPrompt | None:
    """Return the prompt of an entry; None, and a warning, where it cannot be used."""
    if not isinstance(item, dict):
        notes.warning("json_not_object", line, f"{what} is not an object", "write {…}")
        return None
    own = Notes(notes.path)
    used = [name for name in _READ if name not in _DESCRIPTIVE]
    fields = {name: item[name] for name in used if item.get(name) is not None}
    prompts = [fields.pop(name) for name in _PROMPT if name in fields]
    fields |= {"prompt": prompts[0]} if prompts else {}
    texts = [text for name in _STATEMENTS for text in _texts(fields.pop(name, None), name, unread)]
    entry = checked(_JsonEntry, Located({**fields, "assertions": texts}, {(): line}), own, what)
    if entry is not None:
        fires, judged = entry.should_trigger, bool(entry.expected_output or texts)
        prompt = SkillPrompt(
            " ".join(str(entry.id).split()) or default_id,
            entry.prompt,
            fires,
            entry.expected_output,
            entry.assertions,
            entry.files,
            is_answered=fires is None or judged,
            line=line,
        )
        check_prompt(prompt.prompt, [skill], own, line, severe=prompt.is_answered)
    errors = [each for each in own.diagnostics if each.severity == "error"]
    if entry is None or errors:
        message = f"{what} is left out: {errors[0].message}"
        notes.warning("eval_left_out", line, message, errors[0].hint, errors[0].found)
        return None
    notes.diagnostics += own.diagnostics
    unread.update(name for name in item if name not in _READ)
    return prompt


def _texts(items: Any, field: str, unread: Counter[str]) -> Iterator[Any]:
    """Yield the statements of a field: texts, or objects with a text."""
    for item in items if isinstance(items, list) else ([] if items is None else [items]):
        fields = item if isinstance(item, dict) else {"text": item}
        unread.update(f"{field}.{name}" for name in fields if name not in ("id", "text"))
        if isinstance(fields.get("text"), str):
            yield fields["text"]
        else:
            unread[field] += 1


def _usable(prompts: list[SkillPrompt], notes: Notes) -> Iterator[SkillPrompt]:
    """Yield the prompts, each with an id of its own.

    Entries of a trigger set that do not say whether to trigger are left out.
    """
    is_trigger_set = any(prompt.should_fire is not None for prompt in prompts)
    seen: Counter[str] = Counter()
    for prompt in prompts:
        judged = prompt.expected or prompt.assertions
        if is_trigger_set and prompt.should_fire is None and not judged:
            what = f"the entry {prompt.id} is left out: should_trigger is missing"
            notes.warning("eval_left_out", prompt.line, what, "write true or false")
            continue
        seen[prompt.id] += 1
        again = seen[prompt.id]
        yield replace(prompt, id=f"{prompt.id}-{again}") if again > 1 else prompt
