"""Diagnose why a skill is not used: what is seen, what the hook does, which settings are wrong.

Checks are read-only: no program is started, no file is written, no address is contacted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.shapes.doctor import Diagnosis
from skillyard.base.text import without_passwords
from skillyard.base.version import __version__
from skillyard.engine.catalog.entries import Progress
from skillyard.engine.catalog.roots import parse_roots
from skillyard.hosts.doctor.finding import STATUSES, CommandReader, Request
from skillyard.hosts.doctor.hooks import hooks
from skillyard.hosts.doctor.library import index, library
from skillyard.hosts.doctor.settings import settings
from skillyard.install.policy.library import find_policy

__all__ = ["diagnose"]


def diagnose(
    roots: Sequence[str],
    scopes: Sequence[str],
    *,
    read_command: CommandReader,
    progress: Progress | None = None,
    profile: str | None = None,
) -> Diagnosis:
    """Return the state of the library, its index, the prompt hooks and the settings.

    ``roots``, ``scopes`` and ``profile`` are those of ``load_catalog`` (no root: the profile's,
    else the current folder). ``read_command`` reads the arguments of skillyard commands in other
    programs' settings. Raises InvalidInput for an unknown scope, a root that is not a path, and a
    current folder that is gone.
    """
    paths, names = parse_roots(tuple(roots), scopes)
    try:
        folder = os.getcwd()
    except OSError:
        raise InvalidInput("the current folder is gone; change to another one") from None
    try:
        policy = find_policy(None, profile)
    except SkillIoError:  # the library's findings say what is wrong with it
        policy = None
    if policy is not None:
        paths = paths if roots else (*policy.own_roots, *policy.project_roots)
        names = names or policy.scopes
    request = Request(
        paths if roots or policy is not None else (),
        tuple(dict.fromkeys(names)),
        folder,
        read_command,
        progress,
        profile,
    )
    findings = tuple(
        replace(finding, message=without_passwords(finding.message))
        for subject in (library, index, hooks, settings)
        for finding in subject(request)
    )
    counts = Counter(finding.status for finding in findings)
    return Diagnosis(
        version=__version__, findings=findings, counts={each: counts[each] for each in STATUSES}
    )
