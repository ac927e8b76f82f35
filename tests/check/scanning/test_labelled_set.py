"""How many malicious skills the rules find, and how many ordinary ones they accuse.

The figures are those of docs/guides/scan.md, which explains what they are worth.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from skillyard.check.scanning import HIGH, SkillFile, scan_files
from tests.check.scanning.bad_skills import SEED, BadSkill, bad_skills, half
from tests.shared_data import MISSING, shared_folder

GOOD = 2_000


def _is_found(skill: BadSkill) -> bool:
    return any(each.severity == HIGH for each in scan_files(skill.files))


def test_the_set_is_large_and_every_name_is_its_own() -> None:
    skills = bad_skills()
    assert len({skill.name for skill in skills}) == len(skills) >= 60
    assert all(skill.files for skill in skills)


def test_nearly_all_skills_that_the_rules_were_made_with_are_found() -> None:
    known = [skill for skill in bad_skills() if not skill.is_unseen]
    missed = [skill.name for skill in known if not _is_found(skill)]
    assert len(missed) <= 0.05 * len(known), missed


def test_the_share_of_unseen_skills_that_is_found_does_not_fall() -> None:
    unseen = [skill for skill in bad_skills() if skill.is_unseen]
    assert sum(_is_found(skill) for skill in unseen if not skill.is_disguised) >= 7
    assert sum(_is_found(skill) for skill in unseen if skill.is_disguised) >= 17


def _good_skills() -> Iterator[tuple[str, SkillFile]]:
    folder = shared_folder()
    if folder is None:
        pytest.skip(MISSING)
    records: list[dict[str, Any]] = []
    with gzip.open(folder / "corpus" / "skills.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    records.sort(key=lambda record: hashlib.sha256(f"{SEED}:{record['id']}".encode()).digest())
    for record in records[:GOOD]:
        head = json.dumps({"name": record["name"], "description": record["description"]})
        text = f"---\n{head[1:-1]}\n---\n{record['text']}"
        yield record["id"], SkillFile("SKILL.md", text.encode("utf-8", "replace"))


@pytest.mark.slow
def test_few_ordinary_skills_have_a_high_finding() -> None:
    accused: dict[bool, int] = {False: 0, True: 0}
    sizes: dict[bool, int] = {False: 0, True: 0}
    for name, file in _good_skills():
        sizes[half(name)] += 1
        accused[half(name)] += any(each.severity == HIGH for each in scan_files([file]))
    assert sum(sizes.values()) == GOOD
    for held_out, size in sizes.items():
        assert accused[held_out] <= 0.02 * size
