"""What documents leave out and describe, and what the fields of a skill are called in them."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

import skillyard.base.shapes
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.skills import SkillDocument
from skillyard.cli import main
from skillyard.engine.ranking.registry import BUILT_IN, DEFAULT_SCORER
from skillyard.engine.skill import SKILL_FIELDS
from skillyard.serve.mcp.tools import ARGUMENTS
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

OF_WINGS = (
    "skillyard.check.operations.library_check",
    "skillyard.check.operations.skill_scan",
    "skillyard.store.operations.catalog_store",
    "skillyard.store.operations.folder_publish",
)
"""Operations whose results are documents themselves."""


DOCUMENTS = Path(__file__).with_name("documents.jsonl")
"""Documents of commands that need a store, a remote or a host."""
COMMANDS = (
    ("list", "skills"),
    ("scan", "faulty"),
    ("check", "faulty", "--profile", "spec"),
    ("show", "csv-cleaning", "--root", "skills", "--references"),
    ("rank", "clean csv", "--root", "skills", "--limit", "1", "--explain"),
    ("select", "which commit broke the build", "--root", "skills"),
    ("evaluate", "--text", "fix the delimiter", "--files", "sales.csv", "--root", "skills"),
    ("why", "git-bisect", "the csv build", "--root", "skills"),
    ("summary", "--root", "skills", "--budget-tokens", "60"),
    ("summary", "--root", "skills", "--host", "claude-code", "--budget", "4349"),
    ("inject", "which commit broke the build", "--root", "skills"),
    ("bench", "run", "--skills", "s.jsonl", "--queries", "q.jsonl", "--out", "run.json"),
    ("bench", "score", "--run", "run.json", "--queries", "q.jsonl"),
    ("index", "build", "--root", "skills"),
    ("index", "status", "--root", "skills"),
    ("index", "verify", "--root", "skills"),
    ("completion", "bash"),
    ("search", "clean csv", "--source", "local", "--root", "skills", "--limit", "1"),
)
LIBRARY = {
    "skills/csv-cleaning/SKILL.md": document("csv-cleaning", "Repairs messy CSV files."),
    "skills/csv-cleaning/references/dates.md": "ISO 8601.\n",
    "skills/git-bisect/SKILL.md": document("git-bisect", "Finds the commit that broke the build."),
    "faulty/SKILL.md": "---\nname: Faulty\ndescription: Too much: a colon.\n---\nText.\n",
    "s.jsonl": '{"id": "a/csv", "name": "csv", "description": "Clean csv.", "text": "Fix."}\n',
    "q.jsonl": '{"id": "q1", "query": "clean csv", "relevant": {"a/csv": 3}}\n',
}


def shapes() -> Iterator[type[Any]]:
    for module in pkgutil.iter_modules(skillyard.base.shapes.__path__):
        found = importlib.import_module(f"skillyard.base.shapes.{module.name}")
        classes = (each for each in vars(found).values() if isinstance(each, type))
        yield from (each for each in classes if is_dataclass(each))
    for name in OF_WINGS:
        classes = (each for each in vars(importlib.import_module(name)).values())
        yield from (each for each in classes if hasattr(each, "schema") and is_dataclass(each))


def test_every_shape_is_frozen_and_every_member_is_described() -> None:
    for shape in shapes():
        assert shape.__dataclass_params__.frozen, shape
        hints = get_type_hints(shape, include_extras=True)
        for member in fields(shape):
            assert get_args(hints[member.name])[1:], (shape, member.name)


def test_documents_are_those_of_their_shapes_member_by_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_name: dict[str, list[Any]] = {}
    for shape in shapes():
        schema = shape.__dataclass_fields__.get("schema")
        for name in get_args(get_type_hints(shape)["schema"]) if schema is not None else ():
            by_name.setdefault(name, []).append(shape)
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path, LIBRARY)
    lines = DOCUMENTS.read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    for command in COMMANDS:
        main([*command, "--json"])
        documents.append(json.loads(capsys.readouterr().out))
    assert {each["schema"] for each in documents} == set(by_name)
    other = [
        each["schema"]
        for each in documents
        if not any(rewritten(each, shape) for shape in by_name[each["schema"]])
    ]
    assert other == []


def rewritten(example: dict[str, Any], shape: type[Any]) -> bool:
    """True when the shape reads the example and writes the same members in the same order."""
    try:
        document = encode(TypeAdapter(shape).validate_json(json.dumps(example)))
    except ValidationError:
        return False
    return bool(document == example and ordered(document) == ordered(example))


def ordered(value: Any) -> Any:
    """Return the names of the members, and those inside them, in their order."""
    if isinstance(value, dict):
        return [(name, ordered(item)) for name, item in value.items()]
    return [ordered(item) for item in value] if isinstance(value, list) else None


def test_every_field_that_the_service_sends_is_a_member_of_the_documents_skill() -> None:
    members = {each.name: each.default for each in fields(SkillDocument)}
    for field in SKILL_FIELDS.values():
        if field.wire:
            empty = None if field.name == "triggers" else field.default
            assert members[field.name] == empty, field.name


def test_every_surface_names_the_scorers_of_the_registry() -> None:
    assert BUILT_IN[0] == DEFAULT_SCORER
    about = ARGUMENTS["select_skill"]["properties"]["scorer"]["description"]
    assert all(name in about for name in BUILT_IN)
