"""The command line over a small library, for the examples that call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worked_examples.running import Command, library


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return ``skillyard`` with its root set to a freshly written library."""
    return Command(library(tmp_path / "library"), capsys)
