"""One class for one value: no two public classes share a name."""

from __future__ import annotations

import ast
from collections import Counter

from tests.shared_data import REPOSITORY


def test_no_two_public_classes_share_a_name() -> None:
    paths = (REPOSITORY / "src" / "skillyard").rglob("*.py")
    names = Counter(
        each.name
        for path in paths
        for each in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(each, ast.ClassDef) and not each.name.startswith("_")
    )
    assert {name for name, number in names.items() if number > 1} == set()
