"""Check the policy, the roots of the library and its index, and the user's agent folders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, InvalidSkillsRoot, SkillError, SkillIoError
from skillyard.base.shapes.doctor import Finding
from skillyard.base.shapes.indexes import IndexStatus
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog, read_catalog
from skillyard.engine.catalog.counts import SkillCounts, count_skills
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.engine.discovery.hosts import HOST_TITLES
from skillyard.engine.discovery.scopes import places_of
from skillyard.engine.skill import Skill
from skillyard.hosts.doctor.finding import ERROR, INFO, OK, WARNING, Request, make_finding
from skillyard.hosts.operations.library_index import index_status
from skillyard.install.policy.library import find_policy

_SEVERITIES = ("error", "warning", "info")


class Folder(NamedTuple):
    """One existing folder of skills."""

    path: str
    agent: str = ""
    """The agent whose folder it is."""
    scope: str = "project"


def library(request: Request) -> Iterator[Finding]:
    """Check the policy and every root, then the user's agent folders."""
    yield from _policy(request)
    there = []
    for root in request.library_roots:
        if os.path.isdir(root):
            there.append(Folder(root))
        else:
            what = "is not a folder" if os.path.lexists(root) else "does not exist"
            remedy = "Name a folder that holds skills with --root."
            yield make_finding("root", ERROR, f"the root {root} {what}", remedy, path=root)
    agents = [
        Folder(root.path, HOST_TITLES[root.host], root.scope)
        for root in places_of({*request.scopes, "user"}).roots
    ]
    folders = [*there, *(folder for folder in agents if folder.scope in request.scopes)]
    if folders:
        catalog = read_catalog(
            [folder.path for folder in there], scopes=request.scopes, progress=request.progress
        )
        yield from _surveyed(catalog, folders, request)
    for folder in agents:
        if folder.scope not in request.scopes:
            yield from _surveyed(read_catalog(folder.path), [folder], request)
    if not agents:
        yield make_finding(
            "agent-folder",
            INFO,
            "no agent has a folder of skills in your home folder",
            "Put skills that every project shares into one of them.",
            "mkdir -p ~/.agents/skills",
        )


def _policy(request: Request) -> Iterator[Finding]:
    """Look at the policy files, where there are any or a profile is named."""
    try:
        policy = find_policy(None, request.profile)
    except SkillIoError as error:
        remedy = f"{error.hint[:1].upper()}{error.hint[1:]}."
        yield make_finding("policy", ERROR, error.message, remedy, path=error.path, line=error.line)
        return
    if policy is not None:
        message = f"{plural(len(policy.files), 'policy file')} in force"
        if policy.profile:
            message += f", with the profile {policy.profile}"
        details = {"files": list(policy.files), "profile": policy.profile}
        yield make_finding("policy", OK, message, details=details)


def _surveyed(catalog: Catalog, folders: Sequence[Folder], request: Request) -> Iterator[Finding]:
    """Yield a finding for each folder of one catalog."""
    skills: list[list[Skill]] = [[] for _ in folders]
    reported: list[list[Diagnostic]] = [[] for _ in folders]
    for skill in catalog:
        skills[_owner(skill.path, folders)].append(skill)
    for diagnostic in catalog.diagnostics:
        reported[_owner(diagnostic.path, folders)].append(diagnostic)
    lack = RequirementChecker(catalog.named).lack
    for folder, own, remarks in zip(folders, skills, reported, strict=True):
        counts = count_skills(own, catalog.shadowed, catalog.further, lack)
        yield _folder(folder, counts, remarks, request)


def _owner(path: str, folders: Sequence[Folder]) -> int:
    """Return the number of the first folder that holds a path: what two hold is the first's."""
    whole = os.path.abspath(path)
    for number, folder in enumerate(folders):
        above = os.path.abspath(folder.path).rstrip(os.sep)
        if whole == above or whole.startswith(above + os.sep):
            return number
    return 0


def _folder(
    folder: Folder, counts: SkillCounts, remarks: list[Diagnostic], request: Request
) -> Finding:
    severities = Counter(remark.severity for remark in remarks)
    details = {
        "agent": folder.agent,
        "counts": counts.to_dict(),
        "diagnostics": {severity: severities[severity] for severity in _SEVERITIES},
    }
    name = "agent-folder" if folder.agent else "root"
    where = f"the folder of {folder.agent}" if folder.agent else f"the root {folder.path}"
    message = f"{where} has {counts.words}"
    if remarks:
        listed = (plural(severities[each], each) for each in _SEVERITIES if severities[each])
        message += f"; diagnostics: {', '.join(listed)}"
    finding = make_finding(name, OK, message, path=folder.path, details=details)
    if severities["error"]:
        files = len({remark.path for remark in remarks if remark.severity == "error"})
        return replace(
            finding,
            status=WARNING,
            message=f"{message}; {plural(files, 'file')} did not load",
            remedy="See what is wrong with each file, and correct it.",
            command=f"skillyard check {quote(folder.path)}",
        )
    if not counts.skills and not folder.agent:
        return replace(
            finding,
            status=WARNING if request.roots else INFO,
            remedy="Name a folder that holds skills with --root, or read your agent folders too.",
            command="skillyard list --scope user",
        )
    return finding


_STATES = {
    "current": (OK, "is current"),
    "stale": (INFO, "is stale: files changed since it was built; the next question updates it"),
    "missing": (INFO, "does not exist yet; the first question builds it"),
    "foreign": (INFO, "was built by another version; the next question builds it again"),
    "damaged": (WARNING, "is damaged; the next question builds it again"),
}


def index(request: Request) -> Iterator[Finding]:
    """Check the index that commands answer from."""
    try:
        status = index_status(request.library_roots, request.scopes, profile=request.profile)
    except InvalidSkillsRoot:
        return  # the root is reported with the library
    except SkillError as error:
        if error.code in ("policy_invalid", "profile_unknown"):
            return  # reported with the library
        message = f"the index cannot be read: {error.message}"
        remedy = "Give yourself the right to read it, or name another folder in SKILLYARD_CACHE."
        yield make_finding("index", WARNING, message, remedy, path=error.path)
        return
    command = f"skillyard index build{request.options}"
    yield index_finding("index", "the index of the library", status, command)


def index_finding(name: str, what: str, index: IndexStatus, command: str) -> Finding:
    """Return the finding on an index; ``command`` builds it."""
    status, text = _STATES[index.state]
    message = f"{what} {text}"
    if index.state in ("current", "stale"):
        message += f" ({plural(index.skills, 'skill')})"
    if index.problem:
        message += f" ({index.problem})"
    details = {"state": index.state, "skills": index.skills, "bytes": index.bytes}
    finding = make_finding(name, status, message, path=index.folder, details=details)
    return finding if status == OK else replace(finding, remedy="Build it now.", command=command)
