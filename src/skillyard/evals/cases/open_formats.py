"""Readers of evaluation files of other tools: ``evals/evals.json`` and trigger sets.

``evals.json`` (agentskills.io) holds prompts and the expected properties of the answers. A trigger
set is a list of requests; each says whether it should trigger the skill. Unknown fields are
ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillyard.catalog import Catalog
from skillyard.errors import Diagnostic, ResourceRefused, SkillError
from skillyard.evals.cases.activation import ActivationCase
from skillyard.evals.cases.dataset import Dataset, SourceFile, build_dataset, read_sources
from skillyard.evals.cases.identity import Identities
from skillyard.evals.cases.parser import json_items, json_root
from skillyard.evals.cases.records import TEXT_CHARS, Located, Notes, Record
from skillyard.evals.cases.rubrics import Rubric
from skillyard.evals.cases.skill_names import check_prompt, known_skill
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion
from skillyard.formats.frontmatter import decode
from skillyard.resources import list_resources, read_resource
from skillyard.skill import Skill

__all__ = [
    "OpenEval",
    "SkillEvals",
    "read_open_evals",
    "read_skill_evals",
    "read_trigger_set",
    "rubrics_of",
]

FOLDER = "evals"
"""The folder of these files below a skill's folder."""
CATEGORY = "trigger set"


@dataclass(frozen=True, slots=True)
class OpenEval:
    """One entry of an ``evals.json``."""

    skill_name: str
    id: str
    prompt: str
    expected_output: str = ""
    """In words; not compared, but judged by."""
    files: tuple[str, ...] = ()
    """Input files, relative to the skill's folder. Not looked at here."""
    assertions: tuple[str, ...] = ()
    """Statements that must be true of the answer (``expectations`` in older files)."""
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SkillEvals:
    """The evaluation files that skills contain."""

    evals: Dataset[OpenEval]
    triggers: Dataset[ActivationCase]


def read_open_evals(
    *paths: str | os.PathLike[str], catalog: Catalog | None = None
) -> Dataset[OpenEval]:
    """Read files of the form ``{"skill_name", "evals": [{"id", "prompt", …}]}``.

    With a catalog, the skill must be in it. An entry with an error is left out.
    """
    files, unreadable, digest = read_sources(os.fspath(path) for path in paths)
    cases: list[OpenEval] = []
    diagnostics = list(unreadable)
    for file in files:
        notes = Notes(file.path)
        root = json_root(file.text, notes) if file.readable else None
        if root is not None:
            cases += _open_evals(root, file, notes, catalog)
        diagnostics += notes.diagnostics
    return build_dataset(cases, diagnostics, files, digest)


def read_trigger_set(
    path: str | os.PathLike[str], skill: str, catalog: Catalog | None = None
) -> Dataset[ActivationCase]:
    """Read ``[{"query", "should_trigger"}]`` (or ``{"evals": […]}``) as cases about one skill.

    Each case is *about* the skill: only whether that skill is picked counts.
    """
    files, unreadable, digest = read_sources([os.fspath(path)])
    cases: list[ActivationCase] = []
    diagnostics = list(unreadable)
    for file in files:
        notes = Notes(file.path)
        root = json_root(file.text, notes) if file.readable else None
        if root is not None:
            cases += _triggers(root, file, notes, skill, catalog)
        diagnostics += notes.diagnostics
    return build_dataset(cases, diagnostics, files, digest)


def read_skill_evals(catalog: Catalog, skills: Iterable[Skill] | None = None) -> SkillEvals:
    """Read what lies in the ``evals`` folders of the skills (default: every candidate).

    Only regular files inside a skill's own folder are read, never through a link that leaves it.
    A JSON file that is neither of the two forms belongs to another tool and is passed over.
    """
    places: dict[str, tuple[Skill, str]] = {}
    for skill in catalog.candidates if skills is None else skills:
        for below in _json_files(skill):
            places[f"{os.path.dirname(skill.path)}/{below}"] = (skill, below)

    def read(path: str) -> bytes:
        return read_resource(*places[path])

    evals: list[OpenEval] = []
    triggers: list[ActivationCase] = []
    files, unreadable, digest = read_sources(places, read)
    unclear = list(unreadable)  # of files that could have been either
    of_evals: list[Diagnostic] = []
    of_triggers: list[Diagnostic] = []
    for file in files:
        notes = Notes(file.path)
        root = json_root(file.text, notes) if file.readable else None
        skill = places[file.path][0]
        if root is None:
            unclear += notes.diagnostics
        elif _is_trigger_set(root):
            triggers += _triggers(root, file, notes, skill.name, catalog)
            of_triggers += notes.diagnostics
        elif _items(root)[1] == "evals":
            evals += _open_evals(root, file, notes, catalog, skill.name)
            of_evals += notes.diagnostics
    return SkillEvals(
        build_dataset(evals, [*unclear, *of_evals], files, digest),
        build_dataset(triggers, [*unclear, *of_triggers], files, digest),
    )


