"""What another version of a skill changes: files, text, allowed tools and findings of the scan."""

from __future__ import annotations

import os
from difflib import unified_diff

from skillyard.base.errors import SkillError
from skillyard.base.io.folder_manifest import FolderManifest, manifest_of
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.installation import Difference, FileChange
from skillyard.base.shapes.scans import ScanFinding
from skillyard.check.scanning import files_of_folder, files_of_package, scan_files
from skillyard.check.scanning.document import SCRIPT, kind_of
from skillyard.check.scanning.files import text_of
from skillyard.engine.resources import read_file
from skillyard.install.copies.installed import LIMITS
from skillyard.install.copies.placement import check_files
from skillyard.install.copies.verdict import publisher_of
from skillyard.install.sources.protocol import Package

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
    before, after = _tools(_old_text(folder)), _tools(files.get("SKILL.md"))
    publisher = publisher_of(package.source_type, package.source)
    known = {_key(each) for each in scan_files(files_of_folder(folder), publisher)}
    found = scan_files(files_of_package(files), publisher)
    findings = [each for each in found if _key(each) not in known]
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


def _old_text(folder: str) -> bytes | None:
    try:
        return read_file(os.path.join(folder, "SKILL.md"), _MAX_BYTES * 8).data
    except SkillError:
        return None


def _tools(text: bytes | None) -> tuple[str, ...]:
    """Return the allowed tools of a SKILL.md; none where it is not one."""
    try:
        return check_files({"SKILL.md": text or b""}, "SKILL.md").allowed_tools
    except SkillError:
        return ()


def _key(finding: ScanFinding) -> tuple[str, str, str]:
    return finding.rule, finding.path, finding.message
