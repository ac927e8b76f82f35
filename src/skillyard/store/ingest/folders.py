"""Skill folders as ingest items, and the skill of such an item with its files' digests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256

from skillyard.base.errors import Diagnostic, ResourceRefused
from skillyard.base.limits import Limits
from skillyard.engine.catalog.entries import read_one
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery import Candidate, Root
from skillyard.engine.discovery.walk import iter_scan
from skillyard.engine.resources import list_resources, read_file, read_resource
from skillyard.engine.skill import Origin, Reference, Skill
from skillyard.store.ingest.work_items import Item
from skillyard.store.values import FileDigest, Standing, Submission

MAX_FOLDERS = 4_000_000
"""Limit for the folders below all roots of one ingest: many times the limit of a scan, because only
the number of a folder is stored. They take about 600 MB."""
MAX_REFERENCE_BYTES = 1_048_576
"""Total size of a skill's reference texts; further references are published without their text."""


def items(roots: Sequence[str], source: str, limits: Limits) -> Iterator[Item | Diagnostic]:
    """Yield each skill file below the roots, and a diagnostic for what cannot be read.

    Convention files (AGENTS.md and the like) belong to their project and are not published. The
    place is the path of the skill's folder below its root, or of a single document its own path;
    None for a SKILL.md in the root itself. Raises InvalidSkillsRoot.
    """
    for candidate in _candidates(roots, limits):
        if isinstance(candidate, Diagnostic):
            yield candidate
        else:
            yield Item(
                candidate.path, None, source, _place(candidate), candidate.stamp.size, candidate
            )


def count(roots: Sequence[str], limits: Limits, stop: threading.Event) -> int:
    """Return the number of items, up to ``stop``. Raises InvalidSkillsRoot."""
    total = 0
    for candidate in _candidates(roots, limits):
        total += isinstance(candidate, Candidate)
        if stop.is_set():
            break
    return total


def _candidates(roots: Sequence[str], limits: Limits) -> Iterator[Candidate | Diagnostic]:
    scan_roots = [Root(root) for root in roots]
    for candidate in iter_scan(scan_roots, limits._replace(folders_walked=MAX_FOLDERS)):
        if isinstance(candidate, Diagnostic) or candidate.origin != Origin.CONVENTION:
            yield candidate


def _place(candidate: Candidate) -> str | None:
    parts = candidate.parts if candidate.folder is None else candidate.parts[:-1]
    return "/".join(parts) or None


def is_unchanged(candidate: Candidate, standing: Standing, limits: Limits) -> bool:
    """True when the stored version was made from this file, with the same files beside it.

    The file is read but not parsed. Raises SkillIoError.
    """
    if standing.hash is None or standing.slug != candidate.folder:
        return False
    return (
        standing.origin == candidate.origin
        and standing.installs == 0
        and _names(standing.references) == _names(candidate.references)
        and standing.hash == _hash(candidate, limits)
        and standing.files == digests(candidate, limits)[0]
    )


def _names(references: Sequence[Reference]) -> list[tuple[str, str]]:
    return [(reference.name, reference.path) for reference in references]


def _hash(candidate: Candidate, limits: Limits) -> str:
    path = candidate.target or candidate.path
    return sha256(read_file(path, limits.skill_file_bytes, candidate.path).data).hexdigest()


def submission(
    candidate: Candidate, source: str, place: str | None, limits: Limits
) -> tuple[Submission | None, list[Diagnostic]]:
    """Return the skill to publish, None when the file is not one, and the diagnostics.

    The path of the skill becomes relative to its root: the root's own path means nothing elsewhere.
    """
    entry = read_one(candidate, LibrarySpec((), (), limits), time.time_ns())
    diagnostics = list(entry.diagnostics)
    if entry.skill is None:
        return None, diagnostics
    files, refused = digests(candidate, limits)
    skill = entry.skill.replace(
        path="/".join(candidate.parts),
        source=source or None,
        references=_with_texts(candidate, limits),
    )
    return Submission(skill, place, files), diagnostics + refused


def digests(
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
