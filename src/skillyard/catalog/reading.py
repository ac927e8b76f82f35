"""From candidates to entries: each file read once, whatever is wrong with it as diagnostics."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from skillyard.discovery import Candidate, Stamp
from skillyard.discovery.candidate import SETTLED_NS
from skillyard.errors import Diagnostic, SkillError, SkillIoError
from skillyard.formats.agentskills import Document, Parsed, parse_document
from skillyard.formats.conventions import parse_convention
from skillyard.formats.frontmatter import decode
from skillyard.formats.oasis import parse_key_skill
from skillyard.io.paths import same_path
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.resources import read_file
from skillyard.skill import Origin, Skill
from skillyard.text import hidden_in_body

__all__ = ["Entry", "Progress", "kept", "read_all", "read_one", "refresh"]

Progress = Callable[[int, int], None]
"""Called with (files read, files found) from time to time during a long load."""


class Entry(NamedTuple):
    """One candidate as it was read."""

    candidate: Candidate
    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...]
    settled: bool
    """The file was old enough when read for its stamp to tell every later change."""


def read_all(
    candidates: Sequence[Candidate],
    limits: Limits,
    known: dict[str, Entry],
    progress: Progress | None,
) -> dict[str, Entry]:
    """Read every candidate that is new or may have changed; keep the others as they are."""
    entries: dict[str, Entry] = {}
    total = len(candidates)
    now = time.time_ns()
    for number, candidate in enumerate(candidates):
        earlier = known.get(candidate.path)
        if earlier is not None and earlier.settled and earlier.candidate == candidate:
            entries[candidate.path] = earlier
        else:
            entries[candidate.path] = kept(read_one(candidate, limits, now), earlier)
        if progress is not None and number % 256 == 0:
            progress(number, total)
    if progress is not None:
        progress(total, total)
    return entries


def read_one(candidate: Candidate, limits: Limits, now: int) -> Entry:
    """Read and parse one file at the time ``now``. What is wrong with it becomes a diagnostic."""
    settled = candidate.stamp.ctime_ns + SETTLED_NS < now
    try:
        content = read_file(
            candidate.target or candidate.path, limits.skill_file_bytes, candidate.path
        )
        if (content.status.st_ino, content.status.st_dev) != candidate.stamp[3:]:
            raise SkillIoError(
                "the file was replaced while it was being read",
                path=candidate.path,
                code="changed_while_reading",
                hint="load again",
            )
        parsed = _parse(candidate, content.data, int(content.status.st_mtime), limits)
    except SkillError as error:
        if not error.path:
            error.path = candidate.path
        return Entry(candidate, None, (error.diagnostic(),), settled)
    diagnostics = list(parsed.diagnostics)
    hidden = hidden_in_body(content.data)
    if hidden is not None:
        line, label = hidden
        diagnostics.append(
            Diagnostic(
                "hidden_character",
                "warning",
                candidate.path,
                f"the text holds {label}; it is written out visibly wherever it is shown",
                "remove it",
                line,
            )
        )
    return Entry(candidate, parsed.skill, tuple(diagnostics), settled)


def _parse(candidate: Candidate, data: bytes, modified: int, limits: Limits) -> Parsed:
    text = decode(data, candidate.path)
    document = Document(
        candidate.path,
        candidate.folder,
        candidate.origin,
        candidate.scope,
        hashlib.sha256(data).hexdigest(),
        modified,
        candidate.references,
    )
    if candidate.origin == Origin.CONVENTION:
        return parse_convention(document, text, limits)
    if candidate.origin == Origin.OASIS:
        return parse_key_skill(document, text, limits)
    strict = candidate.origin == Origin.RUNTIME
    return parse_document(document, text, strict=strict, limits=limits)


def kept(entry: Entry, earlier: Entry | None) -> Entry:
    """Keep the earlier skill where a file was read again and is the same."""
    if earlier is None or earlier.skill is None or entry.skill is None:
        return entry
    return entry._replace(skill=earlier.skill) if entry.skill == earlier.skill else entry


def refresh(skill: Skill, limits: Limits = DEFAULT_LIMITS) -> Skill:
    """Return the skill as its file says now; one without a file is returned as it is.

    Raises SkillError when the file can no longer be read as a skill, and when it is another one
    that a link leads to: the folder may have been exchanged for a link since it was loaded.
    """
    if skill.origin is None or not skill.path or skill.stored:
        return skill
    folder, _, name = skill.path.rpartition("/")
    try:
        home, real = os.path.realpath(folder or "."), os.path.realpath(skill.path)
    except OSError:  # it changes while it is followed
        home, real = folder, skill.path
    if not real.startswith(home.rstrip(os.sep) + os.sep):
        real = skill.path  # a link that leads elsewhere by now: opening it refuses
    content = read_file(real, limits.skill_file_bytes, skill.path)
    by_link = not same_path(home, os.path.abspath(folder or "."))
    if by_link and hashlib.sha256(content.data).hexdigest() != skill.hash:
        raise SkillIoError(
            "a link leads to another file than the one that was loaded",
            path=skill.path,
            code="changed_while_reading",
            hint="load the catalog again",
        )
    candidate = Candidate(
        skill.path,
        (name,),
        skill.origin,
        os.path.basename(home) if name.lower() == "skill.md" else None,
        Stamp(0, 0, 0, 0, 0),
        skill.scope,
        0,
        skill.references,
    )
    return _parse(candidate, content.data, int(content.status.st_mtime), limits).skill
