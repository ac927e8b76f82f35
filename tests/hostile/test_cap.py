"""A body as large as the cap, made of whatever slows a naive pattern, costs no call a hang."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import skillyard as sy
from skillyard.files import DEFAULT_LIMITS
from skillyard.scorers import scorer_names
from tests.hostile.case import skill_bytes, write
from tests.hostile.hang_bound import load
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each

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


def _root(folder: Path, unit: str) -> Path:
    room = DEFAULT_LIMITS.skill_file_bytes - 1_000
    content = skill_bytes(body="x" + unit * (room // len(unit.encode())) + "\nx\n")
    write(folder / "pencil/SKILL.md", content)
    return folder


@for_each("name", _UNITS)
def test_a_body_at_the_cap_is_loaded_framed_and_ranked(tmp_path: Path, name: str) -> None:
    catalog: Any = load(_root(tmp_path, _UNITS[name]))
    (skill,) = catalog.skills
    with hang_bound():
        assert sy.prompt_block(skill).endswith("\n[/skill]")
        assert sy.prompt_block(skill, max_chars=2_000).endswith("\n[/skill]")
    for scorer in scorer_names():
        with hang_bound():
            assert len(sy.rank(catalog, "sharpen a pencil with a knife", scorer=scorer)) <= 1


@for_each("name", _UNITS)
def test_a_body_at_the_cap_is_checked(tmp_path: Path, name: str) -> None:
    root = _root(tmp_path, _UNITS[name])
    for profile in ("lenient", "spec", "reference"):
        with hang_bound():
            found = sy.validate(root / "pencil", profile=profile)
        assert len(found) < 200
