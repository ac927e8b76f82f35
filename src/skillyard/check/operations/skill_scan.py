"""The scan of skills for malicious techniques, with what the lock file accepts taken out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from skillyard.base.errors import Diagnostic, InvalidInput, InvalidSkillsRoot
from skillyard.base.io.workers import Workers
from skillyard.base.shapes import Schema
from skillyard.base.shapes.scans import AcceptedFinding, ScanFinding
from skillyard.check.operations.scan_units import ScanUnit, library_units, scan_units
from skillyard.check.scanning import RULES, SEVERITIES, scan_files
from skillyard.check.scanning.accepted import Accepted, without_accepted
from skillyard.check.validation.codes import RuleText
from skillyard.engine.catalog import Catalog

if TYPE_CHECKING:
    from skillyard.engine.catalog.roots import LibrarySpec

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
    profile: Annotated[str, "The profile of the policy in force; left out without one."] = ""

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
        add(*scan_units(path))
    if library is not None:
        add(*library_units(library))
    skills = files = 0
    for with_files, count, hits in _scan_units(units, jobs):
        skills += with_files
        files += count
        findings += hits
    own = [each for each in findings if is_own(each.path)]
    left, taken = without_accepted(own, accepted, reasons)
    left = [*{*left, *(each for each in findings if not is_own(each.path))}]
    severities = [each.severity for each in left]
    return Scanned(
        paths=(*targets, *(() if library is None else library.roots)),
        scopes=() if library is None else library.scopes,
        skills=skills,
        files=files,
        findings=tuple(sorted(left, key=_order)),
        counts={severity: severities.count(severity) for severity in SEVERITIES},
        accepted=tuple(
            AcceptedFinding(finding=finding, reason=entry.reason)
            for finding, entry in sorted(set(taken), key=lambda pair: _order(pair[0]))
        ),
        lock=(lock if accepted else "") or None,
    )


_CHUNK = 500
"""Skills that one process scans at a time; starting it takes as long as scanning half of them."""


def _scan_units(
    units: Mapping[str, ScanUnit], jobs: int
) -> Iterator[tuple[int, int, list[ScanFinding]]]:
    """Yield the numbers of skills and files and the findings of some skills at a time."""
    folders = frozenset(real for real, unit in units.items() if unit.is_folder)
    listed = list(units.values())
    chunks = [listed[start : start + _CHUNK] for start in range(0, len(listed), _CHUNK)]
    with Workers(jobs if len(chunks) > 2 else 1) as workers:
        if workers.jobs == 1:
            yield from (_scan_chunk(chunk, folders) for chunk in chunks)
            return
        results = [workers.submit(_scan_chunk, chunk, folders) for chunk in chunks]
        yield from (result() for result in results)


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
