"""What is scanned at a path: skills with their folders, single documents, and what is left out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from skillyard.discovery import Root, scan
from skillyard.errors import Diagnostic
from skillyard.scanning import LOW, MEDIUM, Finding, SkillFile, files_of_folder, single_file
from skillyard.scanning.rules import RULES_BY_ID
from skillyard.text import clean_line

__all__ = ["ScanUnit", "scan_units"]

_BY_PATH = "scan it by its path if it matters"
_MAX_NAMES = 5
"""Names of files outside of all skills that one finding lists."""


class ScanUnit(NamedTuple):
    """One skill's folder, or one document without a folder of its own."""

    path: str
    is_folder: bool
    remarks: tuple[Finding, ...] = ()
    """What was left out on the way to it."""

    def read(self, others: Collection[str]) -> Iterator[SkillFile]:
        """Yield the files, but those in folders that are scanned by themselves."""
        if self.is_folder:
            return files_of_folder(self.path, others)
        return iter([single_file(self.path)])

    def shown(self, path: str) -> str:
        """Return the path of a file for people."""
        folder = self.path if self.is_folder else os.path.dirname(self.path)
        return path if folder in ("", ".") else f"{folder.rstrip('/')}/{path}"


def scan_units(path: str) -> list[ScanUnit]:
    """Return the skills at a path, at least one.

    The first one has the remarks about everything below the path that belongs to none of them.
    """
    if not os.path.isdir(path):
        return [_unit_of(path)]
    scanned = scan([Root(path)])
    units = {unit.path: unit for unit in map(_unit_of, (c.path for c in scanned.candidates))}
    for unit in map(_unit_of, (diagnostic.path for diagnostic in scanned.diagnostics)):
        # A SKILL.md that is not read, such as a link, does not hide the files beside it.
        if unit.is_folder and os.path.isdir(unit.path):
            units.setdefault(unit.path, unit)
    listed = list(units.values()) or [ScanUnit(path, is_folder=True)]
    remarks = (*map(_left_out, scanned.diagnostics), *_outside(path, listed))
    return [listed[0]._replace(remarks=remarks), *listed[1:]]


def _unit_of(file: str) -> ScanUnit:
    """Return the skill that a file belongs to."""
    folder, name = os.path.split(file)
    is_folder = name.lower() == "skill.md"
    return ScanUnit(folder or "." if is_folder else file, is_folder)


def _left_out(diagnostic: Diagnostic) -> Finding:
    line = diagnostic.line or 1
    return _not_scanned(diagnostic.path, MEDIUM, diagnostic.message, diagnostic.hint, line)


def _outside(root: str, units: Iterable[ScanUnit]) -> Iterator[Finding]:
    """Yield a finding for each folder above the skills in which something belongs to none."""
    places = {_parts(unit.path, root): unit.is_folder for unit in units}
    above = {parts[:end] for parts in places for end in range(len(parts))}
    for folder in sorted(above):
        if any(places.get(folder[:end]) for end in range(len(folder) + 1)):
            continue  # a skill with another one in it: all files belong to one of them
        path = os.path.join(root, *folder)
        try:
            names = sorted(os.listdir(path))
        except OSError:  # said by discovery
            continue
        others = [n for n in names if (*folder, n) not in places and (*folder, n) not in above]
        if others:
            one = len(others) == 1
            what = "a file or folder" if one else f"{len(others):,} files and folders"
            shown = ", ".join(map(_shown, others[:_MAX_NAMES]))
            more = "" if len(others) <= _MAX_NAMES else ", …"
            yield _not_scanned(path, LOW, f"{what} without a skill: {shown}{more}", _BY_PATH)


def _parts(path: str, root: str) -> tuple[str, ...]:
    above = os.path.join(root, "")
    relative = path.removeprefix(above) if path.startswith(above) else os.path.relpath(path, root)
    return () if relative == os.curdir else tuple(relative.split(os.sep))


def _shown(name: str) -> str:
    return clean_line(name.encode("utf-8", "backslashreplace").decode("utf-8"))


def _not_scanned(path: str, severity: str, message: str, fix: str | None, line: int = 1) -> Finding:
    rule = RULES_BY_ID["not_scanned"]
    title = f"{rule.title}: {message}"
    return Finding(rule.id, severity, path, line, title, "", fix or rule.fix, "")
