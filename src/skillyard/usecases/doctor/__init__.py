"""Diagnose the installation and its environment, one module for each subject.

Checks are read-only: no program is started, no file is written, no address is contacted. A check
that fails becomes a finding itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

from skillyard.catalog.entries import Progress
from skillyard.catalog.roots import parse_roots
from skillyard.errors import InvalidInput, SkillIoError
from skillyard.policy.places import find_policy
from skillyard.text import without_passwords
from skillyard.usecases.doctor.finding import ERROR, Diagnosis, Finding
from skillyard.usecases.doctor.request import CommandReader, Request

__all__ = ["Diagnosis", "Finding", "diagnose"]

SUBJECTS = ("installation", "library", "storage", "hooks", "mcp_clients", "environment")
"""The modules, each with a function of its name, in the order of the report."""


def diagnose(
    roots: Sequence[str] = (),
    scopes: Sequence[str] = (),
    *,
    version: str,
    read_command: CommandReader | None = None,
    progress: Progress | None = None,
    profile: str | None = None,
) -> Diagnosis:
    """Return the state of the installation, the library, the hooks and the MCP registrations.

    ``roots``, ``scopes`` and ``profile`` are those of ``load_catalog`` (no root: the profile's,
    else the current folder), ``version`` is that of the package. ``read_command`` reads the
    arguments of skillyard commands in other programs' settings; without it they are not checked.
    Raises InvalidInput for an unknown scope, a root that is not a path, and a current folder that
    is gone.
    """
    paths, names = parse_roots(tuple(roots), scopes)
    try:
        folder = os.getcwd()
    except OSError:
        raise InvalidInput("the current folder is gone; change to another one") from None
    try:
        policy = find_policy(None, profile)
    except SkillIoError:  # the subject library says what is wrong with it
        policy = None
    if policy is not None:
        paths = paths if roots else (*policy.own_roots, *policy.project_roots)
        names = names or policy.scopes
    request = Request(
        version,
        paths if roots or policy is not None else (),
        tuple(dict.fromkeys(names)),
        folder,
        read_command,
        progress,
        profile,
    )
    findings = [finding for subject in SUBJECTS for finding in _findings(subject, request)]
    return Diagnosis(version, tuple(findings))


def _findings(subject: str, request: Request) -> Iterator[Finding]:
    """Yield the findings on one subject; a fault of ours ends it with a finding."""
    try:
        module = import_module(f"skillyard.usecases.doctor.{subject}")
        look: Callable[[Request], Iterable[Finding]] = getattr(module, subject)
        for finding in look(request):
            yield finding._replace(
                message=without_passwords(finding.message),
                remedy=without_passwords(finding.remedy),
            )
    except Exception as error:  # the other subjects are still to be looked at
        if os.environ.get("SKILLYARD_DEBUG"):
            raise
        yield Finding(
            f"doctor.{subject.replace('_', '-')}",
            ERROR,
            f"looking at this subject failed: {type(error).__name__}: "
            + without_passwords(str(error)),
            "Run it with SKILLYARD_DEBUG=1 and report what it prints.",
            "SKILLYARD_DEBUG=1 skillyard doctor --json",
        )
