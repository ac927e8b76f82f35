"""Finds case files, and reads them as the cases of skills."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from skillyard.base.errors import ResourceRefused
from skillyard.engine.catalog import Catalog
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.cases.dataset import (
    Dataset,
    SourceFile,
    build_dataset,
    files_of,
    read_sources,
)
from skillyard.evals.cases.open_formats import is_case_list, read_json_cases
from skillyard.evals.cases.parser import json_root, yaml_record
from skillyard.evals.cases.records import Notes, quote
from skillyard.evals.cases.skill_cases import (
    Owner,
    SkillCases,
    read_candidates,
    read_rubric,
    read_skill_cases,
)
from skillyard.evals.cases.skill_names import find_skill

CONFIG = "config.yaml"
FOLDER = "evals"
"""The folder of cases below a skill's folder."""
ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
SKILL, RUBRIC, CANDIDATES = "skill", "rubric", "candidates"
JSON, LINES = "json", "lines"
"""The kinds of files. ``lines`` is JSONL of skillyard's own: activation or confusion cases."""
WHOLE_SKILL = (SKILL, JSON)
"""The kinds that serve every layer."""
_KIND_OF_FIELD = {
    "skill": SKILL,
    "prompts": SKILL,
    "skill_name": RUBRIC,
    "test_prompts": RUBRIC,
    "candidates": CANDIDATES,
}
"""The kind of a YAML file of skillyard's own, by a field at its top."""
_CASE_FIELD = re.compile(rf"^(?:{'|'.join(_KIND_OF_FIELD)}):", re.MULTILINE)


def find_sources(
    places: Iterable[str | os.PathLike[str]], catalog: Catalog, notes: Notes
) -> list[SourceFile]:
    """Return the case files of folders, or files themselves, but for ``config.yaml``."""
    paths = [path for place in places for path in files_of(place, ENDINGS)]
    files = read_sources((path for path in paths if os.path.basename(path) != CONFIG), notes)
    return [_recognized(file, _home(file.path, catalog)) for file in files]


def skill_sources(
    catalog: Catalog, notes: Notes, skills: Iterable[Skill] | None = None
) -> list[SourceFile]:
    """Return the case files in the ``evals`` folders of skills (default: every candidate).

    Only regular files inside a skill's own folder are read, never through a link that leaves it.
    """
    places: dict[str, tuple[Skill, str]] = {}
    for skill in catalog.candidates if skills is None else skills:
        for below in _files_in(skill):
            places[f"{os.path.dirname(skill.path)}/{below}"] = (skill, below)
    files = read_sources(places, notes, lambda path: read_resource(*places[path]))
    return [_recognized(file, places[file.path][0].name) for file in files]


def read_files(place: str | os.PathLike[str], kind: str, catalog: Catalog) -> Dataset[SkillCases]:
    """Return the cases of the YAML files of a folder, or of one file, all read as one kind."""
    notes = Notes()
    files = read_sources(files_of(place, (".yaml", ".yml")), notes)
    sources = [replace(file, kind=kind) for file in files]
    return build_dataset(read_case_files(sources, catalog, notes, kinds=(kind,)), notes, files)


def read_case_files(
    files: Iterable[SourceFile],
    catalog: Catalog,
    notes: Notes,
    skill: str | None = None,
    kinds: Sequence[str] = WHOLE_SKILL,
) -> list[SkillCases]:
    """Return the cases of the files of these kinds, by skill and file.

    ``skill`` is the skill of files that name none; without it, the only skill of the catalog is.
    Each skill must be in the catalog; names become those of the catalog.
    """
    only = catalog.skills[0].name if len(catalog.skills) == 1 else None
    cases: list[SkillCases] = []
    for file in files:
        if file.kind in kinds:
            otherwise = skill or only if file.kind in WHOLE_SKILL else None
            owner = Owner(catalog, file.home, otherwise)
            own = notes.of_file(file.path)
            known = (_known(each, owner, own) for each in _READERS[file.kind](file, owner, own))
            cases += (each for each in known if each is not None)
    return cases


def _recognized(file: SourceFile, home: str | None) -> SourceFile:
    return replace(file, kind=_kind(file, is_foreign=home is not None), home=home)


def _kind(file: SourceFile, *, is_foreign: bool) -> str:
    """Return the kind of a file; empty for one of no known format.

    YAML that cannot be read has the kind whose reader gives the error. Only a foreign file, which
    lies in a skill's folder and may belong to another tool, has to look like a file of cases.
    """
    quiet = Notes(file.path)
    if file.path.endswith(".jsonl"):
        return LINES if not is_foreign or '"user_prompt"' in file.text else ""
    if file.path.endswith(".json"):
        root = json_root(file.text, quiet)
        return "" if root is not None and not is_case_list(root) else JSON
    record = yaml_record(file.text, quiet)
    if any(each.code != "yaml_not_mapping" for each in quiet.diagnostics):
        return SKILL if not is_foreign or _CASE_FIELD.search(file.text) else ""
    fields = record.fields if record is not None else {}
    if is_foreign and "skill" not in fields and "tests" in fields:  # of promptfoo
        return ""
    return next((kind for field, kind in _KIND_OF_FIELD.items() if field in fields), "")


_READERS: Mapping[str, Callable[[SourceFile, Owner, Notes], Sequence[SkillCases]]] = {
    SKILL: read_skill_cases,
    RUBRIC: read_rubric,
    CANDIDATES: read_candidates,
    JSON: read_json_cases,
}


def _known(cases: SkillCases, owner: Owner, notes: Notes) -> SkillCases | None:
    """Return the cases under the catalog's name of the skill; None, and a note, without one.

    Cases of another tool whose skill has another name here are about the skill of ``owner``.
    """
    skill = find_skill(owner.catalog, cases.skill)
    if isinstance(skill, Skill):
        return replace(cases, skill=skill.name)
    if owner.otherwise not in (None, cases.skill):
        what = f"no skill is called {cases.skill}; {owner.otherwise} is evaluated"
        notes.warning("eval_other_skill", cases.line, what, f"write {owner.otherwise}")
        return _known(replace(cases, skill=str(owner.otherwise)), owner, notes)
    message = f"the skill {skill.message}: {quote(cases.skill)}"
    notes.error("case_bad_field", cases.line, message, skill.hint, cases.skill)
    return None


def _home(path: str, catalog: Catalog) -> str | None:
    """Return the skill in whose folder a file lies."""
    folder = os.path.dirname(os.path.abspath(path))
    homes = {
        os.path.dirname(os.path.abspath(skill.path)): skill.name
        for skill in catalog.skills
        if os.path.basename(skill.path) == "SKILL.md"
    }
    return homes.get(folder, homes.get(os.path.dirname(folder)))


def _files_in(skill: Skill) -> list[str]:
    """Return the paths of the case files directly in the ``evals`` folder of a skill."""
    try:
        resources = list_resources(skill, nested=True)
    except ResourceRefused:  # a single document has no folder
        return []
    pattern = re.compile(rf"{FOLDER}/[^/]+\.(?:jsonl?|ya?ml)")
    names = [each.path for each in resources if pattern.fullmatch(each.path)]
    return [name for name in names if name != f"{FOLDER}/{CONFIG}"]
