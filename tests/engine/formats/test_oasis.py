"""Which files of ``key_skills`` are in the Oasis registry."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.formats.agentskills import ParsedDocument, SkillText
from skillyard.engine.formats.conventions import parse_key_skill
from tests.tables import for_each
from tests.worked_examples.making import document

REQUIRED = {"id": "acct", "triggers": "[do bills]", "priority": "5"}


def parse(**fields: str) -> ParsedDocument:
    given = {**REQUIRED, **fields}
    extra = "".join(f"{field}: {value}\n" for field, value in given.items() if value)
    where = SkillText("key_skills/acct/SKILL.md", "acct", "oasis")
    return parse_key_skill(where, document("Accounts", extra=extra))


@for_each(
    "fields",
    [
        {"priority": "0"},
        {"priority": "-3"},
        {"priority": "'80'"},
        {"triggers": "one phrase"},
        {"triggers": "[7]"},
        {"id": "Not A Slug"},
    ],
)
def test_unusual_values_of_the_right_type_keep_a_file_there(fields: dict[str, str]) -> None:
    assert parse(**fields).skill.origin == "oasis"


@for_each(
    ("fields", "missing"),
    [
        ({"id": ""}, "id"),
        ({"id": "''"}, "id"),
        ({"id": "[a]"}, "id"),
        ({"triggers": ""}, "triggers"),
        ({"triggers": "[]"}, "triggers"),
        ({"triggers": "['', ~]"}, "triggers"),
        ({"triggers": "{files: ['*.py']}"}, "triggers"),
        ({"priority": ""}, "priority"),
        ({"priority": "true"}, "priority"),
        ({"priority": "80.5"}, "priority"),
        ({"priority": "[1]"}, "priority"),
        ({"id": "", "priority": "", "triggers": ""}, "id, triggers, priority"),
    ],
)
def test_a_file_that_lacks_one_stays_an_ordinary_skill_and_is_reported(
    fields: dict[str, str], missing: str
) -> None:
    parsed = parse(**fields)
    assert parsed.skill.origin == "agentskills"
    found = parsed.diagnostics[-1]
    assert (found.code, found.severity) == ("oasis_incomplete", "warning")
    assert f"registry: {missing} missing" in found.message


def test_a_fault_in_a_field_is_reported_once() -> None:
    codes = [found.code for found in parse(id="[a]").diagnostics]
    assert codes == ["id_not_string", "oasis_incomplete"]


def test_a_file_that_is_no_skill_is_refused() -> None:
    where = SkillText("key_skills/acct/SKILL.md", "acct", "oasis")
    with pytest.raises(sy.MissingField):
        parse_key_skill(where, "---\nid: acct\n---\n")
