"""The folder in which a reader of the documentation sits: a copy of the examples, nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.bugs import raise_bugs
from tests.shared_data import REPOSITORY


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh current folder with a copy of ``examples/``, and the same environment everywhere."""
    place = tmp_path / "reader"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "examples", place / "examples", ignore=ignored)
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    raise_bugs(monkeypatch)
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return place
