"""The example plugin installs with pip, and its scorer and source work by name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import PACKAGES, REPOSITORY

pytest.importorskip("httpx2")

PLUGIN = REPOSITORY / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that pip installed the plugin into."""
    place = tmp_path_factory.mktemp("plugin")
    sources, target = place / "sources", place / "target"
    shutil.copytree(PLUGIN, sources, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--no-compile", "--quiet"]
    run([sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(sources)])
    return target


def run(command: list[str], **environment: str) -> str:
    """Run a command that succeeds; return its standard output."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def skillyard(plugin: Path, folder: Path, *arguments: str) -> Any:
    """Return the JSON that the command line prints where the plugin is installed."""
    return json.loads(
        run(
            [sys.executable, "-m", "skillyard", *arguments, "--json"],
            PYTHONPATH=os.pathsep.join([str(plugin), str(PACKAGES)]),
            SKILLYARD_CACHE=str(folder / "cache"),
            SKILLYARD_CONFIG="",
        )
    )


def test_the_scorer_ranks_by_name_on_the_command_line(installed: Path, tmp_path: Path) -> None:
    root = ["--root", str(REPOSITORY / "examples" / "skills")]
    request = ["review the terraform plan", "--scorer", "name-words"]
    answer = skillyard(installed, tmp_path, "rank", *request, *root)
    assert answer["scorer"] == "name-words"
    assert answer["matches"][0]["name"] == "terraform-plan-review"
    assert answer["matches"][0]["score"] == 1.0


def test_the_source_is_searched_by_name_on_the_command_line(
    installed: Path, tmp_path: Path
) -> None:
    answer = skillyard(installed, tmp_path, "search", "who is on call", "--source", "handbook")
    assert [skill["name"] for skill in answer["skills"]] == ["on-call-rota"]


def test_the_tests_of_the_plugin_pass(installed: Path, tmp_path: Path) -> None:
    tests = shutil.copytree(PLUGIN / "tests", tmp_path / "tests")
    run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        PYTHONPATH=os.pathsep.join([str(installed), str(PACKAGES)]),
        SKILLYARD_CACHE=str(tmp_path / "cache"),
        SKILLYARD_CONFIG="",
    )
