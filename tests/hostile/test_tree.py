"""Every input of the hostile tree ends as listed, and costs no other skill anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard import Diagnostic
from skillyard.base.invisible import find_hidden
from tests.hostile import tree
from tests.hostile.case import CANARY_PATH, LOAD, REJECT, SKIP, Case
from tests.hostile.conftest import Tree
from tests.hostile.hang_bound import below, load, mentions, names_file, unprivileged
from tests.tables import for_each

_CASES = tree.cases()
_CANARY = "Sings while the air is good. Use to see that one bad skill costs no other."


def _of(*verdicts: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    chosen = [case for case in _CASES if case.verdict in verdicts]
    return for_each("case", chosen, ids=lambda case: case.id)


def _read(case: Case, hostile_tree: Tree) -> tuple[Any, Path]:
    root = hostile_tree.root(case.id)
    if not case.unprivileged:
        return load(root), root
    load(hostile_tree.root("clean-01-control"))  # import everything while we may read it
    with unprivileged():
        return load(root), root


def _skills(catalog: Any, root: Path, path: str) -> list[Any]:
    return [skill for skill in catalog.skills if below(skill.path, root) == path]


def _errors(catalog: Any) -> list[Diagnostic]:
    return [found for found in catalog.diagnostics if found.severity == "error"]


@_of(REJECT, LOAD, SKIP)
def test_a_bad_skill_never_costs_the_canary(case: Case, hostile_tree: Tree) -> None:
    catalog, root = _read(case, hostile_tree)
    (canary,) = _skills(catalog, root, CANARY_PATH)
    assert (canary.name, canary.description) == ("canary", _CANARY)
    assert canary.body.strip().endswith("A good skill among bad ones.")
    assert not [found for found in _errors(catalog) if names_file(found, CANARY_PATH, root)]


@_of(REJECT)
def test_what_must_be_refused_is_absent_and_an_error_names_the_file(
    case: Case, hostile_tree: Tree
) -> None:
    catalog, root = _read(case, hostile_tree)
    assert not _skills(catalog, root, case.target)
    assert len(catalog.skills) == 1
    errors = [found for found in _errors(catalog) if names_file(found, case.target, root)]
    assert errors, f"no error names {case.target}: {catalog.diagnostics}"
    codes = {found.code for found in errors}
    assert not case.codes or codes & case.codes, f"{codes} is none of {sorted(case.codes)}"


@for_each(
    "case",
    [case for case in _CASES if case.verdict == REJECT and case.area in ("yaml", "fence")],
    ids=lambda case: case.id,
)
def test_an_error_in_the_frontmatter_says_its_line(case: Case, hostile_tree: Tree) -> None:
    catalog, root = _read(case, hostile_tree)
    errors = [found for found in _errors(catalog) if names_file(found, case.target, root)]
    lines = (case.content or b"").count(b"\n") + 1
    assert errors
    assert all(found.line and 1 <= found.line <= lines for found in errors), errors


@_of(LOAD)
def test_what_is_only_odd_loads_with_its_own_words(case: Case, hostile_tree: Tree) -> None:
    catalog, root = _read(case, hostile_tree)
    skills = [
        skill for path in (case.target, *case.instead) for skill in _skills(catalog, root, path)
    ]
    assert len(skills) == 1, catalog.diagnostics
    assert {field: getattr(skills[0], field) for field in case.values} == case.values
    for path in case.also:
        assert _skills(catalog, root, path), f"{path} did not load"
    names = {skill.name for skill in catalog.skills}
    assert not names & set(case.absent)
    assert case.count in (None, len(catalog.skills))


@_of(SKIP)
def test_what_must_not_be_touched_is_passed_over_aloud(case: Case, hostile_tree: Tree) -> None:
    catalog, root = _read(case, hostile_tree)
    assert [below(skill.path, root) for skill in catalog.skills] == [CANARY_PATH]
    part = case.mentioned or case.target
    said = [found for found in catalog.diagnostics if mentions(found, part, root)]
    assert bool(said) != case.silent, catalog.diagnostics


@_of(REJECT, LOAD, SKIP)
def test_every_diagnostic_says_where_what_and_what_to_do(case: Case, hostile_tree: Tree) -> None:
    catalog, _ = _read(case, hostile_tree)
    for found in catalog.diagnostics:
        assert all((found.path, found.code, found.message)), found
        assert found.severity in ("error", "warning", "info")
        assert found.hint or found.severity != "error", found
        assert find_hidden(found.message + found.hint) is None, "unsafe to print"
        assert len(found.message) + len(found.hint) + len(found.found) < 1_500, "too long to print"
        json.dumps(found.to_dict(), allow_nan=False)


@_of(REJECT, LOAD, SKIP)
def test_the_secret_outside_never_shows(case: Case, hostile_tree: Tree) -> None:
    catalog, _ = _read(case, hostile_tree)
    shown = [skill.body or "" for skill in catalog.skills]
    shown += [str(found) for found in catalog.diagnostics]
    assert not any("pearl-otter-secret" in text or "root:x:0" in text for text in shown)


@pytest.mark.parametrize("place", [".skills/deep/document.md", "AGENTS.md"])
def test_the_same_bytes_elsewhere_load_or_are_named(
    place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Other layouts read more strictly or more freely, but never crash and never stay silent."""
    base = tmp_path_factory.mktemp("elsewhere")
    for case in _CASES:
        if case.content is None:
            continue
        root = base / case.id
        (root / place).parent.mkdir(parents=True)
        (root / place).write_bytes(case.content)
        (root / CANARY_PATH).parent.mkdir()
        (root / CANARY_PATH).write_bytes(b"---\nname: canary\ndescription: Sings.\n---\n\nBody.\n")
        catalog = load(root)
        assert _skills(catalog, root, CANARY_PATH), case.id
        named = any(names_file(found, place, root) for found in _errors(catalog))
        assert bool(_skills(catalog, root, place)) != named, case.id
