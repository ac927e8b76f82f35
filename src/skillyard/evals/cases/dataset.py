"""The result of reading case files: the valid cases, the diagnostics, and a digest of the files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from skillyard.errors import Diagnostic, SkillError
from skillyard.evals.cases.parser import json_lines
from skillyard.evals.cases.records import Notes, Record
from skillyard.formats.frontmatter import decode, unify_lines
from skillyard.resources import read_file

__all__ = [
    "Dataset",
    "SourceFile",
    "build_dataset",
    "files_of",
    "in_order",
    "read_json_cases",
    "read_sources",
]

Case = TypeVar("Case")

FILE_BYTES = 16_777_216
"""Most bytes of one case file: a hundred thousand prompts, far below what hurts."""


@dataclass(frozen=True, slots=True)
class Dataset(Generic[Case]):
    """The cases of some files, in the order of the files and of the entries in them."""

    cases: tuple[Case, ...]
    diagnostics: tuple[Diagnostic, ...]
    """By file, then line. A case that an error is about is not among the cases."""
    files: tuple[str, ...]
    """Every file that was looked at, sorted."""
    sha256: str
    """See :func:`read_sources`."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``error``."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one file; empty where it could not be read."""

    path: str
    text: str
    """UTF-8 decoded, without a byte order mark, line ends as LF."""
    readable: bool = True


def files_of(place: str | os.PathLike[str], endings: Sequence[str]) -> tuple[str, ...]:
    """Return the files of a folder with one of the endings, sorted; a file returns itself.

    Subfolders and names that begin with a dot are left out. A missing folder has no files. A
    missing file is returned, so that reading it gives the error.
    """
    path = os.fspath(place)
    if not os.path.isdir(path):
        return (path,) if path.endswith(tuple(endings)) or os.path.lexists(path) else ()
    try:
        entries = os.listdir(path)
    except OSError:
        return (path,)  # reading it gives the error
    names = sorted(
        name for name in entries if name.endswith(tuple(endings)) and not name.startswith(".")
    )
    return tuple(os.path.join(path, name) for name in names)


def _read_whole(path: str) -> bytes:
    return read_file(path, FILE_BYTES).data


def read_sources(
    paths: Iterable[str], read: Callable[[str], bytes] = _read_whole
) -> tuple[tuple[SourceFile, ...], tuple[Diagnostic, ...], str]:
    """Return the files, the diagnostics of files that could not be read, and the digest.

    ``read`` returns the bytes of a path or raises SkillError.

    The digest is the SHA-256 over the bytes of the files, sorted by path. The length of each file
    precedes its bytes, so two different sets of files have different digests. The paths are not
    part of the digest.
    """
    files: list[SourceFile] = []
    diagnostics: list[Diagnostic] = []
    digest = hashlib.sha256()
    for path in sorted(set(paths)):
        try:
            data = read(path)
            digest.update(b"%d\n" % len(data))
            digest.update(data)
            files.append(SourceFile(path, unify_lines(decode(data, path))))
        except SkillError as error:
            diagnostics.append(error.diagnostic())
            files.append(SourceFile(path, "", readable=False))
    return tuple(files), tuple(diagnostics), digest.hexdigest()


def read_json_cases(
    places: Iterable[str | os.PathLike[str]], parse: Callable[[Record], Case]
) -> Dataset[Case]:
    """Read ``*.jsonl`` files and the ``*.jsonl`` files of folders, one case a line.

    ``parse`` notes the errors of a record; a case with an error is left out.
    """
    files, unreadable, digest = read_sources(
        path for place in places for path in files_of(place, (".jsonl",))
    )
    cases: list[Case] = []
    diagnostics = list(unreadable)
    for file in files:
        notes = Notes(file.path)
        for record in json_lines(file.text, notes):
            before = notes.errors
            case = parse(record)
            if notes.errors == before:
                cases.append(case)
        diagnostics += notes.diagnostics
    return build_dataset(cases, diagnostics, files, digest)


def build_dataset(
    cases: Iterable[Case],
    diagnostics: Iterable[Diagnostic],
    files: Iterable[SourceFile],
    sha256: str,
) -> Dataset[Case]:
    """Return the dataset, its diagnostics in order."""
    return Dataset(tuple(cases), in_order(diagnostics), tuple(file.path for file in files), sha256)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics by file, then line."""
    return tuple(sorted(diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message)))
