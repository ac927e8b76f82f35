"""Give a skill the new field, and read it back from every place that stores it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import skillyard as sy
from skillyard.install.policy.library import open_catalog
from skillyard.store.opening import open_store

TEXT = """---
name: greet
description: Writes a greeting card for hotel guests. Use when people arrive or leave.
audience: hotel staff
---
Say hello.
"""
VALUE = "hotel staff"


def in_python(library: Path) -> Iterator[tuple[str, Any]]:
    yield "parsed", sy.parse_skill("library/greet/SKILL.md", TEXT).audience
    (skill,) = sy.load_catalog(library)
    yield "loaded", skill.audience
    (match,) = sy.rank(open_catalog((str(library),)), "greet people", limit=1)
    yield "indexed", match.skill.audience
    yield "replaced", skill.replace(audience=VALUE).audience
    other = skill.replace(audience="guests")
    assert other != skill
    assert other.hash != skill.hash
    yield "stored", through_a_store(skill).audience


def through_a_store(skill: sy.Skill) -> sy.Skill:
    store = open_store("sqlite:///catalog.db", migrate=True)
    store.publish([skill], tenant="acme", publisher="test")
    (version,) = store.changes(0).upserts
    return version.skill


if __name__ == "__main__":
    folder = Path("library") / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT, encoding="utf-8")
    for place, value in in_python(folder.parent):
        assert value == VALUE, f"{place}: {value}"
        print(place)
