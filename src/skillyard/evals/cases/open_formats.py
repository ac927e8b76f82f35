"""Reader of JSON cases of other tools: ``evals.json`` of skill-creator, and trigger sets.

Both are a list of entries, alone or in a field of an object. Tools and authors name the fields
differently; the tables below list the names that public files use. An entry that cannot be used is
left out with a warning, and so is a field whose content is not read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.foreign_file import ForeignFile, first_text
from skillyard.evals.cases.parser import json_items, json_root
from skillyard.evals.cases.records import LocatedValue, Notes, Record, plain
from skillyard.evals.cases.skill_cases import Owner, SkillCases, SkillPrompt
from skillyard.evals.checks.check import KINDS, Check, find_fault
from skillyard.evals.fields import SomeText

__all__ = ["is_case_list", "read_json_cases"]

_LISTS: Mapping[str, bool | None] = {
    **dict.fromkeys(
        ("evals", "cases", "tests", "test_cases", "queries", "scenarios", "prompts", "examples")
    ),
    **dict.fromkeys(("should_trigger", "positive", "positives", "should_fire"), True),
    **dict.fromkeys(("should_not_trigger", "negative", "negatives", "should_not_fire"), False),
}
"""Fields that hold a list of entries, and whether the skill should fire for these."""
_SKILL = ("skill_name", "skill", "target_skill", "target")
_NOBODY = ("none", "null", "n/a", "-")
_PROMPT = ("prompt", "query", "user_prompt", "input", "question", "task", "message")
_ID = ("id", "eval_id", "name", "eval_name")
_FIRES = ("should_trigger", "should_activate", "should_fire", "expected_trigger", "trigger")
_EXPECTED = (
    "expected_output",
    "expected",
    "expected_result",
    "expected_response",
    "expected_answer",
)
_STATEMENTS = (
    *("assertions", "expectations", "expected_behavior", "expected_behaviors", "criteria"),
    *("success_criteria", "rubric", "deterministic_assertions", "must", "pass_criteria"),
)
_FILES = ("files", "input_files", "fixtures")
_CHECK_LISTS = {
    "contains": ("must_contain", "must_include", "expected_keywords", "contains"),
    "not_contains": ("must_not_contain", "must_not_include", "not_contains", "forbidden"),
    "regex": ("must_have", "must_match"),
    "not_regex": ("must_not_have", "must_not_match"),
}
"""Fields of an entry that hold lists of texts or patterns, by the check that they become."""
_STATEMENT = (
    *("text", "assertion", "expectation", "pass_if", "check", "description", "statement"),
    *("criterion", "value", "claim"),
)
_STATEMENT_NOTES = frozenset(["id", "name", "type", "dimension", "weight", "kind", "category"])
_DESCRIPTIVE = frozenset(
    [
        *("id", "name", "title", "category", "description", "notes", "note", "tags", "comment"),
        *("rationale", "reason", "why", "difficulty", "priority", "type", "kind", "version"),
        *("intent", "$schema", "skills", "eval_name", "eval_id", "standard", "method", "_comment"),
        *("author", "created", "updated", "language", "lang", "metadata", "skill_path"),
    ]
)
"""Fields that describe an entry or a file and change nothing in a run."""
_READ = frozenset(
    [
        *(*_SKILL, *_PROMPT, *_ID, *_FIRES, *_EXPECTED, *_STATEMENTS, *_FILES, *_DESCRIPTIVE),
        *(name for names in _CHECK_LISTS.values() for name in names),
    ]
)
"""The fields of an entry that are read, or that describe it."""


def is_case_list(root: LocatedValue) -> bool:
    """True for a JSON file with a list of requests, in any of the forms read here."""
    return any(
        any(name in item.value for name in _PROMPT)
        if isinstance(item.value, dict)
        else isinstance(item.value, str) and fires is not None
        for _, items, fires in _lists_of(root)
        for item in items
    )


def read_json_cases(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of a file by skill.

    An entry may name its skill itself. One without a skill, and a file without entries, is noted.
    """
    root = json_root(file.text, notes)
    if root is None:
        return []
    top = root.value if isinstance(root.value, dict) else {}
    of_file = owner._replace(home=_file_skill(plain(top), owner.home, notes) or None)
    foreign = ForeignFile(file, of_file, notes)
    entries = list(_entries_of(root, file, notes))
    if not entries and not notes.errors:
        hint = 'write {"skill_name": …, "evals": [{"id": …, "prompt": …}]}'
        notes.error("eval_no_list", 1, "there is no list of entries", hint)
    for number, (record, fires) in enumerate(entries, 1):
        _add_entry(record, fires, number, foreign)
    nameless = len(foreign.prompts.pop("", []))
    if nameless:
        note = notes.warning if foreign.prompts else notes.error
        message = f"skill_name is missing; {nameless} entries are left out"
        note("case_missing_field", 1, message, "add skill_name to the file, or give --skill NAME")
    foreign.unread.update(name for name in top if name not in (*_LISTS, *_DESCRIPTIVE, *_SKILL))
    hint = "write what matters as assertions, or as checks in a case file of skillyard"
    foreign.warn_unread("not read", hint)
    cases = (
        _with_unique_ids(_without_half_triggers(each, notes))
        for each in foreign.skill_cases(line=1)
    )
    return [each for each in cases if each.prompts]


