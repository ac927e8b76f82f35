"""Every demanded behaviour has a test, and every test cites a demanded behaviour.

The test files are read as syntax trees, so that a behaviour counts only when a test names it in
full: as a decorator of a test or of a class of tests, as a module's ``pytestmark``, or as the
mark of one parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.requirements import REQUIREMENTS, read

TESTS = Path(__file__).parent


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name == "requirement":
            yield node


def marking(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that put marks on tests."""
    for node in ast.walk(tree):
        if is_test(node) or is_class_of_tests(node):
            yield from node.decorator_list  # type: ignore[attr-defined]
        elif sets_pytestmark(node) or is_marks(node):
            yield node.value  # type: ignore[attr-defined]


def is_test(node: ast.AST) -> bool:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, functions) and node.name.startswith("test_")


def is_class_of_tests(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(is_test(item) for item in node.body)


def sets_pytestmark(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and "pytestmark" in map(ast.unparse, node.targets)


def is_marks(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "marks"


def cited(path: Path) -> set[str]:
    """Return the ids that the tests of one file cite; an argument that is no literal fails."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    marks = {call for expression in marking(tree) for call in calls(expression)}
    unused = [call.lineno for call in calls(tree) if call not in marks]
    assert not unused, f"{path}: requirement() marks no test in lines {unused}"
    ids: set[str] = set()
    for call in marks:
        for argument in call.args:
            literal = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            assert literal, f"{path}:{call.lineno}: cite requirements as literal text"
            ids.add(ast.literal_eval(argument))
    return ids


@cache
@cache
def citations() -> dict[str, set[str]]:
    """Return the ids cited by each test file below ``tests`` that cites any."""
    return {
        path.relative_to(TESTS).as_posix(): cited(path)
        for path in sorted(TESTS.rglob("test_*.py"))
        if path != Path(__file__) and b"requirement(" in path.read_bytes()
    }


def test_every_requirement_has_a_test() -> None:
    covered = set().union(*citations().values())
    assert sorted(set(REQUIREMENTS) - covered) == []


def test_every_cited_requirement_is_in_the_list() -> None:
    unknown = {name: sorted(ids - set(REQUIREMENTS)) for name, ids in citations().items()}
    assert {name: ids for name, ids in unknown.items() if ids} == {}


def test_every_requirement_names_a_source_and_is_one_whole_sentence() -> None:
    odd = [
        entry.id
        for entry in REQUIREMENTS.values()
        if not entry.source or not entry.sentence.endswith(".") or entry.id.lower() != entry.id
    ]
    assert odd == []


def test_an_entry_is_read_from_its_two_lines() -> None:
    (entry,) = read("a:b | doc §1\n    One sentence,\n    on two lines.\n")
    assert tuple(entry) == ("a:b", "doc §1", "One sentence, on two lines.")


def test_a_mark_on_something_that_is_no_test_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text("@requirement('a:b')\ndef helper():\n    pass\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="marks no test"):
        cited(path)
