"""What is scanned at a path: skills with their folders, single documents, and what is left out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.shapes.scans import ScanFinding
from skillyard.base.text import clean_line
from skillyard.check.scanning import LOW, MEDIUM, SkillFile, files_of_folder, single_file
from skillyard.check.scanning.rules import RULES_BY_ID
from skillyard.engine.catalog.roots import LibrarySpec, all_roots

_BY_PATH = "scan it by its path if it matters"
_MAX_NAMES = 5
"""Names of files outside of all skills that one finding lists."""
_NO_CONTENT = (".git", "skills-lock.json")


class ScanUnit(NamedTuple):
    """One skill's folder, or one document without a folder of its own."""

    path: str
    is_folder: bool
    root: str | None = None
    """The folder that is scanned. Links to pages and scripts in it are followed."""
    publisher: str = ""
    """Who publishes it, where that is known."""

    def read(self, others: Collection[str]) -> Iterator[SkillFile]:
        """Yield the files, but those in folders that are scanned by themselves."""
        if self.is_folder:
            return files_of_folder(self.path, others, self.root)
        return iter([single_file(self.path, self.root)])

    def shown(self, path: str) -> str:
        """Return the path of a file for people."""
        folder = self.path if self.is_folder else os.path.dirname(self.path)
        return path if folder in ("", ".") else f"{folder.rstrip('/')}/{path}"


def scan_units(path: str) -> tuple[list[ScanUnit], list[ScanFinding]]:
    """Return the skills at a path, at least one, and what is left out below it."""
    if not os.path.isdir(path):
        return [_unit_of(path)], []
    return library_units(LibrarySpec((path,), ()))


def library_units(library: LibrarySpec) -> tuple[list[ScanUnit], list[ScanFinding]]:
    """Return the skills of a library, and what is left out in its folders.

    Without any, and without scopes, each root is scanned as if it were a skill.
    """
    scanned = library.scan()
    documents = [_unit_of(each.path) for each in scanned.candidates]
    folders = {unit.path for unit in documents if unit.is_folder}
    # A document in a skill's folder, such as AGENTS.md, is a file of that skill.
    units = {u.path: u for u in documents if u.is_folder or folders.isdisjoint(_above(u.path))}
    for unit in map(_unit_of, (diagnostic.path for diagnostic in scanned.diagnostics)):
        # A SKILL.md that is not read, such as a link, does not hide the files beside it.
        if unit.is_folder and os.path.isdir(unit.path):
            units.setdefault(unit.path, unit)
    if not units and not library.scopes:
        units = {root: ScanUnit(root, is_folder=True) for root in library.roots}
    roots = [root.path for root in all_roots(library.roots, library.scopes, library.folder)]
    listed = [
        unit._replace(root=next((r for r in roots if _lies_in(unit.path, r)), None))
        for unit in units.values()
    ]
    outside = (each for root in roots for each in _outside(root, listed))
    return listed, [*map(_left_out, scanned.diagnostics), *outside]


def _above(path: str) -> Iterator[str]:
    while path != (path := os.path.dirname(path)):
        yield path


def _unit_of(file: str) -> ScanUnit:
    """Return the skill that a file belongs to."""
    folder, name = os.path.split(file)
    is_folder = name.lower() == "skill.md"
    return ScanUnit(folder or "." if is_folder else file, is_folder)


def _left_out(diagnostic: Diagnostic) -> ScanFinding:
    line = diagnostic.line or 1
    severity = LOW if diagnostic.severity == "info" else MEDIUM  # info: left out as it should be
    return _not_scanned(diagnostic.path, severity, diagnostic.message, diagnostic.hint, line)


def _outside(root: str, units: Iterable[ScanUnit]) -> Iterator[ScanFinding]:
    """Yield a finding for each folder above the skills in which something belongs to none."""
    inside = (unit for unit in units if _lies_in(unit.path, root))
    places = {_parts(unit.path, root): unit.is_folder for unit in inside}
    above = {parts[:end] for parts in places for end in range(len(parts))}
    real = {os.path.realpath(os.path.join(root, *parts)) for parts in places}
    for folder in sorted(above):
        if any(places.get(folder[:end]) for end in range(len(folder) + 1)):
            continue  # a skill with another one in it: all files belong to one of them
        path = os.path.join(root, *folder)
        try:
            names = sorted(os.listdir(path))
        except OSError:  # said by discovery
            continue
        others = [
            n
            for n in names
            if (*folder, n) not in places
            and (*folder, n) not in above
            and n not in _NO_CONTENT
            and not _holds_links_to(os.path.join(path, n), real)
        ]
        if others:
            one = len(others) == 1
            what = "a file or folder" if one else f"{len(others):,} files and folders"
            shown = ", ".join(map(_shown, others[:_MAX_NAMES]))
            more = "" if len(others) <= _MAX_NAMES else ", …"
            yield _not_scanned(path, LOW, f"{what} without a skill: {shown}{more}", _BY_PATH)


def _holds_links_to(path: str, scanned: Collection[str], depth: int = 3) -> bool:
    """True for a link to what is scanned, and for a folder that holds nothing else."""
    if os.path.islink(path):
        return os.path.realpath(path) in scanned
    try:
        below = [os.path.join(path, name) for name in os.listdir(path)] if depth else []
    except OSError:
        return False
    return bool(below) and all(_holds_links_to(each, scanned, depth - 1) for each in below)


def _lies_in(path: str, root: str) -> bool:
    return _parts(path, root)[:1] != (os.pardir,)


def _parts(path: str, root: str) -> tuple[str, ...]:
    above = os.path.join(root, "")
    relative = path.removeprefix(above) if path.startswith(above) else os.path.relpath(path, root)
    return () if relative == os.curdir else tuple(relative.split(os.sep))


def _shown(name: str) -> str:
    return clean_line(name.encode("utf-8", "backslashreplace").decode("utf-8"))


def _not_scanned(
    path: str, severity: str, message: str, fix: str | None, line: int = 1
) -> ScanFinding:
    rule = RULES_BY_ID["not_scanned"]
    return ScanFinding(
        rule=rule.id,
        severity=severity,
        path=path,
        line=line,
        message=f"{rule.title}: {message}",
        quote="",
        fix=fix or rule.fix,
        digest="",
    )
