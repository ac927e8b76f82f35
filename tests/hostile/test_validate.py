"""``validate`` says of every hostile file what reading says: errors for rejects, and only there."""

from __future__ import annotations

import os

import pytest

import skillyard as sy
from tests.hostile import tree
from tests.hostile.case import LOAD, REJECT, Case
from tests.hostile.conftest import Tree
from tests.hostile.reading import load, names_file, unprivileged
from tests.hostile.watchdog import hang_bound

_CASES = tree.cases()


@pytest.mark.parametrize("case", [case for case in _CASES if case.warned], ids=lambda case: case.id)
def test_what_loads_with_a_fault_is_told_its_author(case: Case, hostile_tree: Tree) -> None:
    root = hostile_tree.root(case.id)
    said = [found for found in load(root).diagnostics if names_file(found, case.target, root)]
    said += sy.validate(root / case.target)
    assert said
    assert all(found.severity != "error" and found.hint for found in said), said


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.id)
def test_validate_fails_on_rejects_and_on_nothing_else(case: Case, hostile_tree: Tree) -> None:
    root = hostile_tree.root(case.id)
    if not os.path.lexists(root / case.target):
        pytest.skip("a folder was passed over: there is no file to check")
    sy.validate(hostile_tree.root("clean-01-control") / "pencil")  # import while we may read it
    with unprivileged() if case.unprivileged else hang_bound():
        found = sy.validate(root / case.target, profile="lenient")
        again = sy.validate((root / case.target).parent, profile="lenient")
    failed = any(item.severity == "error" for item in found)
    assert failed or case.verdict != REJECT, found
    assert not failed or case.verdict != LOAD, found
    assert {item.code for item in again} >= {item.code for item in found}


@pytest.mark.parametrize("profile", ["lenient", "spec", "reference"])
def test_no_profile_crashes_hangs_or_stays_vague(profile: str, hostile_tree: Tree) -> None:
    for case in _CASES:
        root = hostile_tree.root(case.id)
        with hang_bound():
            for found in sy.validate(root, profile=profile):
                assert all((found.path, found.code, found.message)), (case.id, found)
                assert found.hint or found.severity != "error", (case.id, found)
