"""The plain case of the grammar read by hand: what is well formed and asks for no help.

Importing argparse and building a parser costs half as much as starting the interpreter. Whatever
is not plainly right here is left to :mod:`.parsing`, which knows how to complain; a property test
holds the two equal.
"""

from __future__ import annotations

from typing import Any

from skillyard.cli.grammar import GLOBAL, OPEN, Command, Option, find

__all__ = ["READERS", "Values", "read"]


class Values:
    """The values of a command's options, by name."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no option {name!r}")

    def __repr__(self) -> str:
        return f"Values({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


def count(text: str) -> int:
    """Return a whole number from 0. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f"{text!r} is not a whole number from 0")
    return int(text)


def number(text: str) -> float:
    """Return a finite number. Raises ValueError."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:  # infinite or NaN
        raise ValueError(f"{text!r} is not a number")
    return value


READERS = {"count": count, "number": number}


def read(arguments: list[str]) -> tuple[Command, Values] | None:
    """Return the command and its values, or None where argparse must look at them."""
    found = _options({option.flag: option for option in GLOBAL}, arguments, stop=True)
    if found is None:
        return None
    words = found[1]
    command = find(words)
    if command is None:
        return None
    options = {option.flag: option for option in (*command.options, *GLOBAL)}
    before = arguments[: len(arguments) - len(words)]
    after = words[len(command.words) :]
    found = _options(options, before + after)
    if found is None:
        return None
    try:
        return command, _values(command, *found)
    except ValueError:
        return None


Given = list[tuple[Option, str]]


def _options(
    options: dict[str, Option], arguments: list[str], *, stop: bool = False
) -> tuple[Given, list[str]] | None:
    """Return the options with their texts, and the words; ``stop`` ends at the first word."""
    given: Given = []
    words: list[str] = []
    place = 0
    while place < len(arguments):
        text = arguments[place]
        place += 1
        if text == "-" or not text.startswith("-"):
            if stop:
                return given, arguments[place - 1 :]
            words.append(text)
            continue
        flag, equals, value = text.partition("=")
        option = options.get(flag)
        if option is None or (equals and option.kind == "flag"):
            return None
        if option.kind != "flag" and not equals:
            if place == len(arguments) or _looks_like_option(arguments[place]):
                return None
            value = arguments[place]
            place += 1
        given.append((option, value))
    return given, words


def _looks_like_option(text: str) -> bool:
    return text.startswith("-") and text != "-"


def _values(command: Command, given: Given, words: list[str]) -> Values:
    """Return the values of one command. Raises ValueError for anything that is not right."""
    values: dict[str, Any] = {}
    for option in (*command.options, *GLOBAL):
        values[option.dest] = _default(option)
    for option, text in given:
        if option.kind == "flag":
            values[option.dest] = True
        elif option.kind == "repeat":
            values[option.dest].append(_value(option, text))
        else:
            values[option.dest] = _value(option, text)
    said = {option.dest for option, _ in given}
    if any(option.required and option.dest not in said for option in command.options):
        raise ValueError("a required option is missing")
    _take_words(command, words, values)
    return Values(**values)


def _default(option: Option) -> Any:
    if option.kind == "flag":
        return False
    return [] if option.kind in ("repeat", "words") else option.default


def _value(option: Option, text: str) -> Any:
    if option.choices and option.dest not in OPEN and text not in option.choices:
        raise ValueError(f"{text!r} is none of {option.choices}")
    reader = READERS.get(option.type)
    return text if reader is None else reader(text)


def _take_words(command: Command, words: list[str], values: dict[str, Any]) -> None:
    """Give the words to the arguments, in order; the last one may take many."""
    left = list(words)
    for option in command.options:
        if not option.positional:
            continue
        if option.kind in ("words", "repeat"):
            values[option.dest] = [_value(option, text) for text in left]
            left = []
        elif left:
            values[option.dest] = _value(option, left.pop(0))
        elif option.kind != "maybe":
            raise ValueError(f"{option.flag} is missing")
    if left:
        raise ValueError(f"{left[0]!r} is one word too many")
