"""A removed command or option says in one line what replaces it, and ends with 2."""

from __future__ import annotations

import pytest

from skillyard.cli.commands import MODULES
from skillyard.cli.removed import REMOVED
from tests.cli.conftest import Run


@pytest.mark.parametrize("words", REMOVED)
@pytest.mark.parametrize("more", [(), ("--help",), ("x", "--limit", "3")])
def test_removed_words_say_what_replaces_them(words: str, more: tuple[str, ...], run: Run) -> None:
    answer = run("--quiet", *words.split(), *more)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"skillyard: {words} is gone: {REMOVED[words]}\n"


@pytest.mark.parametrize("words", [words for words in REMOVED if " -" not in words])
def test_their_help_page_says_it_too(words: str, run: Run) -> None:
    assert run("help", *words.split()).err == run(*words.split()).err


def test_no_removed_command_exists() -> None:
    assert not {words for words in REMOVED if " " not in words} & set(MODULES)
