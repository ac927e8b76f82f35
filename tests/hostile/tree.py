"""The whole hostile tree: every input that concerns reading, built the same way each time."""

from __future__ import annotations

from pathlib import Path

from tests.hostile import (
    body_cases,
    field_cases,
    folder_cases,
    resource_cases,
    text_cases,
    yaml_cases,
)
from tests.hostile.case import Case

_MODULES = (yaml_cases, text_cases, field_cases, folder_cases, resource_cases, body_cases)


def cases(area: str = "") -> tuple[Case, ...]:
    """Return every case, or those of one area."""
    every = [case for module in _MODULES for case in module.CASES]
    return tuple(case for case in every if area in ("", case.area))


def build(case: Case, folder: Path) -> Path:
    """Write one case below ``folder/<id>`` and return the root that a reader is given.

    Raises OSError or NotImplementedError where this platform cannot hold the input.
    """
    return case.build(folder / case.id)


def write_tree(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Write every case; return the roots by id, and why by id for those that could not be."""
    roots: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for case in cases():
        try:
            roots[case.id] = build(case, folder)
        except (OSError, NotImplementedError, AttributeError) as error:
            missing[case.id] = f"{type(error).__name__}: {error}"
    return roots, missing
