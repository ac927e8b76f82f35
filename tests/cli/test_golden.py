"""What people see, in files that a reviewer reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PAGES = {
    "list": ("list",),
    "list-tag": ("list", "--tag", "git"),
    "check": ("check",),
    "show": ("show", "csv-cleaning"),
    "show-section": ("show", "csv-cleaning", "--section", "steps"),
    "show-references": ("show", "csv-cleaning", "--section", "files", "--references"),
    "rank": ("rank", "find the commit that broke the csv build"),
    "rank-explain": ("rank", "find the commit", "--explain", "--limit", "1"),
    "rank-nothing": ("rank", "xylophone"),
    "rank-confidence": ("rank", "csv regression", "--files", "a.csv", "--scorer", "confidence"),
    "rank-triggers": ("rank", "clean this csv", "--scorer", "triggers"),
    "rank-relevance": ("rank", "git bisect", "--scorer", "relevance", "--limit", "3"),
    "select": ("select", "find the broken csv delimiter in this import"),
    "select-menu": ("select", "the commit that broke the build"),
    "select-abstain": ("select", "bake a good cake"),
    "select-nothing": ("select", "xylophone"),
    "select-fallback": ("select", "xylophone", "--fallback", "fallback"),
    "evaluate": ("evaluate", "--text", "csv delimiter", "--files", "a.csv", "--details"),
    "evaluate-nothing": ("evaluate", "--text", "xylophone"),
    "why": ("why", "git-revert", "find the commit that broke the build"),
    "why-hidden": ("why", "wipe-disk", "erases a disk"),
    "why-nothing": ("why", "csv-cleaning", "commit", "--files", "x.py"),
    "summary": ("summary",),
    "summary-xml": ("summary", "--format", "xml", "--budget-tokens", "120"),
    "inject": ("inject", "find the commit that broke the build"),
    "inject-nothing": ("inject", "xylophone"),
    "unknown-skill": ("show", "git-bisekt"),
    "unknown-command": ("lst",),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_output_is_the_reviewed_one(
    name: str, run: Run, skills: Path, golden: Callable[[str, str], None]
) -> None:
    answer = run("--root", "skills", *PAGES[name])
    page = f"$ skillyard {' '.join(PAGES[name])}\n{answer.out}"
    if answer.err:
        page += f"--- standard error\n{answer.err}"
    golden(name, f"{page}--- exit {answer.code}\n")


def test_every_golden_file_belongs_to_a_page() -> None:
    kept = {path.stem for path in (Path(__file__).parent / "golden").glob("*.txt")}
    assert kept == {*PAGES, "help"}


def test_the_help_page_is_the_reviewed_one(run: Run, golden: Callable[[str, str], None]) -> None:
    golden("help", run("--help").out)