def rubrics_of(
    evals: Sequence[OpenEval], catalog: Catalog
) -> tuple[tuple[Rubric, ...], tuple[Diagnostic, ...]]:
    """Return one rubric for each skill, in the order of the evals, and the diagnostics.

    The criteria of a prompt are its assertions and its expected output, with equal weights. An
    entry with neither gets the default criteria. Input files are appended to the prompt as text. An
    entry whose files cannot be read is left out.
    """
    diagnostics: list[Diagnostic] = []
    prompts: dict[str, list[tuple[OpenEval, str]]] = {}
    for each in evals:
        try:
            prompt = _with_files(each, catalog)
        except SkillError as error:
            diagnostics.append(_skipped_eval(each, error))
            continue
        prompts.setdefault(each.skill_name, []).append((each, prompt))
    rubrics = tuple(
        Rubric(
            name,
            tuple(prompt for _, prompt in entries),
            DEFAULT_CRITERIA,
            entries[0][0].path,
            entries[0][0].line,
            tuple(_criteria(each) for each, _ in entries),
        )
        for name, entries in prompts.items()
    )
    return rubrics, tuple(diagnostics)


def _criteria(each: OpenEval) -> tuple[Criterion, ...]:
    statements = [(f"assertion {number}", text) for number, text in enumerate(each.assertions, 1)]
    if each.expected_output:
        statements.append(
            ("expected output", f"The answer amounts to this: {each.expected_output}")
        )
    weight = 1 / max(1, len(statements))
    return tuple(Criterion(name, weight, text) for name, text in statements) or DEFAULT_CRITERIA


def _with_files(each: OpenEval, catalog: Catalog) -> str:
    """Return the prompt, its input files behind it. Raises SkillError where one is no text."""
    prompt = each.prompt
    for path in each.files:
        text = decode(read_resource(catalog.get(each.skill_name), path), path)
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
        prompt += f"\n\nThe file {path}:\n\n{fence}\n{text}\n{fence}"
        if len(prompt) > TEXT_CHARS:
            raise ResourceRefused(
                f"with its files the prompt is longer than {TEXT_CHARS:,} characters", path=path
            )
    return prompt


def _skipped_eval(each: OpenEval, error: SkillError) -> Diagnostic:
    return Diagnostic(
        "eval_input_file",
        "warning",
        each.path,
        f"the eval {each.id} is left out: {error.message}",
        "name text files inside the skill's folder, or put their content into the prompt",
        line=each.line,
    )


def _json_files(skill: Skill) -> list[str]:
    """Return the paths of ``evals/*.json`` in the skill's folder."""
    try:
        resources = list_resources(skill, nested=True)
    except ResourceRefused:  # a single document has no folder
        return []
    pattern = re.compile(rf"{FOLDER}/[^/]+\.json")
    return [each.path for each in resources if pattern.fullmatch(each.path)]


def _items(root: Located) -> tuple[list[Located] | None, str | None]:
    """Return the list of entries and its field; the field is None where the file is a list."""
    if isinstance(root.value, list):
        return root.value, None
    below = root.value.get("evals") if isinstance(root.value, dict) else None
    if below is not None and isinstance(below.value, list):
        return below.value, "evals"
    return None, None


def _is_trigger_set(root: Located) -> bool:
    items = _items(root)[0] or []
    return any(isinstance(item.value, dict) and "should_trigger" in item.value for item in items)


