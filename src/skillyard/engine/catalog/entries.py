"""Reads candidates into entries: each file once, its errors as diagnostics."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic, SkillError, SkillIoError
from skillyard.base.invisible import hidden_in_body
from skillyard.base.io.files import same_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.discovery.entries import path_in_text
from skillyard.engine.discovery.layout import STABLE_AFTER_NS, Candidate, CandidateFile, Stamp
from skillyard.engine.formats.agentskills import (
    DERIVABLE,
    ParsedDocument,
    SkillText,
    parse_document,
)
from skillyard.engine.formats.conventions import parse_convention, parse_key_skill
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import FileContent, read_file
from skillyard.engine.skill import Origin, Skill

if TYPE_CHECKING:
    from skillyard.engine.catalog.roots import LibrarySpec

Progress = Callable[[int, int], None]
"""Called with (files read, files found) from time to time during a long load."""


class CatalogEntry(NamedTuple):
    """The result of reading one candidate."""

    candidate: Candidate
    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...]
    is_stable: bool
    """The file was old enough when it was read that every later change alters its stamp."""


def read_all(
    candidates: Sequence[Candidate],
    spec: LibrarySpec,
    previous: dict[str, CatalogEntry],
    progress: Progress | None,
) -> dict[str, CatalogEntry]:
    """Read the candidates that are new or may have changed. Reuse the previous entry for others."""
    entries: dict[str, CatalogEntry] = {}
    total = len(candidates)
    now = time.time_ns()
    for number, candidate in enumerate(candidates):
        earlier = previous.get(candidate.path)
        if earlier is not None and earlier.is_stable and earlier.candidate == candidate:
            entries[candidate.path] = earlier
        else:
            entry = read_one(candidate, spec, now)
            if earlier is not None and earlier.skill == entry.skill:  # the object stays the same
                entry = entry._replace(skill=earlier.skill)
            entries[candidate.path] = entry
        if progress is not None and number % 256 == 0:
            progress(number, total)
    if progress is not None:
        progress(total, total)
    return entries


def read_candidate(candidate: Candidate) -> FileContent:
    """Return a scanned file. Raises SkillIoError when it was replaced since."""
    content = read_file(
        candidate.target or candidate.path, DEFAULT_LIMITS.skill_file_bytes, candidate.path
    )
    if (content.status.st_ino, content.status.st_dev) != candidate.stamp[3:]:
        raise SkillIoError(
            "the file was replaced while it was being read",
            path=candidate.path,
            code="changed_while_reading",
            hint="load again",
        )
    return content


def read_one(
    candidate: Candidate, spec: LibrarySpec, now: int, content: CandidateFile | None = None
) -> CatalogEntry:
    """Read and parse one file at the time ``now``. Errors and refusals become diagnostics."""
    is_stable = content is None and candidate.stamp.ctime_ns + STABLE_AFTER_NS < now
    try:
        file = content or CandidateFile(candidate, *read_candidate(candidate))
        if linked := path_in_text(file.data):
            raise SkillIoError(
                f"a link to {linked} that was written as a text file",
                path=candidate.path,
                code="link_as_text",
                hint="say `git config core.symlinks true` and check the file out again, or copy"
                " the file that it names",
            )
        parsed = parse_file(file)
    except SkillError as error:
        if not error.path:
            error.path = candidate.path
        return CatalogEntry(candidate, None, (error.diagnostic(),), is_stable)
    if spec.policy is not None:
        refused = spec.policy.diagnostic(parsed.skill)
        if refused is not None:
            return CatalogEntry(candidate, None, (refused,), is_stable)
    diagnostics = list(parsed.diagnostics)
    hidden = hidden_in_body(file.data)
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
    return CatalogEntry(candidate, parsed.skill, tuple(diagnostics), is_stable)


def parse_file(file: CandidateFile) -> ParsedDocument:
    """Return the skill of a file. Raises SkillError."""
    candidate = file.candidate
    text = decode(file.data, candidate.path)
    document = SkillText(
        candidate.path,
        candidate.folder,
        candidate.origin,
        candidate.scope,
        hashlib.sha256(file.data).hexdigest(),
        int(file.status.st_mtime),
        candidate.references,
        plugin=candidate.plugin,
    )
    if candidate.origin == Origin.CONVENTION:
        return parse_convention(document, text)
    if candidate.origin == Origin.OASIS:
        return parse_key_skill(document, text)
    strict = candidate.origin == Origin.RUNTIME
    try:
        return parse_document(document, text, strict=strict)
    except SkillError as error:
        if strict or error.code not in DERIVABLE:
            raise
        from skillyard.engine.discovery.plugins import is_read_by_claude_code  # few files need it

        if not (file.has_loaded or candidate.plugin or is_read_by_claude_code(candidate.path)):
            raise
        return parse_document(document._replace(derives=True), text, strict=False)


def refresh(skill: Skill, start: str = "") -> Skill:
    """Return the skill read from its file again. A skill without a file is returned unchanged.

    A relative path begins in ``start``, or else in the current folder. Raises SkillError when the
    file is no longer a skill, or when a link now leads to another file: the folder may have been
    replaced by a link since it was loaded.
    """
    if skill.origin is None or not skill.path or skill.stored:
        return skill
    path = os.path.join(start, skill.path)
    folder, name = os.path.split(path)
    try:
        home, real = os.path.realpath(folder or "."), os.path.realpath(path)
    except OSError:  # a link changed while it was resolved
        home, real = folder, path
    content = read_file(real, DEFAULT_LIMITS.skill_file_bytes, skill.path)
    by_link = not same_path(real, os.path.abspath(path))
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
        plugin=skill.plugin or "",
    )
    return parse_file(CandidateFile(candidate, *content)).skill
