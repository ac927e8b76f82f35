"""The generated pages are fresh; the documentation mentions all that there is, and only that."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import skillyard
from skillyard.check.validation.codes import PROFILES, RULES
from skillyard.cli.grammar import CommandParser, command_parsers, shared_options
from skillyard.engine.context.catalogue import FORMATS
from skillyard.engine.discovery.layout import BUILD_FOLDERS, HEAVY_FOLDERS, OWN_FOLDERS
from skillyard.engine.formats.file_names import CONVENTION_FOLDERS, CONVENTION_NAMES
from skillyard.scorers import scorer_names
from tests.docs.pages import blocks, pages, prose, written_pages
from tests.shared_data import REPOSITORY
from tests.tables import for_each
from tests.test_public_names import NAMES

DOCS = REPOSITORY / "docs"
COMMANDS = command_parsers()
OPTIONS = [*shared_options(), *(option for command in COMMANDS for option in command.arguments)]
FLAGS = {flag for option in OPTIONS for flag in option.option_strings}
OTHERS_FLAGS = {"--help", "--version", "--check", "--library", "--markdown"}
"""Of the parser, ``tools/reference.py``, ``python -m skillyard_testkit`` and ``benchmarks``."""


def _text(*names: str) -> str:
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)


def _by_hand() -> str:
    written = [page for page in written_pages() if page.is_relative_to(DOCS)]
    return "\n".join(page.read_text(encoding="utf-8") for page in written)


def test_the_generated_pages_say_what_the_code_says() -> None:
    tool = [sys.executable, str(REPOSITORY / "tools" / "reference.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@for_each("command", COMMANDS, ids=lambda command: command.name)
def test_a_page_written_by_hand_shows_every_command(command: CommandParser) -> None:
    assert f"skillyard {command.name}" in _by_hand()


def test_every_flag_and_every_public_name_is_on_its_reference_page() -> None:
    commands, python = _text("reference/cli.md"), _text("reference/python.md")
    assert {flag for flag in FLAGS if f"`{flag}`" not in commands} == set()
    assert {name for name in NAMES if f"`{name}" not in python} == set()


def test_the_public_names_are_explained_by_hand_too() -> None:
    text = _by_hand()
    missing = {name for name in NAMES if not re.search(rf"\b{name}\b", text)}
    assert missing == {"__version__"}


def test_every_diagnostic_code_is_on_its_page_and_no_page_invents_one() -> None:
    page = _text("reference/diagnostics.md")
    assert {code for code in RULES if f"`{code}`" not in page} == set()
    shown = re.findall(r": (?:error|warning|info) ([a-z]+(?:_[a-z]+)+) ", _by_hand())
    assert shown
    assert set(shown) <= set(RULES)


def test_every_scorer_profile_and_format_is_explained() -> None:
    scorers = _text("concepts/scorers.md")
    assert {name for name in scorer_names() if f"\n## {name}\n" not in scorers} == set()
    assert {name for name in PROFILES if f"`{name}`" not in _text("guides/ci.md")} == set()
    assert {name for name in FORMATS if f"`{name}`" not in _text("concepts/context.md")} == set()


def test_reading_names_every_folder_and_file_name_that_it_treats_in_its_own_way() -> None:
    page = _text("concepts/reading.md")
    names = {*HEAVY_FOLDERS, *BUILD_FOLDERS, *OWN_FOLDERS}
    names |= {f"{each.parent}/{each.name}" for each in CONVENTION_FOLDERS}
    assert {name for name in names if f"`{name}`" not in page} == set()
    assert {name for name in CONVENTION_NAMES if f"`{name}`" not in page.lower()} == set()


def test_every_json_schema_of_the_code_has_a_section() -> None:
    source = (path.read_text(encoding="utf-8") for path in (REPOSITORY / "src").rglob("*.py"))
    schemas = set(
        re.findall(r'(?:"schema": |Literal\[)"(skillyard\.[a-z-]+/\d+)"', "\n".join(source))
    )
    page = _text("reference/json.md")
    assert schemas
    assert set(re.findall(r"^## (skillyard\.\S+)$", page, re.MULTILINE)) >= schemas


def _ours(text: str) -> str:
    """Return a page without the command lines of other programs."""
    kept = [re.sub(r"`(?:docker|kubectl) [^`]*`", "", prose(text))]
    for block in blocks(text):
        lines = block.text.replace("\\\n", " ").splitlines()
        others = block.language == "sh"
        kept += [line for line in lines if not others or line.startswith("skillyard ")]
    return "\n".join(kept)


@for_each("page", pages(), ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_no_page_names_a_flag_or_a_public_name_that_does_not_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", _ours(text)))
    assert flags - FLAGS - OTHERS_FLAGS == set()
    for dotted in sorted(set(re.findall(r"\bsy\.([A-Za-z_]+(?:\.[A-Za-z_]+)?)", text))):
        value: object = skillyard
        for name in dotted.split("."):
            assert hasattr(value, name), f"sy.{dotted} does not exist"
            value = getattr(value, name)