def _records(root: Located, file: SourceFile, notes: Notes, expected: str) -> list[Record]:
    """Return the entries as records, each with its line in the file."""
    items, field = _items(root)
    if items is None:
        notes.error("eval_no_list", 1, "there is no list of entries", f"write {expected}")
        return []
    records = []
    for number, (item, line) in enumerate(zip(items, json_items(file.text, field), strict=True)):
        if isinstance(item.value, dict):
            records.append(Record(item.value, line, notes, f"[{number}]."))
        else:
            notes.error("json_not_object", line, f"[{number}] is not an object", "write {…}")
    return records


def _open_evals(
    root: Located,
    file: SourceFile,
    notes: Notes,
    catalog: Catalog | None,
    home: str | None = None,
) -> list[OpenEval]:
    """Return the entries; ``home`` is the skill in whose folder the file lies."""
    if not isinstance(root.value, dict):
        notes.error(
            "eval_no_list",
            1,
            "the file is not an object with evals",
            'write {"skill_name": …, "evals": [{"id": …, "prompt": …}]}',
        )
        return []
    top = Record(root.value, 1, notes)
    name = top.text("skill_name", home or "") if home else top.some_text("skill_name")
    if home is not None and name != home:
        notes.warning(
            "eval_other_skill",
            1,
            f"skill_name is not that of the skill it lies in, {home}; that one is evaluated",
            f"write {home}",
            name,
        )
        name = home
    if not name or (catalog is not None and known_skill(catalog, name, top, "skill_name") is None):
        return []
    cases = []
    identities = Identities()
    entries = _records(root, file, notes, '{"skill_name": …, "evals": [{"id": …, "prompt": …}]}')
    for number, record in enumerate(entries):
        before = notes.errors
        case = _open_eval(record, name, number, identities)
        if notes.errors == before:
            cases.append(case)
    return cases


def _open_eval(record: Record, name: str, number: int, identities: Identities) -> OpenEval:
    key = _identity(record.raw("id"), number)
    identities.id(record, key)
    prompt = record.some_text("prompt")
    check_prompt(prompt, [name], record.notes, record.line)
    field = "assertions" if "assertions" in record else "expectations"
    return OpenEval(
        name,
        key,
        prompt,
        record.text("expected_output"),
        record.texts("files"),
        _assertions(record, field),
        record.notes.path,
        record.line,
    )


def _assertions(record: Record, field: str) -> tuple[str, ...]:
    """Return the statements; some tools write each as an object with its text."""
    value = record.raw(field)
    if not isinstance(value, list):
        return record.texts(field)
    plain = [_statement(item) for item in value]
    return Record({field: Located(plain, record.line)}, record.line, record.notes).texts(field)


def _statement(item: Located) -> Located:
    if not isinstance(item.value, dict):
        return item
    fields: Sequence[str] = ("text", "assertion", "description", "value")
    return next((item.value[name] for name in fields if name in item.value), item)


def _identity(value: Any, number: int) -> str:
    """Return an entry's id as text (it is a number or a text); its place where it has none."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return str(number + 1)


def _triggers(
    root: Located, file: SourceFile, notes: Notes, skill: str, catalog: Catalog | None
) -> list[ActivationCase]:
    under_test = Record({"skill": Located(skill, 1)}, 1, notes)
    if catalog is not None:
        listed_skill = known_skill(catalog, skill, under_test, "skill", routed=True)
        if listed_skill is None:
            return []
        skill = listed_skill.name
    cases = []
    identities = Identities()
    stem = os.path.splitext(os.path.basename(file.path))[0]
    entries = _records(root, file, notes, '[{"query": …, "should_trigger": true}]')
    for number, record in enumerate(entries, 1):
        before = notes.errors
        field = "query" if "query" in record or "prompt" not in record else "prompt"
        query = record.some_text(field)
        should_trigger = (
            record.flag("should_trigger") if record.required("should_trigger") else None
        )
        if should_trigger:
            check_prompt(query, [skill], notes, record.line, severe=False)
        identities.prompt(record, query)
        case = ActivationCase(f"{skill}/{stem}/{number}", query, category=CATEGORY, about=skill)
        if notes.errors == before:
            expected = (skill,) if should_trigger else ()
            cases.append(
                replace(
                    case,
                    expected_skills=expected,
                    should_activate=bool(should_trigger),
                    path=file.path,
                    line=record.line,
                )
            )
    return cases
