"""Skill folders as rows of a store: where each belongs, and what its files contain."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, ResourceRefused, SkillError, StoreRefused
from skillyard.base.limits import Limits
from skillyard.engine.catalog.entries import read_one
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery.layout import Candidate, Root
from skillyard.engine.discovery.walk import iter_scan
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Origin, Reference, Skill
from skillyard.store.rows import StoredRow, row_of
from skillyard.store.values import FileDigest, Standing, StoreKey, Submission

MAX_FOLDERS = 4_000_000
"""Limit for the folders below all roots of one publish: many times the limit of a scan, because
only the number of a folder is stored. They take about 600 MB."""
MAX_REFERENCE_BYTES = 1_048_576
"""Total size of a skill's reference texts; further references are published without their text."""


class StoreFile(NamedTuple):
    """A skill file, with its key and what the store has under it."""

    candidate: Candidate
    key: StoreKey
    standing: Standing | None


class BuiltRow(NamedTuple):
    """The result of one skill file: a row, or nothing because it is unchanged or invalid."""

    key: StoreKey
    path: str
    digest: str = ""
    """The content digest as in the store; empty for a rejected file."""
    row: StoredRow | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    file: str = ""
    """SHA-256 of the skill's file."""


def skill_files(roots: Sequence[str], limits: Limits) -> Iterator[Candidate | Diagnostic]:
    """Yield each skill file below the roots, and a diagnostic for what cannot be read.

    Convention files (AGENTS.md and the like) belong to their project and are not published. Raises
    InvalidSkillsRoot.
    """
    scan_roots = [Root(root) for root in roots]
    for candidate in iter_scan(scan_roots, limits._replace(folders_walked=MAX_FOLDERS)):
        if isinstance(candidate, Diagnostic) or candidate.origin != Origin.CONVENTION:
            yield candidate


def place_of(candidate: Candidate) -> str:
    """Return the path of the skill's folder below its root, or of a single document its own path.

    A SKILL.md in the root itself has the name of the root's folder.
    """
    parts = candidate.parts if candidate.folder is None else candidate.parts[:-1]
    return "/".join(parts) or candidate.folder or ""


def build_rows(files: Sequence[StoreFile], limits: Limits, store: str) -> list[BuiltRow]:
    """Return the result of each skill file, in order. An invalid one becomes a diagnostic.

    ``store`` is the store's address without credentials, for messages.
    """
    return [_build_row(file, limits, store) for file in files]


def _build_row(file: StoreFile, limits: Limits, store: str) -> BuiltRow:
    candidate, key, standing = file
    try:
        submission, diagnostics = _submission(candidate, key, limits)
        if submission is None:
            return BuiltRow(key, candidate.path, diagnostics=tuple(diagnostics))
        row = row_of(submission, tenant=key.tenant, namespace=key.namespace, store=store)
    except (SkillError, StoreRefused) as error:
        return rejected(key, candidate.path, error)
    is_new = standing is None or (standing.digest, standing.installs) != (row.digest, row.installs)
    return BuiltRow(
        *(key, candidate.path, row.digest, row if is_new else None, tuple(diagnostics)),
        submission.skill.hash or "",
    )


def rejected(key: StoreKey, path: str, error: SkillError | StoreRefused) -> BuiltRow:
    """Return the result of a skill file that is not published, with the reason."""
    if isinstance(error, SkillError):
        code, message = error.code, error.message
    else:
        code, message = "store_refused", error.what
    return BuiltRow(key, path, diagnostics=(Diagnostic(code, "error", path, message, error.hint),))


def _submission(
    candidate: Candidate, key: StoreKey, limits: Limits
) -> tuple[Submission | None, list[Diagnostic]]:
    """Return the skill to publish, None when the file is not one, and the diagnostics.

    The path of the skill becomes relative to its root: the root's own path means nothing elsewhere.
    """
    entry = read_one(candidate, LibrarySpec((), (), limits), time.time_ns())
    diagnostics = list(entry.diagnostics)
    if entry.skill is None:
        return None, diagnostics
    files, refused = _digests(candidate, limits)
    skill = entry.skill.replace(
        path="/".join(candidate.parts),
        source=key.source or None,
        references=_with_texts(candidate, limits),
    )
    return Submission(skill, key.place, files), diagnostics + refused


def _digests(
    candidate: Candidate, limits: Limits
) -> tuple[tuple[FileDigest, ...], list[Diagnostic]]:
    """Return the digests of the files of a skill's folder, sorted, and the rejected files."""
    if candidate.folder is None:
        return (), []
    folder = _of_folder(candidate)
    files: list[FileDigest] = []
    refused: list[Diagnostic] = []
    for resource in list_resources(folder, limits):
        try:
            data = read_resource(folder, resource.path, limits)
        except ResourceRefused as error:
            refused.append(error.diagnostic("warning")._replace(path=candidate.path))
            continue
        files.append(FileDigest(resource.path, sha256(data).hexdigest(), len(data)))
    return tuple(sorted(files)), refused


def _with_texts(candidate: Candidate, limits: Limits) -> tuple[Reference, ...]:
    """Return the references with their texts, as far as these are UTF-8 and within the limit."""
    folder = _of_folder(candidate)
    left = MAX_REFERENCE_BYTES
    references = []
    for reference in candidate.references:
        try:
            data = read_resource(folder, reference.path, limits)
            text = data.decode("utf-8") if len(data) <= left else None
        except (ResourceRefused, UnicodeDecodeError):
            text = None
        if text is not None:
            left -= len(data)
        references.append(reference._replace(content=text))
    return tuple(references)


def _of_folder(candidate: Candidate) -> Skill:
    """Return a placeholder skill for the folder before its file is parsed."""
    return Skill(candidate.folder or "", "", None, candidate.path, hash="-")