def _lists_of(root: LocatedValue) -> list[tuple[str | None, list[LocatedValue], bool | None]]:
    """Return the lists of entries: their field, the entries, and whether they should fire."""
    if isinstance(root.value, list):
        return [(None, root.value, None)]
    top = root.value if isinstance(root.value, dict) else {}
    return [
        (name, top[name].value, fires)
        for name, fires in _LISTS.items()
        if name in top and isinstance(top[name].value, list)
    ]


def _file_skill(top: Mapping[str, Any], home: str | None, notes: Notes) -> str:
    """Return the skill of the file. A name beside that of its own folder is noted."""
    name = first_text(top, _SKILL)
    if home is not None and name not in ("", home):
        what = f"skill_name is not that of the skill it lies in, {home}; that one is evaluated"
        notes.warning("eval_other_skill", 1, what, f"write {home}", name)
    return home or name


def _entries_of(
    root: LocatedValue, file: SourceFile, notes: Notes
) -> Iterator[tuple[Record, bool | None]]:
    """Yield the entries as records, each with whether its list says that the skill should fire."""
    for field, items, fires in _lists_of(root):
        lines = json_items(file.text, field)
        for number, (item, line) in enumerate(zip(items, lines, strict=True)):
            what = f"{field or ''}[{number}]"
            if isinstance(item.value, dict):
                yield Record(item.value, line, notes, what), fires
            elif isinstance(item.value, str) and fires is not None:
                yield Record({"query": item}, line, notes, what), fires
            else:
                notes.warning("json_not_object", line, f"{what} is not an object", "write {…}")


def _add_entry(record: Record, fires: bool | None, number: int, foreign: ForeignFile) -> None:
    """Add the prompt of an entry, under an empty name if it has no skill.

    An entry that cannot be used is left out.
    """
    notes = Notes(record.notes.path)
    entry = Record(record.fields, record.line, notes)
    values: dict[str, Any] = {name: plain(value) for name, value in record.fields.items()}
    named = first_text(values, _SKILL) or next(iter(_texts(entry, "skills")), "")
    named = "" if named.lower() in _NOBODY else named
    skill = foreign.owner.skill_of(named)
    is_own = bool(named) and skill == named
    if is_own and not foreign.check_skill(record, skill, foreign.owner.otherwise):
        return
    fires = _fires(entry, fires)
    statements, checks = _statements(values, foreign.unread)
    checks += _listed_checks(entry)
    # A list of expected texts is among the statements.
    field = next((name for name in _EXPECTED if isinstance(values.get(name), str)), "")
    expected = entry.value(field, str, "")
    prompt = SkillPrompt(
        _identity(values, number),
        entry.value(next((name for name in _PROMPT if name in entry), _PROMPT[0]), SomeText),
        fires,
        expected,
        statements,
        tuple(path for name in _FILES for path in _texts(entry, name)),
        checks,
        is_answered=fires is None or bool(expected or statements or checks),
        line=record.line,
    )
    foreign.unread.update(name for name in values if name not in _READ)
    foreign.add(record, skill, prompt, notes)


