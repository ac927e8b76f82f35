"""A body as large as the cap, made of whatever slows a naive pattern, costs no call a hang."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.limits import DEFAULT_LIMITS
from skillyard.ranking.registry import scorer_names
from tests.hostile.case import skill_bytes, write
from tests.hostile.reading import load
from tests.hostile.watchdog import hang_bound

_UNITS = {
    "closing-links": "](",
    "open-links": "[a](",
    "images": "![",
    "brackets": "[",
    "frames": "[skill:",
    "comments": "<!--",
    "fences": "```\n",
    "code-spans": "`",
    "headings": "## Scope\n",
    "items": "- a\n",
    "cells": "|a|b|\n",
    "links": "[a](b.md) ",
    "paths": "references/a.md ",
    "blanks": " \t",
    "line-feeds": "\n",
    "humps": "aB",
    "hyphens": "a-",
    "suffixes": "alization",
    "hidden": "\u200b",
    "accents": "é",
}


@pytest.fixture(params=list(_UNITS))
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    unit = _UNITS[request.param]
    room = DEFAULT_LIMITS.skill_file_bytes - 1_000
    content = skill_bytes(body="x" + unit * (room // len(unit.encode())) + "\nx\n")
    write(tmp_path / "pencil/SKILL.md", content)
    return tmp_path


def test_a_body_at_the_cap_is_loaded_and_framed(root: Path) -> None:
    (skill,) = load(root).skills
    with hang_bound():
        assert sy.prompt_block(skill).endswith("\n[/skill]")
        assert sy.prompt_block(skill, max_chars=2_000).endswith("\n[/skill]")


@pytest.mark.parametrize("profile", ["lenient", "spec", "reference"])
def test_a_body_at_the_cap_is_checked(root: Path, profile: str) -> None:
    with hang_bound():
        found = sy.validate(root / "pencil", profile=profile)
    assert len(found) < 200


@pytest.mark.parametrize("scorer", scorer_names())
def test_a_body_at_the_cap_is_ranked(root: Path, scorer: str) -> None:
    catalog: Any = load(root)
    with hang_bound():
        assert len(sy.rank(catalog, "sharpen a pencil with a knife", scorer=scorer)) <= 1
