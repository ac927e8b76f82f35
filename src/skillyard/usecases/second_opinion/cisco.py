"""``scan --also cisco``: the installed cisco-ai-skill-scanner on the same skills.

It runs as a process of its own, one for each skill, offline, with its static analyzers and default
policy, within limits and without our keys. What it prints is not trusted.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from skillyard.context.scripts import ScriptResult, own_environment, run_command
from skillyard.errors import InvalidInput, ScriptRefused
from skillyard.io.processes import program_path, script_beside
from skillyard.io.strict_json import strict_loads
from skillyard.remote.install.accepted import Accepted
from skillyard.scanning import HIGH, LOW, MEDIUM, Finding
from skillyard.shapes.scans import ScanTool, UnreadPart
from skillyard.text import clean_line, shorten
from skillyard.usecases.scan_units import ScanUnit
from skillyard.usecases.second_opinion.opinion import opinion_of
from skillyard.usecases.second_opinion.prompt import SkillText, texts_of

__all__ = ["scan_with_cisco"]

TOOL = "cisco-ai-skill-scanner"
_PROGRAM = "skill-scanner"
_TIMEOUT_S = 300.0
"""For one skill; mostly the start of the scanner, six seconds of a processor."""
_OUTPUT_BYTES = 32 * 1024 * 1024
_MAX_FINDINGS = 2_000
_OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
"""Libraries of the scanner ask the network for tables while they are imported."""
_SEVERITIES = {"CRITICAL": HIGH, "HIGH": HIGH, "MEDIUM": MEDIUM, "LOW": LOW}
_REMARKS = frozenset(["INFO", "SAFE"])
"""Severities that say nothing of attacks, such as that of a missing licence."""
_SHOWN_CHARS = 120
_TEXT_CHARS = 300


class _Report(NamedTuple):
    """What the scanner says about one skill."""

    findings: tuple[Finding, ...] = ()
    informational: int = 0
    unread: tuple[UnreadPart, ...] = ()


def scan_with_cisco(
    units: Mapping[str, ScanUnit], accepted: Sequence[Accepted], *, jobs: int = 1
) -> ScanTool:
    """Return what cisco-ai-skill-scanner says about skills, by their real paths.

    ``jobs`` skills are scanned at a time. One that it does not scan is named and does not stop the
    others. Raises InvalidInput where it is not installed or does not start.
    """
    program = script_beside(_PROGRAM) or program_path(_PROGRAM)
    if program is None:
        raise InvalidInput(
            f"{TOOL} is not installed: run `uv tool install {TOOL}`, or leave out --also"
        )
    answer = _run(program, "--version")
    version = clean_line(answer.stdout).removeprefix(f"{_PROGRAM} ")
    if answer.exit_code != 0 or not version or len(version) > _SHOWN_CHARS:
        raise InvalidInput(f"{program} does not start: {_reason(answer)}; install {TOOL} again")
    folders = frozenset(real for real, unit in units.items() if unit.is_folder)

    def scan(item: tuple[str, ScanUnit]) -> _Report:
        real, unit = item
        return _scan(program, f"{TOOL} {version}", real, unit, folders)

    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        reports = list(pool.map(scan, units.items()))
    finally:  # an interrupt lets only the skills that were begun end
        pool.shutdown(cancel_futures=True)
    opinion = opinion_of((each for report in reports for each in report.findings), accepted)
    return ScanTool(
        tool=TOOL,
        version=version,
        skills=len(reports) - sum(bool(each.unread) for each in reports),
        findings=opinion.findings,
        counts=opinion.counts,
        informational=sum(each.informational for each in reports),
        accepted=opinion.accepted,
        unread=tuple(part for each in reports for part in each.unread),
    )


def _run(program: str, *arguments: str) -> ScriptResult:
    with tempfile.TemporaryDirectory(prefix="skillyard-") as home:
        environment = own_environment(home) | _OFFLINE
        command = [program, *arguments]
        try:
            return run_command(command, home, environment, "", _TIMEOUT_S, _OUTPUT_BYTES)
        except ScriptRefused as error:
            return ScriptResult(None, "", error.message, False, False, 0.0)


def _scan(program: str, label: str, real: str, unit: ScanUnit, folders: frozenset[str]) -> _Report:
    if not unit.is_folder:
        return _unread(unit, "it is no folder with a SKILL.md")
    result = _run(program, "scan", os.path.abspath(real), "--format", "json", "--compact")
    if result.timed_out or result.truncated or result.exit_code != 0:
        return _unread(unit, _reason(result))
    files = list(unit.read(folders))
    paths = frozenset(each.path for each in files)
    texts = {each.path: each for each in texts_of(files)}
    try:
        document = strict_loads(result.stdout)
        listed = list(document["findings"])
        failures = [str(each["analyzer"]) for each in document.get("analyzers_failed") or ()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _unread(unit, "its report has another form than that of version 2")
    findings, whys, remarks = [], [], 0
    for number, item in enumerate(listed[:_MAX_FINDINGS], 1):
        try:
            if item["severity"] in _REMARKS:
                remarks += 1
            else:
                findings.append(_finding(item, label, unit, paths, texts))
        except ValueError as error:
            whys.append(f"finding {number}: {error}")
        except (TypeError, KeyError, AttributeError):
            whys.append(f"finding {number} has another form than that of version 2")
    # Without usable frontmatter it reads the files all the same.
    names = ", ".join(shorten(clean_line(each), 40) for each in failures if each != "skill_loader")
    if names:
        whys.append(f"analyzers failed: {names}")
    if len(listed) > _MAX_FINDINGS:
        whys.append(f"only {_MAX_FINDINGS:,} findings were read")
    if not whys:
        return _Report(tuple(findings), remarks)
    # One part a skill: the others are counted.
    more = f"; {len(whys) - 1:,} more" if len(whys) > 1 else ""
    return _Report(tuple(findings), remarks, _parts(unit, f"{whys[0]}{more}"))


def _finding(
    item: Any,
    label: str,
    unit: ScanUnit,
    paths: Collection[str],
    texts: Mapping[str, SkillText],
) -> Finding:
    """Return a finding. Raises ValueError for its severity, and others as a wrong form does."""
    severity = _SEVERITIES.get(item["severity"])
    if severity is None:
        shown = shorten(clean_line(str(item["severity"])), 40)
        raise ValueError(f"its severity `{shown}` is not known")
    path, line = item.get("file_path") or "SKILL.md", item.get("line_number")
    file = texts.get(path)
    if path not in paths:  # it may lead out of the skill
        path, line = "SKILL.md", 1
    quote = str(item.get("snippet") or "").strip().split("\n")[0].strip()
    if file is not None and quote and quote in file.text:  # its own line may be that of the body
        line = file.text.count("\n", 0, file.text.index(quote)) + 1
    return Finding(
        shorten(clean_line(str(item["rule_id"])), _SHOWN_CHARS),
        severity,
        unit.shown(shorten(clean_line(path), _TEXT_CHARS)),
        line if type(line) is int and 0 < line < 2**31 else 1,  # True is an int too
        shorten(clean_line(f"{item['title']}: {item.get('description') or ''}"), _TEXT_CHARS),
        shorten(clean_line(quote), _SHOWN_CHARS),
        shorten(clean_line(str(item.get("remediation") or "read the file")), _TEXT_CHARS),
        "" if file is None else file.digest,
        label,
    )


def _unread(unit: ScanUnit, why: str) -> _Report:
    return _Report(unread=_parts(unit, why))


def _parts(unit: ScanUnit, why: str) -> tuple[UnreadPart, ...]:
    return (UnreadPart(path=clean_line(unit.path), why=why),)


def _reason(result: ScriptResult) -> str:
    if result.timed_out:
        return f"it did not end in {_TIMEOUT_S:g} s"
    if result.truncated:
        return f"it printed more than {_OUTPUT_BYTES:,} bytes"
    last = (result.stderr.strip() or result.stdout.strip()).split("\n")[-1]
    return shorten(clean_line(last), _TEXT_CHARS) or f"it ended with {result.exit_code}"