def _fires(entry: Record, fires: bool | None) -> bool | None:
    for name in _FIRES:
        if isinstance(entry.raw(name), bool):
            return bool(entry.raw(name))
        if name in _FIRES[:3]:
            entry.value(name, bool, None)  # notes what it is instead
    return fires


def _statements(
    values: Mapping[str, Any], unread: Counter[str]
) -> tuple[tuple[str, ...], tuple[Check, ...]]:
    """Return the statements for the judge, and the checks among them.

    Some tools write each statement as an object. One with ``type`` and ``value`` is a check.
    """
    texts: list[str] = []
    checks: list[Check] = []
    for name in (*_STATEMENTS, *_EXPECTED):
        value = values.get(name)
        if isinstance(value, str) and name in _STATEMENTS:
            texts.append(value)
        for item in value if isinstance(value, list) else ():
            fields = item if isinstance(item, dict) else {}
            check = _typed_check(fields)
            text = item.strip() if isinstance(item, str) else first_text(fields, _STATEMENT)
            if check is not None:
                checks.append(check)
            elif text:
                texts.append(text)
                read = (*_STATEMENT, *_STATEMENT_NOTES)
                unread.update(f"{name}.{field}" for field in fields if field not in read)
            else:
                unread[name] += 1
    return tuple(texts), tuple(checks)


def _typed_check(item: Mapping[str, Any]) -> Check | None:
    if "type" not in item or "value" not in item:
        return None
    kind = re.sub(r"[-\s]", "_", str(item["type"])).lower()
    value = item["value"]
    if kind == "json_schema" and isinstance(value, dict):
        return Check(kind, json.dumps(value, ensure_ascii=False, sort_keys=True))
    known = kind in KINDS and kind != "script" and isinstance(value, str) and value
    return Check(kind, value) if known and not find_fault(kind, value) else None


def _listed_checks(entry: Record) -> tuple[Check, ...]:
    """Return the checks that an entry lists by name, such as ``must_contain``.

    A text of ``must_have`` that is no valid pattern is searched for as it is.
    """
    checks = []
    for kind, names in _CHECK_LISTS.items():
        for text in (text for name in names for text in _texts(entry, name)):
            literal = kind.replace("regex", "contains")
            checks.append(Check(literal if find_fault(kind, text) else kind, text))
    return tuple(checks)


def _identity(values: Mapping[str, Any], number: int) -> str:
    """Return an entry's id as text; it is a number or a text, else its place."""
    for value in map(values.get, _ID):
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return str(number)


def _texts(entry: Record, field: str) -> tuple[str, ...]:
    """Return a text, or the texts of a list; anything else is noted."""
    value = entry.raw(field)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return entry.texts(field)


def _without_half_triggers(cases: SkillCases, notes: Notes) -> SkillCases:
    """Return the cases without entries of a trigger set that do not say whether to trigger."""
    if all(prompt.should_fire is None for prompt in cases.prompts):
        return cases
    complete = []
    for prompt in cases.prompts:
        is_judged = prompt.expected or prompt.assertions or prompt.checks
        if prompt.should_fire is not None or is_judged:
            complete.append(prompt)
        else:
            what = f"the entry {prompt.id} is left out: should_trigger is missing"
            notes.warning("eval_left_out", prompt.line, what, "write true or false")
    return replace(cases, prompts=tuple(complete))


def _with_unique_ids(cases: SkillCases) -> SkillCases:
    """Return the cases; an id that occurs again gets a number behind it.

    Only the entries of trigger sets are numbered, and need the name of the file for a unique id.
    """
    seen: Counter[str] = Counter()
    unique = []
    for prompt in cases.prompts:
        seen[prompt.id] += 1
        again = seen[prompt.id]
        unique.append(replace(prompt, id=f"{prompt.id}-{again}") if again > 1 else prompt)
    is_trigger_set = not any(prompt.is_answered for prompt in cases.prompts)
    return replace(cases, prompts=tuple(unique), source=cases.source if is_trigger_set else "")
