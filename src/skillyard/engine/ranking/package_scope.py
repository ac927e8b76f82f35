"""Skills of one package of a repository, which count for files of that package only.

Claude Code finds ``packages/a/.claude/skills`` when it works on files below ``packages/a``
(code.claude.com/docs/en/skills, read on 2026-11-28). :attr:`Query.package_scope` does the same: a
skill in a folder of a host counts when a file of the query lies below the folder above it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from skillyard.base.io.paths import below, is_below
from skillyard.engine.discovery.hosts import HOST_FOLDERS
from skillyard.engine.discovery.layout import HEAVY_FOLDERS
from skillyard.engine.skill import Skill

_PATTERNS = frozenset(
    tuple(row.pattern.split("/"))
    for row in HOST_FOLDERS
    if row.scope == "project" and row.pattern.startswith(".")
)
"""Without a folder ``skills`` alone: plugins, packages and collections have such a one."""
_LENGTHS = sorted({len(pattern) for pattern in _PATTERNS})


def counts_for(files: Sequence[str], roots: Sequence[str]) -> Callable[[Skill], bool]:
    """Return a function that says whether a skill counts for one of the files.

    Files are compared as they are written, relative to a root or to the working directory, and
    never opened. Every skill counts that lies in no package of a root: beside or above the root, in
    a plugin or an installed package, in the folders of a scope, and without a file.
    """
    tops = [os.path.abspath(root) for root in roots]
    paths = [os.path.normpath(file) for file in files]
    answers: dict[str, bool] = {}

    def counts(skill: Skill) -> bool:
        if skill.scope not in ("project", "") or not skill.path or skill.stored or skill.plugin:
            return True
        package = _package_of(os.path.abspath(skill.path), tops)
        if package not in answers:
            answers[package] = not package or any(
                is_below(os.path.abspath(file), package)
                or any(is_below(os.path.join(top, file), package) for top in tops)
                for file in paths
            )
        return answers[package]

    return counts


def _package_of(path: str, tops: Sequence[str]) -> str:
    """Return the folder above the host's folder of a skill; empty for a skill of the whole root."""
    inner = [(top, rest) for top in tops if (rest := below(path, top)) is not None]
    if not inner:  # of a scope: its host reads it in the whole project
        return ""
    top, rest = max(inner, key=lambda each: len(each[0]))
    parts = rest.split("/")
    place = 0 if HEAVY_FOLDERS.intersection(parts) else _host_folder(parts)
    return os.path.join(top, *parts[:place]) if place > 0 else ""


def _host_folder(parts: list[str]) -> int:
    """Return where the first host's folder begins; 0 without one."""
    places = (
        at
        for at in range(len(parts))
        for length in _LENGTHS
        if tuple(parts[at : at + length]) in _PATTERNS
    )
    return next(places, 0)
