"""Every case of ``adk_parsing.json``: strict files, convention files and small trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import skillyard as sy
from tests.parity.rows import (
    EXPECTED,
    FIRST_ALTERNATIVE,
    Case,
    Ruling,
    load,
    readings,
    rows,
    stale,
)
from tests.parity.trees import relative, write_tree
from tests.requirements import requirement
from tests.tables import for_each

SUITE = "adk_parsing"
Register = Callable[[str, str, bool], None]

RULINGS = {
    "adkp-023": Ruling(FIRST_ALTERNATIVE, "allowed-tools: string and list are both accepted"),
    "adkp-029": Ruling(EXPECTED, "metadata values: known fields are text, 1.10 stays 1.10"),
    "adkp-034": Ruling(EXPECTED, "strict reading: name rules belong to validation"),
    "adkp-039": Ruling(FIRST_ALTERNATIVE, "recommended: remove the mark and load"),
    "adkp-053": Ruling(EXPECTED, "adk 2.8 row 19: keep the name agents for AGENT.md"),
    "adkp-063": Ruling(FIRST_ALTERNATIVE, "adk 2.8 row 18: convention tags are always added"),
    "adkt-10": Ruling(EXPECTED, "which files are skills: nothing below a SKILL.md folder"),
    "adkt-11": Ruling(EXPECTED, "which files are skills: nothing below a SKILL.md folder"),
    "adkt-12": Ruling(FIRST_ALTERNATIVE, "which files are skills: every folder with a SKILL.md"),
}

ATTRIBUTE = {"references": "declared_references"}
"""The frontmatter list ``references`` is kept apart from the files found beside a skill."""


def plain(value: object) -> object:
    """Return mappings and sequences of any kind as dict and list, so that they compare."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def fields(skill: sy.Skill, wanted: Mapping[str, object]) -> dict[str, object]:
    return {name: plain(getattr(skill, ATTRIBUTE.get(name, name))) for name in wanted}


def outcome(
    parse: Callable[[str, str], sy.Skill], case: Case, names: Mapping[str, object]
) -> dict[str, object]:
    """Return what parsing gave, in the shape of the file's ``expected``."""
    try:
        skill = parse(case["path"], case["content"])
    except sy.SkillError as error:
        told: dict[str, object] = {"error": error.kind}
        if isinstance(error, sy.MissingField):
            told["field"] = error.field
        return told
    return {"ok": fields(skill, names)}


def compared(reading: Mapping[str, Any], left_out: list[str]) -> dict[str, object]:
    if "ok" not in reading:
        return dict(reading)
    return {"ok": {name: value for name, value in reading["ok"].items() if name not in left_out}}


@requirement("parsing:strict:parity", "parsing:convention:parity", "parsing:convention:names")
@requirement("parsing:allowed-tools", "parsing:strict:optional")
@for_each("case", rows(SUITE))
def test_a_file_parses_to_the_documented_fields_or_error(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    left_out = case.get("not_compared", [])
    accepted = [compared(reading, left_out) for reading in readings(case, RULINGS)]
    names: dict[str, Any] = next((r["ok"] for r in accepted if "ok" in r), {"name": None})  # type: ignore[misc]
    assert outcome(sy.parse_instructions, case, names) in accepted


STRICT = [case["id"] for case in load(SUITE) if case["title"].startswith(("strict:", "other:"))]


@requirement("parsing:strict:same-function")
@for_each("case", rows(SUITE))
def test_a_strict_path_parses_as_the_strict_function_does(case: Case) -> None:
    if case["id"] not in STRICT:
        case = case | {"path": ".skills/" + PurePosixPath(case["path"]).name}
    names = {"name": "", "description": "", "tags": (), "allowed_tools": (), "body": ""}
    by_path = outcome(sy.parse_instructions, case, names)
    assert by_path == outcome(sy.parse_skill, case, names)


@requirement("discovery:tree:parity", "catalog:order", "catalog:id")
@for_each("case", rows(SUITE, "tree_cases"))
def test_a_tree_loads_to_the_documented_documents_in_order(
    case: Case, parity: Register, tmp_path: Path
) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    root = tmp_path / case["root_name"]
    write_tree(root, case["files"])
    catalog = sy.load_catalog(root)
    accepted = readings(case, RULINGS)
    keys = ("name", "path", "id") if all("id" in doc for doc in accepted[0]) else ("name", "path")
    found = [
        {"name": skill.name, "path": relative(skill.path, root), "id": skill.id}
        for skill in catalog.skills
    ]
    assert [{key: doc[key] for key in keys} for doc in found] in accepted


@requirement("catalog:bad-file-reported")
def test_every_file_left_out_is_reported_with_its_path(tmp_path: Path) -> None:
    # The tree of adkt-03: one good file, one without frontmatter, one without a description.
    files = {
        ".skills/a.md": "---\nname: a\ndescription: About a.\n---\nBody.",
        ".skills/bad.md": "no frontmatter",
        ".skills/bad2.md": "---\nname: x\n---\n",
    }
    root = write_tree(tmp_path / "proj", files)
    reported = {
        relative(found.path, root)
        for found in sy.load_catalog(root).diagnostics
        if found.severity == "error"
    }
    assert reported == {".skills/bad.md", ".skills/bad2.md"}


def test_every_ruling_names_an_open_case() -> None:
    assert stale(RULINGS, [load(SUITE), load(SUITE, "tree_cases")]) == []
