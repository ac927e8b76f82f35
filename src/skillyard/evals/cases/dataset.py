"""The result of reading case files: the valid cases, the diagnostics, and a digest of the files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.resources import read_file
from skillyard.evals.cases.records import Notes

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
    """Every file that was read, sorted."""
    sha256: str
    """Over the bytes of the files, sorted by path."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``error``."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one file."""

    path: str
    text: str
    """UTF-8 decoded, without a byte order mark, line ends as LF."""
    data: bytes
    """As read."""
    kind: str = ""
    """What it holds, as :mod:`~skillyard.evals.cases.case_files` names it; empty: not known."""
    home: str | None = None
    """The skill in whose folder it lies."""


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


def build_dataset(
    cases: Iterable[Case], notes: Notes, files: Sequence[SourceFile]
) -> Dataset[Case]:
    """Return the dataset of files, its diagnostics in order.

    In the digest the length of each file precedes its bytes, so two different sets of files have
    different digests. The paths are not part of it.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        digest.update(b"%d\n" % len(file.data))
        digest.update(file.data)
    in_order = sorted(notes.diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message))
    paths = tuple(file.path for file in files)
    return Dataset(tuple(cases), tuple(in_order), paths, digest.hexdigest())
