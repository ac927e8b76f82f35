"""Find the newest version of installed skills, and take it after showing what it changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff

from skillyard.base.errors import (
    InvalidInput,
    SkillError,
    SkillIoError,
    SkillyardError,
    UnknownName,
)
from skillyard.base.io.files import sha256
from skillyard.base.io.folder_manifest import FolderManifest, manifest_of
from skillyard.base.shapes.details import ScanFinding
from skillyard.base.shapes.installation import (
    Difference,
    FileChange,
    LockedVersion,
    Outdated,
    SkillProblem,
    SkillUpdate,
    Updated,
)
from skillyard.base.text import folder_name
from skillyard.check.scanning import files_of_folder, files_of_package, scan_files
from skillyard.check.scanning.document import SCRIPT, kind_of
from skillyard.check.scanning.files import text_of
from skillyard.engine.resources import read_file
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.installed import (
    LIMITS,
    edits_since,
    manifest_at,
    note_installed,
    shown_edits,
    with_lf,
)
from skillyard.install.copies.lockfile import Lock, LockedSkill, alone
from skillyard.install.copies.placement import check_files, move_to_backup
from skillyard.install.copies.verdict import check_accept, publisher_of
from skillyard.install.operations.admission import (
    AdmittedSkill,
    ReportFetched,
    admit,
    check_signature,
    fetch_packages,
    policy_of,
    refusal_of,
)
from skillyard.install.operations.problems import failure_of, moved_to, problem, problem_of_state
from skillyard.install.operations.project import (
    InstalledSkill,
    LockedProject,
    open_project,
    unchanged_check,
)
from skillyard.install.origins.locked import repinned
from skillyard.install.policy.decision import AdmissionPolicy
from skillyard.install.signatures import signer_of
from skillyard.install.sources.protocol import Package

_FETCHED = ("current", "behind", "missing", "not_comparable")
"""States of which the newest version is asked for."""


def update_skills(
    names: Iterable[str] = (),
    into: str | None = None,
    *,
    user: bool = False,
    confirm: Callable[[SkillUpdate], bool],
    accept: Mapping[str, str] | None = None,
    dry_run: bool = False,
    report: ReportFetched | None = None,
) -> Updated:
    """Replace skills by the newest of their branch or tag; all of the lock without names.

    ``user`` means the skills of the user. ``confirm`` is called with each newer version and decides
    whether it is taken. A missing skill is installed in its newest version. A skill with local
    changes, or with a high finding of the scan that nobody accepted, is refused. One skill that
    fails does not stop the others. ``accept`` is as in ``add_skill``. Raises UnknownName,
    SkillIoError for the lock file, InvalidInput.
    """
    reasons = check_accept(accept or {})
    project = open_project(into, user=user)
    if not dry_run:
        project.complete()
    lock = project.lock.read()
    names = list(names)
    extra = project.extra(lock)
    skills = project.skills(lock, entries_named(names, lock))
    fetched = [skill for skill in skills if skill.state in _FETCHED]
    newest = fetch_packages(fetched, project, pinned=False, report=report)
    # A project that was cloned has no record of what was written, which would name the files.
    nameless = [
        skill
        for skill in skills
        if skill.state == "edited" and skill.entry.digest and not any(c.files for c in skill.copies)
    ]
    original = fetch_packages(nameless, project, pinned=True)
    results = []
    for skill in skills:
        name = skill.entry.name
        if name in newest:
            taken = None if dry_run else confirm
            results.append(_update(skill, newest[name], project, reasons, taken))
        else:
            reason = None if skill.state == "linked" else problem_of_state(skill)
            if reason is not None and isinstance(package := original.get(name), Package):
                reason = _with_edits(reason, skill, package)
            results.append(replace(_unchanged(skill), problem=reason))
    return Updated(
        lock=project.lock.path,
        dry_run=dry_run,
        skills=tuple(results),
        extra=() if names else extra,
    )


def _with_edits(reason: SkillProblem, skill: InstalledSkill, original: Package) -> SkillProblem:
    """Return a problem that names the files that differ from the version of the lock."""
    modes = original.executable
    written = {
        path: (sha256(data).hex(), None if modes is None else path in modes)
        for path, data in original.files.items()
    }
    folder = next(copy.folder for copy in skill.copies if copy.state == skill.state)
    try:
        edits = edits_since(manifest_of(folder, LIMITS), folder, written)
    except (SkillIoError, OSError):
        edits = []
    message = f"it has local changes: {shown_edits(edits)}" if edits else reason.message
    return replace(reason, message=message, files=tuple(edits))


def entries_named(names: Iterable[str], lock: Lock) -> list[LockedSkill]:
    """Return the entries of the names, each once, or all without names. Raises UnknownName.

    A name is that of an entry, or exactly that of its folder; one in another script may be either.
    """
    entries: dict[str, LockedSkill] = {}
    for name in names:
        folder = folder_name(name)
        is_folder = folder == name or not name.isascii()
        entry = lock.get(name) or (lock.in_folder(folder) if is_folder else None)
        if entry is None:
            raise UnknownName("skill of the lock file", name, [each.name for each in lock.skills])
        entries[entry.name] = entry
    return list(entries.values() or lock.skills)


def version_of(entry: LockedSkill) -> str | None:
    """Return the commit of an entry, else its digest, else None."""
    return entry.commit or entry.digest or None


def _unchanged(skill: InstalledSkill) -> SkillUpdate:
    return SkillUpdate(
        name=skill.entry.name,
        state=skill.state,
        folders=skill.folders,
        pinned=version_of(skill.entry),
        newest=None,
        difference=None,
        signature=None,
        problem=None,
    )


def _update(
    skill: InstalledSkill,
    package: Package | SkillyardError,
    project: LockedProject,
    accept: Mapping[str, str],
    confirm: Callable[[SkillUpdate], bool] | None,
) -> SkillUpdate:
    """Show and take one version; without ``confirm`` only show it. Never raises for the skill."""
    entry = skill.entry
    result = replace(_unchanged(skill), state="current")
    try:
        if isinstance(package, SkillyardError):
            raise package
        new = repinned(entry, package)
        moved_there = moved_to(skill, new)
        result = replace(result, newest=version_of(new))
        is_same = entry.digest and entry.pins_same(new) and moved_there is None
        if is_same and skill.state == "current":
            policy = policy_of(project.lock)
            if policy is None or not policy.rules.checks_signatures:
                return result
            # A signer in the lock is only its word, which anybody who may commit can write.
            admission = admit(entry, package, known=entry, lock=project.lock, accept=accept)
            if admission.entry.to_json() == entry.to_json():
                return result
            result = replace(result, state="available", signature=admission.signature.document())
            is_lost = admission.signature.change == "lost"
            if is_lost:  # shown as every other change, of no files
                result = replace(result, difference=difference_of(skill.folders[0], package))
            if confirm is None or (is_lost and not confirm(result)):
                return result
            _write(skill, admission, project)
            return replace(result, state="pinned")
        difference = difference_of(skill.folders[0], package)
        result = replace(result, state="available", difference=difference, problem=moved_there)
        admission = admit(new, package, known=entry, lock=project.lock, accept=accept)
        result = replace(result, signature=admission.signature.document())
        if confirm is None or not confirm(result):
            return result
        if skill.state != "not_comparable":
            same = _write(skill, admission, project)
        else:
            same, backups = _take_over(skill, admission, project)
            if backups:
                what = f"what was there may have local changes, and is now in {backups}"
                result = replace(result, problem=problem(f"skill_{skill.state}", what))
        return replace(result, state="pinned" if same else "updated")
    except SkillyardError as error:
        state, reason = failure_of(error, skill)
        return replace(result, state=state, problem=reason)
    except OSError as error:
        reason = problem("io_error", str(error.strerror or error), path=str(error.filename or ""))
        return replace(result, state="refused", problem=reason)


def _take_over(
    skill: InstalledSkill, admission: AdmittedSkill, project: LockedProject
) -> tuple[bool, str]:
    """Write a version over folders of the installer; return as ``_write`` and where backups are.

    A folder with anything that is not of the version is moved to a backup. Raises InstallRefused,
    SkillIoError, OSError.
    """
    name, files = folder_name(skill.entry.name), admission.package.files
    known = {sha256(data).hex() for data in files.values()}
    moved: dict[str, str] = {}
    places = [copy.folder for copy in skill.copies]
    try:
        with alone(*skill.into):
            for copy in skill.copies:
                there = None if copy.is_users else manifest_at(copy.folder)
                if there is None:
                    continue
                tidy = there.without_litter()
                digests = {with_lf(each, copy.folder).digest for each in tidy.of_kind("file")}
                if tidy.beside_files() or digests - known:
                    moved[copy.folder] = move_to_backup(copy.folder, copy.into, name)
                else:
                    note_installed(copy.folder, there, places=places)
        same = _write(skill, admission, project, known=admission.entry)
    except BaseException:
        for folder, backup in moved.items():
            if not os.path.lexists(folder):
                os.rename(backup, folder)
        raise
    return same, ", ".join(map(shown_path, moved.values()))


def _write(
    skill: InstalledSkill,
    admission: AdmittedSkill,
    project: LockedProject,
    *,
    known: LockedSkill | None = None,
) -> bool:
    """Write a version to every folder of a skill and note it; True if all had its files already.

    ``known`` is the entry by which they were installed (default: that of the lock). Raises
    InstallRefused, SkillIoError.
    """
    entry, lock = skill.entry, project.lock
    check = unchanged_check(lock, entry, admission.entry)
    placed = admission.write(skill.into, known or entry, lock, check=check)
    same = all(each.state == "unchanged" for each in placed)
    if same:
        lock.note(admission.entry)
    return same


def outdated_skills(
    into: str | None = None,
    *,
    user: bool = False,
    report: ReportFetched | None = None,
) -> Outdated:
    """Ask for the newest version of each skill of the lock, or of that of the user.

    Writes nothing. A newer commit that does not change the skill's files is none, and a linked
    skill has no newer version than its folder. The policy may refuse both. Raises SkillIoError for
    the lock file and the policy, InvalidInput.
    """
    project = open_project(into, user=user)
    policy = policy_of(project.lock)
    skills = project.skills(project.lock.read())
    fetched = [skill for skill in skills if skill.state not in ("linked", "refused")]
    packages = fetch_packages(fetched, project, pinned=False, report=report)
    versions = [_version(skill, packages.get(skill.entry.name), policy) for skill in skills]
    return Outdated(lock=project.lock.path, skills=tuple(versions))


def _version(
    skill: InstalledSkill, package: Package | SkillyardError | None, policy: AdmissionPolicy | None
) -> LockedVersion:
    """Return the version of a skill; ``package`` is None for a linked one."""
    entry = skill.entry
    version = LockedVersion(
        name=entry.name,
        state=skill.state,
        folder_state=skill.state,
        ref=entry.ref or None,
        pinned=version_of(entry),
        newest=None,
        problem=None,
    )
    if package is None and skill.state == "refused":
        return replace(version, problem=problem_of_state(skill))
    if package is None:
        files = files_of_folder(skill.folders[0])
        refusal = refusal_of(skill, entry, files, policy, signer_of(entry))
        return version if refusal is None else replace(version, state="refused", problem=refusal)
    if isinstance(package, SkillyardError):
        state, problem = failure_of(package, skill)
        state = "unsupported" if isinstance(package, InvalidInput) else state
        return replace(version, state=state, problem=problem)
    new = repinned(entry, package)
    try:
        signature = check_signature(new, package, entry, policy)
    except SkillyardError as error:
        refusal = failure_of(error, skill)[1]
    else:
        refusal = refusal_of(skill, new, files_of_package(package.files), policy, signature.signer)
    if refusal is not None:
        return replace(version, state="refused", newest=version_of(new), problem=refusal)
    moved = moved_to(skill, new)
    if moved is not None:
        return replace(version, state="moved", newest=version_of(new), problem=moved)
    hashes = (entry.content_hash, new.content_hash)
    if skill.state == "not_comparable" and None in hashes:  # nothing says which version it is
        return replace(version, newest=version_of(new), problem=problem_of_state(skill))
    if not entry.pins_same(new):
        return replace(version, state="outdated", newest=version_of(new))
    return replace(version, newest=version_of(entry) or version_of(new))


_MAX_BYTES = 131_072
_MAX_LINES = 1_000
"""Lines of a file. difflib takes time by their square."""
_MAX_DIFFS = 20
"""Files whose text is compared, of one skill."""
_MODE = "mode"
"""The kind of a file of which only that changes whether it may be executed."""
_KINDS = ("changed", _MODE, "added", "removed")
"""Kinds of changes, in the order in which they are shown."""


def difference_of(folder: str, package: Package) -> Difference:
    """Return what fetched files change in an installed folder, which may be missing.

    Raises OSError, SkillIoError.
    """
    files = package.files
    there = manifest_of(folder, LIMITS) if os.path.lexists(folder) else FolderManifest(())
    changes, modes = _changes(there, package)
    left = _MAX_DIFFS
    listed = []
    for path, change in changes:
        diff, why = "", ""
        if change == _MODE:
            change = "changed"
        elif left:
            diff, why = _diff(folder, path, files.get(path), change)
            left -= bool(diff)
        else:
            why = "too many files for a diff"
        note = "; ".join(filter(None, (modes.get(path), why)))
        listed.append(FileChange(path=path, change=change, diff=diff, note=note))
    old_text = None
    with suppress(SkillError):
        old_text = read_file(os.path.join(folder, "SKILL.md"), _MAX_BYTES * 8).data
    before, after = _tools(old_text), _tools(files.get("SKILL.md"))
    publisher = publisher_of(package.source_type, package.source)
    known = {_key(each) for each in scan_files(files_of_folder(folder), publisher)}
    newer = scan_files(files_of_package(files), publisher)
    findings = [each for each in newer if _key(each) not in known]
    return Difference(
        files=tuple(listed),
        tools_added=tuple(tool for tool in after if tool not in before),
        tools_removed=tuple(tool for tool in before if tool not in after),
        findings=tuple(findings),
    )


def _changes(
    there: FolderManifest, package: Package
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return path and kind of each change, and what becomes of executable files.

    Changed files come first, then added and removed ones. Of each kind SKILL.md comes first, then
    what can be run: many files that are added cannot push a changed script beyond the limits.
    """
    files = package.files
    old = {each.path: each for each in there.of_kind("file") if each.path in files}
    modes = {
        path: "no longer executable" if entry.executable else "now executable"
        for path, entry in old.items()
        if entry.executable != (path in (package.executable or ()))
    }
    # Nothing says which files may be executed.
    if package.executable is None or there.executable_digest() is None:
        modes = {}
    changed = [path for path in old if sha256(files[path]).hex() != old[path].digest]
    changes = [(path, "changed") for path in changed]
    changes += [(path, _MODE) for path in modes if path not in changed]
    changes += [(path, "added") for path in files if path not in old]
    changes += [(each.path, "removed") for each in there.of_kind("file") if each.path not in files]

    def rank(change: tuple[str, str]) -> tuple[int, bool, bool, str]:
        path, kind = change
        is_script = kind_of(path, files.get(path, b"")) == SCRIPT
        return _KINDS.index(kind), path != "SKILL.md", not is_script, path

    return sorted(changes, key=rank), modes


