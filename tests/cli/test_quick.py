"""The short way from arguments to values gives what argparse gives, or nothing."""

from __future__ import annotations

import contextlib
import io
from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard.cli.grammar import COMMANDS, GLOBAL, Command, Option
from skillyard.cli.parsing import parse
from skillyard.cli.quick import read
from tests.tables import for_each

_ODD = (
    *("x", "two words", "", "-", "-x", "-1", "--json", "--", "3", "0.5", "nan", "٣", "a=b", "é"),
    *("--nosuch", "--lim", "-h", "--version", "run"),
)
odd = st.sampled_from(_ODD)


def typed(option: Option) -> st.SearchStrategy[list[str]]:
    """Return what a user may type for one option or argument; sometimes it is wrong."""
    right = {"count": "3", "number": "0.5"}.get(option.type, "text")
    value = st.sampled_from(option.choices or (right,)) | odd
    if option.positional:
        return value.map(lambda text: [text])
    if option.kind == "flag":
        return st.sampled_from([[option.flag], [option.flag], [f"{option.flag}=1"]])
    apart = value.map(lambda text: [option.flag, text])
    # argparse before 3.13 makes a list of `--option=--`.
    joined = value.filter(lambda text: text != "--").map(lambda text: [f"{option.flag}={text}"])
    return apart | joined


def line_of(command: Command) -> st.SearchStrategy[list[str]]:
    """Return the arguments of one command: global options, its words, a few of its options."""
    before = st.lists(st.one_of(*map(typed, GLOBAL)), max_size=2)
    several = st.lists(st.one_of(*map(typed, (*command.options, *GLOBAL))), max_size=5)
    needed = [typed(option) for option in command.options if option.required]
    after = st.tuples(several, *needed).map(lambda parts: [*parts[0], *parts[1:]])
    return st.tuples(before, after).map(
        lambda parts: [*chain(*parts[0]), *command.words, *chain(*parts[1])]
    )


lines = st.sampled_from(COMMANDS).flatmap(line_of)


def slow(arguments: list[str]) -> tuple[str, dict[str, object]] | None:
    """Return what argparse makes of the arguments, None when it refuses them or prints help."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            command, values = parse(arguments)
        except SystemExit:
            return None
    return command.name, vars(values)


@settings(max_examples=120)
@given(lines)
def test_both_ways_agree_wherever_the_short_one_answers(arguments: list[str]) -> None:
    quick = read(arguments)
    if quick is not None:
        assert (quick[0].name, vars(quick[1])) == slow(arguments)


@for_each(
    "arguments",
    [
        ["select", "review a terraform plan", "--json"],
        ["--root", "a", "rank", "fix", "the", "--limit", "3", "test", "--files", "a", "--files=b"],
        ["list", "somewhere", "--quiet"],
        ["bench", "run", "--skills", "s", "--queries", "q", "--out", "o"],
        ["why", "name", "-", "--scope", "user"],
        ["evaluate", "--text", "x", "--threshold", "0.5"],
    ],
)
def test_plain_arguments_take_the_short_way(arguments: list[str]) -> None:
    quick = read(arguments)
    assert quick is not None
    assert (quick[0].name, vars(quick[1])) == slow(arguments)


@for_each(
    "arguments",
    [
        [],
        ["nosuch"],
        ["bench"],
        ["rank", "--help"],
        ["--version"],
        ["rank", "x", "--limit"],
        ["rank", "x", "--limit", "y"],
        ["rank", "x", "--nosuch"],
        ["rank", "--", "-x"],
        ["show"],
        ["show", "a", "b"],
        ["list", "--json=yes"],
        ["list", "--color", "sometimes"],
        ["bench", "run", "--skills", "s"],
    ],
)
def test_anything_else_is_left_to_argparse(arguments: list[str]) -> None:
    assert read(arguments) is None
