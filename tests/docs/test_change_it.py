"""The walks of ``docs/contributing/change-it.md``, made on a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Block, blocks
from tests.shared_data import PACKAGES, REPOSITORY

pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")
pytestmark = pytest.mark.slow

PAGE = REPOSITORY / "docs" / "contributing" / "change-it.md"
HERE = Path(__file__).parent


def walk(heading: str) -> list[Block]:
    """Return the blocks below a heading of the page that change a file."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return [block for block in blocks(section.partition("\n## ")[0]) if block.title]


def make(heading: str, tree: Path) -> list[str]:
    """Copy the package to a tree, change it as the page says; return the paths of the files."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGES / "skillyard", tree / "src" / "skillyard", ignore=ignored)
    changes = walk(heading)
    for change in changes:
        path = tree / change.title
        if change.language == "diff":
            path.write_text(patched(path.read_text("utf-8"), change.text), encoding="utf-8")
        else:
            assert not path.exists()
            path.write_text(change.text + "\n", encoding="utf-8")
    return sorted({change.title for change in changes})


def patched(text: str, change: str) -> str:
    """Return the text with a change made where its old lines stand, which is in one place."""
    lines = change.split("\n")
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    assert f"\n{text}".count(f"\n{old}") == 1, f"not in one place:\n{old}"
    return f"\n{text}".replace(f"\n{old}", f"\n{new}").removeprefix("\n")


def see(program: str, tree: Path) -> str:
    """Run one of the programs beside this file with the changed package; return its output."""
    done = subprocess.run(
        [sys.executable, str(HERE / "changed" / program)],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": str(tree / "src"),
            "SKILLYARD_CACHE": str(tree / "cache"),
            "SKILLYARD_HTTP_TOKEN": "",
            "SKILLYARD_LIBRARY": str(REPOSITORY / "examples" / "skills"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_scorer_takes_two_files_and_ranks_on_every_surface(tmp_path: Path) -> None:
    assert len(make("A scorer", tmp_path)) <= 2
    assert see("scorer.py", tmp_path).split() == [
        *("python", "rank", "select", "why", "inject", "bench", "GET/rank", "POST/select"),
        *("GET/why", "client", "mcp"),
    ]


def test_a_field_of_a_skill_takes_two_files_and_is_in_files_indexes_and_stores(
    tmp_path: Path,
) -> None:
    assert len(make("A field of Skill", tmp_path)) <= 2
    assert see("field.py", tmp_path).split() == [
        *("parsed", "loaded", "indexed", "replaced", "stored")
    ]


def test_a_field_of_a_skill_is_shown_by_the_service_and_the_commands(tmp_path: Path) -> None:
    make("A field of Skill", tmp_path)
    assert see("field_in_documents.py", tmp_path).split() == [
        *("list", "show", "terminal", "check", "GET/skill", "client", "page")
    ]


def test_a_field_of_a_request_takes_one_file_and_is_on_every_surface(tmp_path: Path) -> None:
    assert len(make("A field of a request", tmp_path)) == 1
    assert see("request_field.py", tmp_path).split() == [
        *("command", "POST/select", "openapi", "client", "mcp")
    ]


def test_a_command_takes_three_files_and_is_in_help_and_completion(tmp_path: Path) -> None:
    assert len(make("A command with `--json`", tmp_path)) <= 3
    assert see("command.py", tmp_path).split() == ["json", "text", "help", "completion"]


def test_a_source_takes_two_files_and_is_searched_everywhere(tmp_path: Path) -> None:
    assert len(make("A source", tmp_path)) <= 2
    assert see("source.py", tmp_path).split() == [
        *("python", "search", "settings", "completion"),
    ]


def test_an_evaluation_layer_takes_two_files_and_is_run_compared_and_reported(
    tmp_path: Path,
) -> None:
    pytest.importorskip("anthropic")
    pytest.importorskip("genai_prices")
    pytest.importorskip("jinja2")
    assert len(make("An evaluation layer", tmp_path)) <= 3
    assert see("layer.py", tmp_path).split() == [
        *("help", "plan", "run", "terminal", "results", "html", "md", "junit", "compare"),
    ]