def _diff(folder: str, path: str, new: bytes | None, change: str) -> tuple[str, str]:
    """Return the diff of one file, or why there is none."""
    old = b""
    if change != "added":
        try:
            old = read_file(os.path.join(folder, *path.split("/")), _MAX_BYTES).data
        except SkillError as error:
            too_large = error.code == "file_too_large"
            return "", "too large for a diff" if too_large else str(error.message)
    new = new or b""
    if change == "changed" and old.replace(b"\r\n", b"\n") == new:
        return "", "line ends"
    if len(new) > _MAX_BYTES:
        return "", "too large for a diff"
    before, after = _lines(path, old), _lines(path, new)
    if before is None or after is None:
        return "", "binary"
    if max(len(before), len(after)) > _MAX_LINES:
        return "", "too large for a diff"
    before_name = "/dev/null" if change == "added" else path
    after_name = "/dev/null" if change == "removed" else path
    lines = unified_diff(before, after, before_name, after_name, lineterm="")
    diff = "".join(f"{line}\n" for line in lines)
    if diff or change != "changed":
        return diff, ""
    is_newline = old.removesuffix(b"\n") == new.removesuffix(b"\n")
    return "", "only the newline at its end" if is_newline else "only NUL bytes or the encoding"


def _lines(path: str, data: bytes) -> list[str] | None:
    r"""Return the lines of a text without the end of the last; None for what is no text.

    Whatever the scan reads as text is text here too: shells run scripts with bytes that are no
    UTF-8. Such bytes are written as ``\xff``.
    """
    content = text_of(path, data)
    if content is None:
        return None
    text = content.decode("utf-8", "backslashreplace")
    return text.removesuffix("\n").split("\n") if text else []


def _tools(text: bytes | None) -> tuple[str, ...]:
    """Return the allowed tools of a SKILL.md; none where it is not one."""
    try:
        return check_files({"SKILL.md": text or b""}, "SKILL.md").allowed_tools
    except SkillError:
        return ()


def _key(finding: ScanFinding) -> tuple[str, str, str]:
    return finding.rule, finding.path, finding.message
