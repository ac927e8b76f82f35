"""Every case of ``triggers_selection.json``: choice, registry and summary lines of Oasis."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import skillyard as sy
from tests.parity.rows import EXPECTED, FIRST_ALTERNATIVE, Case, Ruling, load, readings, rows, stale
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each

SUITE = "triggers_selection"
Register = Callable[[str, str, bool], None]

RECOMMENDED = Ruling(EXPECTED, "triggers scorer: readings of adk-and-agentskills 3")
RULINGS = {
    **dict.fromkeys(
        ("oas-010", "oas-013", "oas-014", "oas-026", "oas-033", "oas-035", "oas-041", "oas-052"),
        RECOMMENDED,
    ),
    "oas-reg-17": Ruling(FIRST_ALTERNATIVE, "YAML: one repair pass, reported as a diagnostic"),
    "oas-reg-24": Ruling(EXPECTED, "adk 3: a single string is one phrase"),
    "oas-reg-29": Ruling(EXPECTED, "adk 3: any non-blank id, with a warning"),
    "oas-sum-03": Ruling(EXPECTED, "adk 3: the first three phrases"),
    "oas-sum-04": Ruling(EXPECTED, "adk 3: lines in id order"),
}


def oasis_skill(record: Case) -> sy.Skill:
    return sy.Skill(
        name=record["name"],
        description=record["description"],
        body="",
        path=f"key_skills/{record['id']}/SKILL.md",
        slug=record["id"],
        triggers=sy.Triggers(phrases=record["triggers"]),
        priority=record["priority"],
    )


def catalog_of(case: Case) -> sy.Catalog:
    return sy.Catalog.from_skills([oasis_skill(record) for record in case["skills"]])


@requirement("triggers:parity", "triggers:normalise", "triggers:ties")
@for_each("case", rows(SUITE))
def test_the_documented_skill_is_selected(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    selected = sy.select(catalog_of(case), case["request"], scorer="triggers").selected
    slugs = [match.skill.slug for match in selected]
    accepted = [reading["selected"] for reading in readings(case, RULINGS)]
    assert slugs in [[] if slug is None else [slug] for slug in accepted]


@requirement("triggers:parity")
@for_each("case", rows(SUITE))
def test_every_skill_has_the_points_of_the_recommended_reading(case: Case) -> None:
    matches = sy.rank(catalog_of(case), case["request"], scorer="triggers", limit=None)
    found = {match.skill.slug: match.score for match in matches}
    # A ranking may leave out what has no point at all.
    points = {slug: found.get(slug, 0) for slug in case["expected"]["scores"]}
    assert points == case["expected"]["scores"]
    assert all(match.explanation.value == match.score for match in matches)


@requirement("triggers:permutation")
@for_each("case", rows(SUITE))
def test_the_order_in_which_skills_arrive_changes_nothing(case: Case) -> None:
    turned = case | {"skills": list(reversed(case["skills"]))}
    first, second = (
        sy.rank(catalog_of(one), case["request"], scorer="triggers", limit=None)
        for one in (case, turned)
    )
    assert [(m.skill.slug, m.score) for m in first] == [(m.skill.slug, m.score) for m in second]


def warned(catalog: sy.Catalog) -> bool:
    return any(found.severity in {"warning", "error"} for found in catalog.diagnostics)


@requirement("oasis:registry:parity", "oasis:required")
@for_each("case", rows(SUITE, "registry_cases"))
def test_the_registry_holds_the_documented_ids(
    case: Case, parity: Register, tmp_path: Path
) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    root = tmp_path / "project"
    write_tree(root, case["files"])
    catalog = sy.load_catalog(root)
    ids = [skill.slug or "" for skill in catalog.find(origin="oasis")]
    assert sorted(ids) in [reading["ids"] for reading in readings(case, RULINGS)]
    if case["expected"]["warning"] is not None:
        assert warned(catalog) is case["expected"]["warning"], catalog.diagnostics


@requirement("summary:parity")
@for_each("case", rows(SUITE, "summary_cases"))
def test_the_summary_has_the_documented_lines(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    lines = sy.summary(catalog_of(case), format="lines").splitlines()
    assert lines in [reading["lines"] for reading in readings(case, RULINGS)]


def test_every_open_case_is_ruled_on() -> None:
    groups = [load(SUITE), load(SUITE, "registry_cases"), load(SUITE, "summary_cases")]
    assert stale(RULINGS, groups) == []
    assert {c["id"] for group in groups for c in group if c.get("ambiguous")} == set(RULINGS)
