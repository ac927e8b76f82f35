"""A small library, the command line over it in process, and golden files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bugs import raise_bugs
from tests.cli.making import hostile_library, library
from tests.running import Answer as Answer
from tests.running import run_here

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "SKILLYARD_UPDATE_GOLDEN"


Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same environment everywhere; a bug raises instead of being reported."""
    raise_bugs(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process: ``run("rank", "text")``."""
    return lambda *arguments: run_here(capsys, arguments)


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library in ``skills`` below the current folder."""
    monkeypatch.chdir(tmp_path)
    return library(tmp_path / "skills")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library whose every text tries to reach the terminal, in ``hostile``."""
    monkeypatch.chdir(tmp_path)
    return hostile_library(tmp_path / "hostile")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with its golden file; SKILLYARD_UPDATE_GOLDEN=1 writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get(UPDATE) == "1":
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file; {UPDATE}=1 writes it"
        assert text == path.read_text(encoding="utf-8"), f"{UPDATE}=1 accepts the new text"

    return compare
