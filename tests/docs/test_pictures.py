"""The pictures of README and guides are there, small, and show what the commands print today."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.shared_data import REPOSITORY

pytest.importorskip("rich")
pytest.importorskip("pty")

PICTURES = REPOSITORY / "docs" / "pictures"
LARGEST = 200_000


@pytest.fixture
def maker() -> ModuleType:
    """Return the script behind ``make pictures``."""
    path = REPOSITORY / "tools" / "pictures" / "make.py"
    spec = importlib.util.spec_from_file_location("make_pictures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pictures_are_there_and_small() -> None:
    pages = (REPOSITORY / "README.md", *REPOSITORY.glob("docs/guides/*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = {Path(path).name for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)}
    assert shown == {path.name for path in PICTURES.iterdir()}
    assert max(path.stat().st_size for path in PICTURES.iterdir()) < LARGEST


def test_the_terminal_shows_what_the_commands_print(maker: ModuleType, tmp_path: Path) -> None:
    environment = maker.isolated_environment(str(tmp_path))
    maker.draw_terminal(tmp_path / "terminal.svg", {**os.environ, **environment})
    fresh = (tmp_path / "terminal.svg").read_text(encoding="utf-8")
    assert fresh == (PICTURES / "terminal.svg").read_text(encoding="utf-8"), "run `make pictures`"
