"""Reader of JSON cases: ``evals.json`` of skill-creator, and trigger sets.

``{"skill_name", "evals": [{"id", "prompt", "expected_output", "files", "expectations"}]}``, with
``assertions`` as another name of the statements, and ``[{"query", "should_trigger"}]``. An entry
that cannot be used is left out with a warning, and so is a field whose content is not read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from skillyard.base.strict_toml import SomeText
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.parser import json_items, json_root
from skillyard.evals.cases.records import LocatedValue, Notes, Record
from skillyard.evals.cases.skill_cases import Owner, SkillCases, SkillPrompt
from skillyard.evals.cases.skill_names import check_prompt

_LIST = "evals"
_PROMPT = ("prompt", "query")
_STATEMENTS = ("assertions", "expectations")
_DESCRIPTIVE = ("name", "category", "description", "notes", "note", "tags", "reason", "version")
"""Fields that describe an entry or a file and change nothing in a run."""
_READ = ("id", *_PROMPT, "expected_output", *_STATEMENTS, "files", "should_trigger", *_DESCRIPTIVE)


def is_case_list(root: LocatedValue) -> bool:
    """True for a JSON file with a list of requests in one of the forms read here."""
    _, items = _list_of(root)
    return any(
        isinstance(item.value, dict) and not item.value.keys().isdisjoint(_PROMPT) for item in items
    )


def read_json_cases(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the cases of a file. One without entries, or without a skill, is noted."""
    root = json_root(file.text, notes)
    if root is None:
        return []
    top = root.value if isinstance(root.value, dict) else {}
    field, items = _list_of(root)
    skill = _skill_of(Record(top, 1, notes), owner, notes)
    if not items:
        hint = 'write {"skill_name": …, "evals": [{"id": …, "prompt": …}]}'
        notes.error("eval_no_list", 1, "there is no list of entries", hint)
    elif not skill:
        hint = "add skill_name to the file, or give --skill NAME"
        notes.error("case_missing_field", 1, "skill_name is missing", hint)
    if not items or not skill:
        return []
    unread: Counter[str] = Counter()
    read = [
        _read_entry(item, line, (field, number), skill, notes, unread)
        for number, (item, line) in enumerate(
            zip(items, json_items(file.text, field or None), strict=True)
        )
    ]
    unread.update(name for name in top if name not in (_LIST, "skill_name", *_DESCRIPTIVE))
    _warn_unread(unread, notes)
    prompts = _with_unique_ids(_without_half_triggers([each for each in read if each], notes))
    if not prompts:
        return []
    # The entries of trigger sets are only numbered: their ids need the name of the file.
    is_trigger_set = not any(prompt.is_answered for prompt in prompts)
    source = os.path.splitext(os.path.basename(file.path))[0] if is_trigger_set else ""
    return [SkillCases(skill, prompts, path=file.path, line=1, source=source)]


def _list_of(root: LocatedValue) -> tuple[str, list[LocatedValue]]:
    """Return the entries of a file, and the field that has them; empty for the file itself."""
    if isinstance(root.value, dict):
        value = root.value.get(_LIST, LocatedValue(None, 1)).value
        return _LIST, value if isinstance(value, list) else []
    return "", root.value if isinstance(root.value, list) else []


def _skill_of(top: Record, owner: Owner, notes: Notes) -> str:
    """Return the skill of the file. A name beside that of its own folder is noted."""
    name = top.value("skill_name", str, "")
    if owner.home is not None and name not in ("", owner.home):
        home = owner.home
        what = f"skill_name is not that of the skill it lies in, {home}; that one is evaluated"
        notes.warning("eval_other_skill", 1, what, f"write {home}", name)
    return owner.home or name or owner.otherwise or ""


def _read_entry(
    item: LocatedValue,
    line: int,
    place: tuple[str, int],
    skill: str,
    notes: Notes,
    unread: Counter[str],
) -> SkillPrompt | None:
    """Return the prompt of an entry; None, and a warning, where it cannot be used."""
    what = f"{place[0]}[{place[1]}]"
    if not isinstance(item.value, dict):
        notes.warning("json_not_object", line, f"{what} is not an object", "write {…}")
        return None
    own = Notes(notes.path)
    entry = Record(item.value, line, own, what)
    fires = entry.value("should_trigger", bool, None)
    expected = entry.value("expected_output", str, "")
    assertions = tuple(text for name in _STATEMENTS for text in _texts(entry, name, unread))
    prompt = SkillPrompt(
        _id_of(entry) or str(place[1] + 1),
        entry.value(next((name for name in _PROMPT if name in entry), _PROMPT[0]), SomeText),
        fires,
        expected,
        assertions,
        entry.texts("files"),
        is_answered=fires is None or bool(expected or assertions),
        line=line,
    )
    check_prompt(prompt.prompt, [skill], own, line, severe=prompt.is_answered)
    errors = [each for each in own.diagnostics if each.severity == "error"]
    if errors:
        message = f"{what} is left out: {errors[0].message}"
        notes.warning("eval_left_out", line, message, errors[0].hint, errors[0].found)
        return None
    notes.diagnostics += own.diagnostics
    unread.update(name for name in item.value if name not in _READ)
    return prompt


def _texts(entry: Record, field: str, unread: Counter[str]) -> tuple[str, ...]:
    """Return the statements of a field: texts, or objects with a text."""
    items = entry.raw(field)
    if not isinstance(items, list):
        return entry.texts(field)
    texts = []
    for item in items:
        fields = item.value if isinstance(item.value, dict) else {"text": item}
        unread.update(f"{field}.{name}" for name in fields if name not in ("id", "text"))
        if "text" in fields and isinstance(fields["text"].value, str):
            texts.append(fields["text"])
        else:
            unread[field] += 1
    listed = LocatedValue(texts, entry.line)
    return Record({field: listed}, entry.line, entry.notes, entry.what).texts(field)


def _id_of(entry: Record) -> str:
    """Return an entry's id, a number or a text; empty without one."""
    value = entry.raw("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(str(entry.value("id", str, "")).split())


def _warn_unread(unread: Mapping[str, int], notes: Notes) -> None:
    """Name what of the file changes nothing here."""
    names = ", ".join(
        f"{name} ({count} times)" if count > 1 else name for name, count in unread.items()
    )
    if names:
        hint = "write what matters as assertions, or as checks in a case file of skillyard"
        notes.warning("eval_unread_fields", 1, f"not read: {names}", hint)


def _without_half_triggers(prompts: list[SkillPrompt], notes: Notes) -> list[SkillPrompt]:
    """Return the prompts without entries of a trigger set that do not say whether to trigger."""
    if all(prompt.should_fire is None for prompt in prompts):
        return prompts
    complete = []
    for prompt in prompts:
        if prompt.should_fire is not None or prompt.expected or prompt.assertions:
            complete.append(prompt)
        else:
            what = f"the entry {prompt.id} is left out: should_trigger is missing"
            notes.warning("eval_left_out", prompt.line, what, "write true or false")
    return complete


def _with_unique_ids(prompts: Iterable[SkillPrompt]) -> tuple[SkillPrompt, ...]:
    """Return the prompts; an id that occurs again gets a number behind it."""
    seen: Counter[str] = Counter()
    unique = []
    for prompt in prompts:
        seen[prompt.id] += 1
        again = seen[prompt.id]
        unique.append(replace(prompt, id=f"{prompt.id}-{again}") if again > 1 else prompt)
    return tuple(unique)
