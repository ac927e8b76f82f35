"""The scan of skills for malicious techniques, with what the lock file accepts taken out."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput, InvalidSkillsRoot
from skillyard.base.io.workers import Workers
from skillyard.base.operation import Spelling
from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import AcceptedFinding, ScanFinding
from skillyard.check.operations.library_check import Format
from skillyard.check.scanning import (
    LOW,
    MEDIUM,
    RULES,
    SEVERITIES,
    SkillFile,
    files_of_folder,
    scan_files,
    single_file,
)
from skillyard.check.scanning.engine import Accepted, without_accepted
from skillyard.check.scanning.files import shown_path
from skillyard.check.scanning.rules import RULES_BY_ID
from skillyard.check.validation.codes import RuleText
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.roots import LibrarySpec, all_roots

_BY_PATH = "scan it by its path if it matters"
_MAX_NAMES = 5
"""Names of files outside of all skills that one finding lists."""
_NO_CONTENT = frozenset([".git", "skills-lock.json"])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScanRequest:
    """Scan skills for malicious techniques."""

    path: Annotated[
        tuple[str, ...],
        "Skill folders, skill files, roots, or names of skills (default: .).",
        Spelling(metavar="PATH|NAME", by_place=True),
    ] = ()
    format: Format = "text"
    strict: Annotated[bool, "Also fail on medium findings."] = False
    lock: Annotated[
        str | None,
        "The lock file whose accepted findings are taken out (default: that of this project, for"
        " what lies in it).",
        Spelling(metavar="FILE"),
    ] = None


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


def library_units(library: LibrarySpec) -> tuple[list[ScanUnit], list[ScanFinding]]:
    """Return the skills of a library, and what is left out in its folders.

    Without any, and without scopes, each root is scanned as if it were a skill.
    """
    scanned = library.scan()
    roots = [root.path for root in all_roots(library.roots, library.scopes, library.folder)]
    documents = [_unit_of(each.path, roots[each.root]) for each in scanned.candidates]
    folders = {unit.path for unit in documents if unit.is_folder}
    # A document in a skill's folder, such as AGENTS.md, is a file of that skill.
    units = {u.path: u for u in documents if u.is_folder or folders.isdisjoint(_above(u.path))}
    for each in scanned.diagnostics:
        # A SKILL.md that is not read, such as a link, does not hide the files beside it.
        root = next((root for root in roots if _parts(each.path, root)[0] != os.pardir), None)
        unit = _unit_of(each.path, root)
        if unit.is_folder and os.path.isdir(unit.path):
            units.setdefault(unit.path, unit)
    if not units and not library.scopes:
        units = {root: ScanUnit(root, is_folder=True, root=root) for root in library.roots}
    listed = list(units.values())
    return listed, [*map(_left_out, scanned.diagnostics), *_outside(listed)]


def _above(path: str) -> Iterator[str]:
    while path != (path := os.path.dirname(path)):
        yield path or os.curdir


def _parts(path: str, root: str) -> tuple[str, ...]:
    return tuple(os.path.relpath(path, root).split(os.sep))


def _unit_of(file: str, root: str | None = None) -> ScanUnit:
    folder, name = os.path.split(file)
    is_folder = name.lower() == "skill.md"
    return ScanUnit(folder or "." if is_folder else file, is_folder, root)


def _left_out(diagnostic: Diagnostic) -> ScanFinding:
    line = diagnostic.line or 1
    severity = LOW if diagnostic.severity == "info" else MEDIUM  # info: left out as it should be
    return _not_scanned(diagnostic.path, severity, diagnostic.message, diagnostic.hint, line)


def _outside(units: Sequence[ScanUnit]) -> Iterator[ScanFinding]:
    """Yield a finding for each folder above the skills in which something belongs to none."""
    folders = {unit.path for unit in units if unit.is_folder}
    real = set(map(os.path.realpath, (unit.path for unit in units)))
    names: dict[str, set[str]] = defaultdict(set)
    for unit in units:
        folder = unit.root or ""
        if not folder or not folders.isdisjoint(_above(unit.path)):
            continue  # all files beside a skill in another one belong to that
        for name in _parts(unit.path, folder):
            if name != os.curdir:  # the root itself is a skill
                names[folder].add(name)
                folder = os.path.join(folder, name)
    for folder, known in names.items():
        try:
            listed = sorted(set(os.listdir(folder)) - known - _NO_CONTENT)
        except OSError:  # said by discovery
            continue
        others = [n for n in listed if not _holds_links_to(os.path.join(folder, n), real)]
        if others:
            one = len(others) == 1
            what = "a file or folder" if one else f"{len(others):,} files and folders"
            shown = ", ".join(map(shown_path, others[:_MAX_NAMES]))
            more = "" if len(others) <= _MAX_NAMES else ", …"
            yield _not_scanned(folder, LOW, f"{what} without a skill: {shown}{more}", _BY_PATH)


def _holds_links_to(path: str, scanned: Collection[str], depth: int = 3) -> bool:
    """True for a link to what is scanned, and for a folder that holds nothing else."""
    if os.path.islink(path):
        return os.path.realpath(path) in scanned
    try:
        below = [os.path.join(path, name) for name in os.listdir(path)] if depth else []
    except OSError:
        return False
    return bool(below) and all(_holds_links_to(each, scanned, depth - 1) for each in below)


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


_LEVELS = {"high": "error", "medium": "warning", "low": "info"}
"""Severity of a finding -> that of reports, which continuous integration shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """The findings on some skills."""

    schema: Schema[Literal["skillyard.scan/1"]] = "skillyard.scan/1"
    paths: Annotated[tuple[str, ...], "What was scanned."]
    scopes: Annotated[tuple[str, ...], "The scopes whose folders were scanned too."] = ()
    skills: Annotated[int, "Scanned skills and single documents."]
    files: Annotated[int, "Their files."]
    findings: Annotated[tuple[ScanFinding, ...], "Sorted by path, line and rule."]
    counts: Annotated[Mapping[str, int], "Findings of each severity."]
    accepted: Annotated[tuple[AcceptedFinding, ...], "Findings that the lock file accepts."]
    lock: Annotated[str | None, "The lock file, where it accepts any."]

    def fails(self, *, strict: bool = False) -> bool:
        """True where a finding is high, or with ``strict`` medium."""
        failing = ("high", "medium") if strict else ("high",)
        return any(each.severity in failing for each in self.findings)

    def render(self, format: str) -> str:
        """Return the findings as ``sarif``, with the accepted ones as suppressed, or ``github``."""
        from skillyard.check.validation import report

        diagnostics = [_diagnostic(each) for each in self.findings]
        if format == "github":
            return report.as_github(diagnostics)
        rules = {rule.id: RuleText(rule.title, "scan", rule.fix, {}) for rule in RULES}
        accepted = [(_diagnostic(each.finding), each.reason) for each in self.accepted]
        return report.as_sarif(diagnostics, rules, accepted)


