"""Every example on every page runs and prints what the page says.

``SKILLYARD_UPDATE_GOLDEN=1`` writes the real output into the pages, for a reviewer to read.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from skillyard.cli.grammar import parse
from tests.docs.page_blocks import Shown, matches, run_page, updated
from tests.docs.pages import blocks, pages
from tests.shared_data import REPOSITORY
from tests.tables import for_each

UPDATE = os.environ.get("SKILLYARD_UPDATE_GOLDEN") == "1"
RUN = ("python", "console")


def _name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


def _runs_something(page: Path) -> bool:
    return any(block.language in RUN for block in blocks(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [page for page in pages() if _runs_something(page)], ids=_name)
def test_every_example_of_the_page_prints_what_the_page_shows(page: Path, folder: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = run_page(text, folder, _name(page))
    if UPDATE:
        page.write_text(updated(text, shown), encoding="utf-8")
        return
    wrong = [piece for piece in shown if not matches(piece.expected, piece.actual)]
    assert not wrong, "\n\n".join(_difference(page, piece) for piece in wrong)


def _difference(page: Path, piece: Shown) -> str:
    return (
        f"{_name(page)}:{piece.first}: {piece.what}\n"
        f"--- the page shows\n{piece.expected}\n--- really printed\n{piece.actual}"
    )


@for_each("page", pages(), ids=_name)
def test_every_block_is_closed_and_none_that_shows_a_command_escapes_being_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = text.count("\n") + 1
    for block in blocks(text):
        where = f"{_name(page)}:{block.line}"
        assert block.end <= lines, f"{where}: a block that is never closed"
        above = next(filter(None, map(str.strip, reversed(text.split("\n")[: block.line - 1]))), "")
        assert block.title in above, f"{where}: the page does not show the path of this file"
        if block.language != "console":
            assert "$ skillyard" not in block.text, f"{where}: a command outside a console block"
        if block.language not in ("python", "py"):  # py: asks a service, see test_service
            assert "import skillyard" not in block.text, f"{where}: Python outside a python block"


@for_each("page", pages(), ids=_name)
def test_every_command_that_is_shown_and_not_run_is_one_that_the_parser_takes(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").split("\n"):
                if line.startswith("skillyard ") and "--version" not in line:
                    parse(shlex.split(line, comments=True)[1:])
