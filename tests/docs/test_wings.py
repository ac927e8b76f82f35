"""Each wing has a README of one screen that names what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.shared_data import REPOSITORY

SOURCE = REPOSITORY / "src" / "skillyard"
WINGS = ("base", "engine", "check", "store", "install", "evals", "hosts", "serve", "cli")
SCREEN = 40
"""Lines."""


def readme(wing: str) -> str:
    return (SOURCE / wing / "README.md").read_text(encoding="utf-8")


def test_the_package_has_nine_wings_and_the_map_names_them() -> None:
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == set(WINGS)
    page = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert re.findall(
        r"^\| \[(\w+)\]\(src/skillyard/\1/README\.md\) \|", page, re.MULTILINE
    ) == list(WINGS)


@pytest.mark.parametrize("wing", WINGS)
def test_a_readme_names_ten_places_to_start_at(wing: str) -> None:
    text = readme(wing)
    assert len(text.splitlines()) <= SCREEN
    steps = re.findall(r"^\d+\. (.*)$", text, re.MULTILINE)
    assert len(steps) == 10
    for step in steps:
        assert (SOURCE / wing / re.findall(r"`([^`]+)`", step)[0]).is_file(), step


@pytest.mark.parametrize("wing", WINGS)
def test_every_path_in_a_readme_exists(wing: str) -> None:
    files = {path.name for path in (SOURCE / wing).rglob("*") if "__pycache__" not in path.parts}
    for path in re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", readme(wing)):
        here = SOURCE / wing / path
        assert here.exists() or (SOURCE / path).exists() or path in files, path


def test_a_readme_says_of_imports_what_the_contracts_allow() -> None:
    settings = tomllib.loads(Path(REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    (wings,) = (
        each["layers"]
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers" and each.get("containers") == ["skillyard"]
    )
    levels = [[name.strip() for name in level.split("|")] for level in reversed(wings)]
    for number, level in enumerate(levels):
        below = [name for each in levels[:number] for name in each]
        for wing in level:
            (said,) = re.findall(
                r"\*\*Imports:\*\* ([^*]*?)\. \*\*", readme(wing).replace("\n", " ")
            )
            allowed = set(re.findall(r"`(\w+)`", said))
            assert allowed <= set(below) or not allowed, wing
