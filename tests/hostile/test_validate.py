"""``validate`` says of every hostile file what reading says: errors for rejects, and only there."""

from __future__ import annotations

from contextlib import nullcontext

import skillyard as sy
from tests.hostile import tree
from tests.hostile.case import REJECT, SKIP, Case
from tests.hostile.conftest import Tree
from tests.hostile.hang_bound import unprivileged
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each

_CASES = tree.cases()


@for_each("case", [case for case in _CASES if case.verdict != SKIP], ids=lambda case: case.id)
def test_validate_fails_on_rejects_and_not_on_what_loads(case: Case, hostile_tree: Tree) -> None:
    root = hostile_tree.root(case.id)
    sy.validate(hostile_tree.root("clean-01-control") / "pencil")  # import while we may read it
    with hang_bound(), unprivileged() if case.unprivileged else nullcontext():
        by_file = sy.validate(root / case.target, profile="lenient")
        by_folder = sy.validate((root / case.target).parent, profile="lenient")
    failed = any(found.severity == "error" for found in by_file)
    assert failed == (case.verdict == REJECT), by_file
    assert {found.code for found in by_folder} >= {found.code for found in by_file}


@for_each("case", [case for case in _CASES if case.verdict == SKIP], ids=lambda case: case.id)
def test_validate_never_fails_on_what_is_passed_over(case: Case, hostile_tree: Tree) -> None:
    with hang_bound():
        found = sy.validate(hostile_tree.root(case.id), profile="lenient")
    assert not [item for item in found if item.severity == "error"]


@for_each("profile", ["lenient", "spec", "reference"])
def test_no_profile_crashes_hangs_or_stays_vague(profile: str, hostile_tree: Tree) -> None:
    for case in _CASES:
        root = hostile_tree.root(case.id)
        with hang_bound():
            for found in sy.validate(root, profile=profile):
                assert all((found.path, found.code, found.message)), (case.id, found)
                assert found.hint or found.severity != "error", (case.id, found)
