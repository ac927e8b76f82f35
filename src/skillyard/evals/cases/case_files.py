"""Finds case files, and reads them as the cases of skills."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from skillyard.base.errors import Diagnostic, ResourceRefused, SkillError
from skillyard.engine.catalog import Catalog
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.resources import list_resources, read_file, read_resource
from skillyard.engine.skill import Skill
from skillyard.evals.cases.reading import Notes, SourceFile, note_not_used
from skillyard.evals.cases.skill_cases import SkillCases, read_json_cases, read_yaml_cases

Entry = TypeVar("Entry")

FOLDER = "evals"
"""The folder of cases below a skill's folder."""
_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
_CASE_FIELD = re.compile(
    r'^(?:skill|skill_name|candidates):|"(?:prompt|query|user_prompt)"', re.MULTILINE
)
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
    """Over the texts of the files, sorted by path."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``error``."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


def find_sources(places: CasePlaces, catalog: Catalog, notes: Notes) -> list[SourceFile]:
    """Return the case files of folders, files themselves, or of skills."""
    if places.in_skills:
        return skill_sources(catalog.candidates, notes)
    paths = dict.fromkeys(path for place in places.paths for path in _files_of(place))
    return [source for path in paths for source in _source(path, None, notes)]


def skill_sources(skills: Iterable[Skill], notes: Notes) -> list[SourceFile]:
    """Return the case files in the ``evals`` folders of skills.

    Only regular files inside a skill's own folder are read, never through a link that leaves it.
    """
    sources: list[SourceFile] = []
    for skill in skills:
        try:
            names = [each.path for each in list_resources(skill, nested=True)]
        except ResourceRefused:  # a single document has no folder
            continue
        for name in names:
            folder, _, file = name.rpartition("/")
            if folder == FOLDER and file.endswith(_ENDINGS):
                path = os.path.join(os.path.dirname(skill.path), FOLDER, file)
                sources += _source(path, skill, notes)
    return sources


def _files_of(place: str) -> list[str]:
    """Return the files of a folder that may hold cases, sorted; a file returns itself.

    A missing folder has no files. A missing file is returned, so that reading it gives the error.
    """
    if not os.path.isdir(place):
        return [place] if place.endswith(_ENDINGS) or os.path.lexists(place) else []
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return [place]  # reading it gives the error
    fit = (each for each in names if each.endswith(_ENDINGS) and not each.startswith("."))
    return [os.path.join(place, name) for name in fit]


def _source(path: str, home: Skill | None, notes: Notes) -> Iterator[SourceFile]:
    """Yield a file of cases. One that cannot be read, or that looks like no such file, is noted."""
    try:
        if home is None:
            data = read_file(path, FILE_BYTES).data
        else:
            data = read_resource(home, f"{FOLDER}/{os.path.basename(path)}")
        text = unify_lines(decode(data, path))
    except SkillError as error:
        notes.diagnostics.append(error.diagnostic())
        return
    if _CASE_FIELD.search(text):
        yield SourceFile(path, text, home.name if home is not None else None)
    else:
        note_not_used(notes.of_file(path))


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


def build_dataset(
    cases: Iterable[Entry], notes: Notes, files: Sequence[SourceFile]
) -> Dataset[Entry]:
    """Return the dataset of a layer, its diagnostics in order.

    In the digest the length of each file precedes its text, so two different sets of files have
    different digests; the paths are not part of it.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        data = file.text.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(data) + data)
    listed = tuple(cases)  # before the diagnostics, of which some may come from it
    in_order = sorted(notes.diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message))
    return Dataset(listed, tuple(in_order), digest.hexdigest())
