"""The catalogue of codes is complete: what the source emits is in it, and nothing else is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import skillyard
from skillyard.check.validation import PROFILES, RULES
from skillyard.check.validation.file_rules import FILE_RULES

_SOURCE = Path(skillyard.__file__).parent
_OTHERS = ("engine/embedding/", "evals/", "install/", "serve/", "store/")
"""Folders whose codes are of what comes from elsewhere: `check` looks at none of it."""
_ALONE = frozenset({"base/io/folder_manifest.py"})
"""Modules beside them: what approving looks through."""
_MODULES = sorted(
    path
    for path in _SOURCE.rglob("*.py")
    if not (name := path.relative_to(_SOURCE).as_posix()).startswith(_OTHERS) and name not in _ALONE
)


class _Function(NamedTuple):
    """Where a function takes a code: the position among the arguments of a call."""

    name: str
    position: int


def _takers(tree: ast.Module) -> Iterator[_Function]:
    """Yield the functions of a module with a parameter ``code``, and classes with such a field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args]
            if "code" in names:
                yield _Function(node.name, names.index("code") - (names[0] == "self"))
        elif isinstance(node, ast.ClassDef):
            fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            names = [field.id for field in fields if isinstance(field, ast.Name)]
            if "code" in names:
                yield _Function(node.name, names.index("code"))


def _texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may be; ``*`` stands for what is only known later."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    elif isinstance(node, ast.JoinedStr):
        yield from _joined(node.values)


def _joined(values: list[ast.expr]) -> list[str]:
    texts = [""]
    for value in values:
        inner = value.value if isinstance(value, ast.FormattedValue) else value
        ends = list(_texts(inner)) or ["*"]
        texts = [start + end for start in texts for end in ends]
    return texts


@cache
def _emitted() -> frozenset[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in _MODULES]
    anywhere = {taker.name: taker.position for tree in trees for taker in _takers(tree)}
    found = set(FILE_RULES)
    for tree in trees:
        known = anywhere | {taker.name: taker.position for taker in _takers(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                found.update(*map(_texts, _codes_of(node, known)))
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
                found.update(_texts(node.value))
    return frozenset(found)


def _codes_of(call: ast.Call, known: dict[str, int]) -> list[ast.expr]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    codes = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    position = known.get(name)
    if position is not None and position < len(call.args):
        codes.append(call.args[position])
    return codes


def _means(text: str, code: str) -> bool:
    """True when an emitted text, with ``*`` for a field's name, may be this code."""
    before, star, after = text.partition("*")
    return code == text if not star else code.startswith(before) and code.endswith(after)


def test_every_code_that_the_source_emits_is_in_the_catalogue() -> None:
    emitted = {text for text in _emitted() if "_" in text}
    assert len(emitted) > 60
    unknown = {text for text in emitted if not any(_means(text, code) for code in RULES)}
    assert not unknown, f"add these codes to the catalogue and to the profiles: {sorted(unknown)}"


def test_every_code_of_the_catalogue_is_emitted_somewhere() -> None:
    emitted = _emitted()
    assert not {code for code in RULES if not any(_means(text, code) for text in emitted)}


def test_every_code_has_a_title_a_source_a_hint_and_its_severities() -> None:
    for code, rule in RULES.items():
        assert code == code.lower()
        assert code.replace("_", "").isalnum()
        assert all((rule.title, rule.source, rule.hint))
        assert not rule.title.endswith(".")
        assert set(rule.severities) == set(PROFILES)
