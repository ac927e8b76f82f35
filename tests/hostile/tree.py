"""The whole hostile tree: every input that concerns reading, built the same way each time.

By hand: ``python -m tests.hostile.tree DIR`` writes one folder a case, with ``expected.json``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
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

__all__ = ["COUNTS", "build", "cases", "write_tree"]

COUNTS = {
    "yaml": 44,
    "fence": 16,
    "bytes": 12,
    "uni": 19,
    "name": 28,
    "description": 4,
    "fs": 24,
    "res": 1,
    "inject": 16,
    "scan": 6,
    "term": 8,
    "html": 2,
    "re": 11,
    "query": 1,
    "clean": 1,
}
"""How many inputs the specification lists, by area."""

_MODULES = (yaml_cases, text_cases, field_cases, folder_cases, resource_cases, body_cases)


def cases(area: str = "") -> tuple[Case, ...]:
    """Return every case, or those of one area, in the order of the specification's table."""
    every = [case for module in _MODULES for case in module.CASES]
    order = list(COUNTS)
    every.sort(key=lambda case: order.index(case.area))
    return tuple(case for case in every if area in ("", case.area))


def build(case: Case, folder: Path) -> Path:
    """Write one case below ``folder/<id>`` and return the root that a reader is given.

    Raises OSError or NotImplementedError where this platform cannot hold the input.
    """
    home = folder / case.id
    home.mkdir(parents=True)
    home.joinpath("expected.json").write_text(case.record_json(), encoding="ascii")
    return case.build(home)


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


def main(arguments: Sequence[str]) -> int:
    """Write the tree to the folder named on the command line."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m tests.hostile.tree DIR   (a new or empty folder)", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    if folder.exists() and any(folder.iterdir()):
        print(f"{folder} is not empty; name a new folder", file=sys.stderr)
        return 2
    roots, missing = write_tree(folder)
    print(f"{len(roots)} cases written below {folder}")
    for identity, reason in missing.items():
        print(f"not possible here: {identity}: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
