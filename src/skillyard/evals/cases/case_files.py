"""Finds case files, recognizes their formats, and reads them as the cases of skills."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from skillyard.base.errors import (
    AmbiguousName,
    Diagnostic,
    ResourceRefused,
    SkillError,
    SkillNotFound,
)
from skillyard.engine.catalog import Catalog
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.resources import list_resources, read_file, read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.cases.reading import Notes, SourceFile, json_value, quote, yaml_nodes
from skillyard.evals.cases.skill_cases import (
    Owner,
    SkillCases,
    json_entries,
    read_json_cases,
    read_yaml_cases,
)

Entry = TypeVar("Entry")

CONFIG = "config.yaml"
FOLDER = "evals"
"""The folder of cases below a skill's folder."""
ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
SKILL, DOCUMENT, JSON, LINES = "skill", "document", "json", "lines"
"""The kinds of files. ``document`` is YAML in the forms of the size-impact document, whose prompts
do not say whether a skill should fire; ``lines`` is JSONL of requests."""
_KIND_OF_FIELD = {
    "skill": SKILL,
    "prompts": SKILL,
    "skill_name": DOCUMENT,
    "test_prompts": DOCUMENT,
    "candidates": DOCUMENT,
}
"""The kind of a YAML file of skillyard's own, by a field at its top."""
_CASE_FIELD = re.compile(rf"^(?:{'|'.join(_KIND_OF_FIELD)}):", re.MULTILINE)
FILE_BYTES = 16_777_216
"""Most bytes of one case file: a hundred thousand prompts, far below what hurts."""


@dataclass(frozen=True, slots=True)
class CasePlaces:
    """Where the cases of a run lie."""

    paths: tuple[str, ...] = ()
    """Files or folders."""
    in_skills: bool = False
    """Look into the ``evals`` folders of the skills instead."""
    skill: str | None = None
    """The skill of files that name none."""


@dataclass(frozen=True, slots=True)
class Dataset(Generic[Entry]):
    """The cases of some files, in the order of the files and of the entries in them."""

    cases: tuple[Entry, ...]
    diagnostics: tuple[Diagnostic, ...]
    """By file, then line. A case that an error is about is not among the cases."""
    sha256: str
    """Over the bytes of the files, sorted by path."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``error``."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


def find_sources(places: CasePlaces, catalog: Catalog, notes: Notes) -> list[SourceFile]:
    """Return the case files of folders, files themselves, or of skills, but for ``config.yaml``."""
    if places.in_skills:
        return skill_sources(catalog, notes, catalog.candidates)
    paths = [path for place in places.paths for path in files_of(place, ENDINGS)]
    files = read_sources((path for path in paths if os.path.basename(path) != CONFIG), notes)
    return [_recognized(file, _home(file.path, catalog)) for file in files]


def skill_sources(catalog: Catalog, notes: Notes, skills: Iterable[Skill]) -> list[SourceFile]:
    """Return the case files in the ``evals`` folders of skills.

    Only regular files inside a skill's own folder are read, never through a link that leaves it.
    """
    places: dict[str, tuple[Skill, str]] = {}
    for skill in skills:
        for below in _files_in(skill):
            places[f"{os.path.dirname(skill.path)}/{below}"] = (skill, below)
    files = read_sources(places, notes, lambda path: read_resource(*places[path]))
    return [_recognized(file, places[file.path][0].name) for file in files]


def files_of(place: str | os.PathLike[str], endings: Sequence[str]) -> tuple[str, ...]:
    """Return the files of a folder with one of the endings, sorted; a file returns itself.

    Subfolders and names that begin with a dot are left out. A missing folder has no files. A
    missing file is returned, so that reading it gives the error.
    """
    path = os.fspath(place)
    if not os.path.isdir(path):
        return (path,) if path.endswith(tuple(endings)) or os.path.lexists(path) else ()
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return (path,)  # reading it gives the error
    shown = [each for each in names if each.endswith(tuple(endings)) and not each.startswith(".")]
    return tuple(os.path.join(path, name) for name in shown)


def _read_whole(path: str) -> bytes:
    return read_file(path, FILE_BYTES).data


def read_sources(
    paths: Iterable[str], notes: Notes, read: Callable[[str], bytes] = _read_whole
) -> list[SourceFile]:
    """Return the files, sorted by path, each once. One that cannot be read is noted.

    ``read`` returns the bytes of a path or raises SkillError.
    """
    files: list[SourceFile] = []
    for path in sorted(set(paths)):
        try:
            data = read(path)
            files.append(SourceFile(path, unify_lines(decode(data, path)), data))
        except SkillError as error:
            notes.diagnostics.append(error.diagnostic())
    return files


def read_case_files(
    files: Iterable[SourceFile],
    catalog: Catalog,
    notes: Notes,
    skill: str | None = None,
    kinds: Sequence[str] = (SKILL, JSON),
) -> list[SkillCases]:
    """Return the cases of the files of these kinds, by skill and file.

    ``skill`` is the skill of files that name none; without it, the only skill of the catalog is.
    Each skill must be in the catalog; names become those of the catalog.
    """
    only = catalog.skills[0].name if len(catalog.skills) == 1 else None
    cases: list[SkillCases] = []
    for file in files:
        if file.kind in kinds and file.kind in _READERS:
            owner = Owner(catalog, file.home, None if file.kind == DOCUMENT else skill or only)
            own = notes.of_file(file.path)
            known = (_known(each, owner, own) for each in _READERS[file.kind](file, owner, own))
            cases += (each for each in known if each is not None)
    return cases


def build_dataset(
    cases: Iterable[Entry], notes: Notes, files: Sequence[SourceFile], kinds: Sequence[str]
) -> Dataset[Entry]:
    """Return the dataset of a layer that reads these kinds, its diagnostics in order.

    A file that the layer does not use is noted. In the digest the length of each file precedes its
    bytes, so two different sets of files have different digests; the paths are not part of it.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        if file.kind in kinds:
            digest.update(b"%d\n" % len(file.data))
            digest.update(file.data)
        else:
            what = "the file holds no cases of this kind, and is not read"
            hint = "see the formats of cases in the guide; other files can lie in a folder below"
            notes.of_file(file.path).warning("case_file_not_used", None, what, hint)
    in_order = sorted(notes.diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message))
    return Dataset(tuple(cases), tuple(in_order), digest.hexdigest())