def _diagnostic(finding: ScanFinding) -> Diagnostic:
    return Diagnostic(
        finding.rule,
        _LEVELS[finding.severity],
        finding.path,
        finding.message,
        finding.fix,
        finding.line,
        None,
        finding.quote,
    )


def scan_skills(
    targets: Sequence[str],
    *,
    load: Callable[[], Catalog],
    library: LibrarySpec | None = None,
    jobs: int = 1,
    accepted: Sequence[Accepted] = (),
    lock: str = "",
    is_own: Callable[[str], bool] = bool,
    reasons: Mapping[str, str] | None = None,
    publishers: Mapping[str, str] | None = None,
) -> Scanned:
    """Scan skill folders, skill files, folders with many skills, skills by name, and a library.

    ``load`` returns the catalog in which a name is looked up; it is called for the first name.
    What is ``accepted``, by the lock file ``lock`` or now by ``reasons``, is taken out for paths
    that are ``is_own``; ``publishers`` says whose those are, by the names of their folders. A
    folder without a skill is scanned as one. Thousands of skills are scanned by ``jobs`` processes.
    Raises InvalidSkillsRoot for what is neither a path nor a name, SkillNotFound, and WorkerLost.
    """
    catalog: Catalog | None = None
    units: dict[str, ScanUnit] = {}
    findings: list[ScanFinding] = []

    def add(more: Sequence[ScanUnit], remarks: Sequence[ScanFinding]) -> None:
        for unit in more:
            name = os.path.basename(unit.path.rstrip("/"))
            if publishers and name in publishers and is_own(unit.path):
                unit = unit._replace(publisher=publishers[name])
            units.setdefault(os.path.realpath(unit.path), unit)
        findings.extend(remarks)

    for target in targets:
        path = target
        if not os.path.lexists(target):
            if os.sep in target or "/" in target or not target:
                raise InvalidSkillsRoot(
                    "the path does not exist", path=target, hint="name a skill or its folder"
                )
            catalog = load() if catalog is None else catalog
            skill = catalog.get(target)
            if not skill.path or skill.stored:
                raise InvalidInput(f"{target!r} has no files here: scan the folder it came from")
            path = skill.path
        if os.path.isdir(path):
            add(*library_units(LibrarySpec((path,), ())))
        else:
            add([_unit_of(path)], [])
    if library is not None:
        add(*library_units(library))
    folders = frozenset(real for real, unit in units.items() if unit.is_folder)
    skills = files = 0
    listed = list(units.values())
    chunks = [listed[start : start + _CHUNK] for start in range(0, len(listed), _CHUNK)]
    with Workers(jobs if len(chunks) > 2 else 1) as workers:
        for result in [workers.submit(_scan_chunk, chunk, folders) for chunk in chunks]:
            with_files, count, hits = result()
            skills += with_files
            files += count
            findings += hits
    own = [each for each in findings if is_own(each.path)]
    left, taken = without_accepted(own, accepted, reasons)
    left = [*{*left, *(each for each in findings if not is_own(each.path))}]
    severities = Counter(each.severity for each in left)
    return Scanned(
        paths=(*targets, *(() if library is None else library.roots)),
        scopes=() if library is None else library.scopes,
        skills=skills,
        files=files,
        findings=tuple(sorted(left, key=_order)),
        counts={severity: severities[severity] for severity in SEVERITIES},
        accepted=tuple(
            AcceptedFinding(finding=finding, reason=entry.reason)
            for finding, entry in sorted(set(taken), key=lambda pair: _order(pair[0]))
        ),
        lock=(lock if accepted else "") or None,
    )


_CHUNK = 500
"""Skills that one process scans at a time; starting it takes as long as scanning half of them."""


def _scan_chunk(
    units: Sequence[ScanUnit], folders: frozenset[str]
) -> tuple[int, int, list[ScanFinding]]:
    """Scan some skills. ``folders`` are the real paths of all: each is scanned once."""
    skills, files, findings = 0, 0, []
    for unit in units:
        listed = list(unit.read(folders))
        skills += bool(listed)
        files += len(listed)
        findings += [
            replace(each, path=unit.shown(each.path)) for each in scan_files(listed, unit.publisher)
        ]
    return skills, files, findings


def _order(finding: ScanFinding) -> tuple[str, int, str, str]:
    return finding.path, finding.line, finding.rule, finding.message
