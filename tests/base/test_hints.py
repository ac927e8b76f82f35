"""A hint never points to something that is not there.

The texts of the package are read from its syntax trees, without docstrings: what they name as a
command, a flag, a variable, a setting, a route, a tool, a name or a file is looked up.
"""

from __future__ import annotations

import ast
import re
from argparse import Action
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from skillyard.base.configuration import SECTIONS, record_of
from skillyard.base.strict_toml import keys_of
from skillyard.cli.grammar import CommandParser, command_parsers, shared_options
from tests.requirements import requirement
from tests.shared_data import REPOSITORY
from tests.test_public_names import NAMES

SOURCE = REPOSITORY / "src" / "skillyard"
COMMANDS = command_parsers()


def flags_of(options: Iterable[Action]) -> set[str]:
    return {flag for option in options for flag in option.option_strings}


SHARED = flags_of(shared_options()) | {"--help"}
FIRST_WORDS = {command.words[: n + 1] for command in COMMANDS for n in range(len(command.words))}

pytestmark = requirement("log:hints")


class Text(NamedTuple):
    """One text of the package; ``{}`` stands for what is put into it."""

    where: str
    text: str


@cache
def texts() -> tuple[Text, ...]:
    return tuple(
        Text(f"{path.relative_to(SOURCE).as_posix()}:{line}", text)
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in texts_of(ast.parse(path.read_bytes()))
    )


def texts_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every text but docstrings."""
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out.update(map(id, node.values))
            parts = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in left_out
        ):
            yield node.lineno, node.value


def named(pattern: str, below: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, what is named) for each match in a sentence: a text of several words."""
    for where, text in texts():
        if " " in text and where.startswith(below):
            yield from ((where, match[1]) for match in re.finditer(pattern, text))


def command_of(words: list[str]) -> CommandParser | None:
    """Return the command that the words begin with."""
    return next((each for each in COMMANDS if tuple(words[: len(each.words)]) == each.words), None)


def test_every_command_of_a_hint_is_in_the_grammar() -> None:
    found = list(named(r"(?:`|: )skillyard ([a-z][^`;]*)"))
    assert len(found) > 15
    for where, said in found:
        words = said.replace("{}", " {}").split()  # `remove{option}` is `remove` and an option
        command = command_of(words)
        # `skillyard eval` stands for all of its commands.
        assert command is not None or tuple(words) in FIRST_WORDS, f"{where}: {said}"
        known = SHARED | (flags_of(command.arguments) if command else set())
        assert {word for word in words if word.startswith("--")} <= known, f"{where}: {said}"


def test_every_setting_of_a_hint_is_one() -> None:
    known = {f"{key} in [{name}]" for name in SECTIONS for key in keys_of(record_of(name))}
    found = {name for _, name in named(r"\b([a-z_]+ in \[[a-z]+\])")}
    assert len(found) > 5
    assert found - known == {"them in [sources]", "true in [log]"}


def test_every_route_and_tool_of_a_hint_is_there() -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("mcp")
    from skillyard.serve.http.routes.table import ROUTES
    from skillyard.serve.mcp.tools import TOOLS

    pattern = r"(?:GET |POST |\bsee |^)(/[a-z]*)(?=$|[ ?;,])"
    routes = [*named(pattern, "serve/runtime"), *named(pattern, "serve/http")]
    assert len(routes) >= 4
    known = {route.path for route in ROUTES}
    assert [each for each in routes if each[1] not in known] == []
    tools = list(named(r"\b([a-z]+_skills?)\b", "serve/mcp/call"))
    assert len(tools) == 1
    assert [each for each in tools if each[1] not in TOOLS] == []


def test_every_name_and_file_of_a_hint_is_there() -> None:
    for where, name in (*named(r"\bsee ([a-z]+_[a-z]+)"), *named(r"\bsy\.([A-Z]\w+)")):
        assert name in NAMES, where
    for where, path in named(r"\b((?:docs|deploy|examples|training)/[\w./-]+)"):
        assert Path(REPOSITORY, path).exists(), f"{where}: {path}"
