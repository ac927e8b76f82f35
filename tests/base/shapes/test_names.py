"""One class for one value: no two public classes of the surfaces share a name."""

from __future__ import annotations

import ast
from collections import Counter

from tests.shared_data import REPOSITORY

ROOMS = ("base", "engine/operations", "hosts/operations", "serve")


def test_no_two_public_classes_share_a_name() -> None:
    source = REPOSITORY / "src" / "skillyard"
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for room in ROOMS
        for path in (source / room).rglob("*.py")
    ]
    names = Counter(
        each.name
        for tree in trees
        for each in tree.body
        if isinstance(each, ast.ClassDef) and not each.name.startswith("_")
    )
    assert {name for name, number in names.items() if number > 1} == set()