def _recognized(file: SourceFile, home: str | None) -> SourceFile:
    return file._replace(kind=_kind(file, is_foreign=home is not None), home=home)


def _kind(file: SourceFile, *, is_foreign: bool) -> str:
    """Return the kind of a file; empty for one of no known format.

    YAML that cannot be read has the kind whose reader gives the error. Only a foreign file, which
    lies in a skill's folder and may belong to another tool, has to look like a file of cases.
    """
    quiet = Notes(file.path)
    if file.path.endswith(".jsonl"):
        return LINES if not is_foreign or '"user_prompt"' in file.text else ""
    if file.path.endswith(".json"):
        root = json_value(file.text, quiet)
        return JSON if root is None or json_entries(root.value) else ""
    fields = yaml_nodes(file.text, quiet) or {}
    if any(each.code != "yaml_not_mapping" for each in quiet.diagnostics):
        return SKILL if not is_foreign or _CASE_FIELD.search(file.text) else ""
    if is_foreign and "skill" not in fields and "tests" in fields:  # of promptfoo
        return ""
    return next((kind for field, kind in _KIND_OF_FIELD.items() if field in fields), "")


_READERS: Mapping[str, Callable[[SourceFile, Owner, Notes], Sequence[SkillCases]]] = {
    SKILL: read_yaml_cases,
    DOCUMENT: read_yaml_cases,
    JSON: read_json_cases,
}


def _known(cases: SkillCases, owner: Owner, notes: Notes) -> SkillCases | None:
    """Return the cases under the catalog's name of the skill; None, and a note, without one.

    Cases of another tool whose skill has another name here are about the skill of ``owner``.
    """
    name = cases.skill
    try:
        return replace(cases, skill=owner.catalog.get(name).name)
    except SkillNotFound as error:
        if owner.otherwise not in (None, name):
            what = f"no skill is called {name}; {owner.otherwise} is evaluated"
            notes.warning("eval_other_skill", cases.line, what, f"write {owner.otherwise}")
            return _known(replace(cases, skill=str(owner.otherwise)), owner, notes)
        why, hint = "is not there", error.hint or "check the name, and the folder of skills"
    except AmbiguousName:
        why, hint = "is there several times", "use an id"
    notes.error("case_bad_field", cases.line, f"the skill {why}: {quote(name)}", hint, name)
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
