"""Runs the blocks of one page, as a reader who follows it from top to bottom would."""

from __future__ import annotations

import io
import os
import runpy
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from tests.docs.pages import Block, blocks

__all__ = ["ELISION", "Shown", "matches", "run_page", "run_program", "updated"]

ELISION = "..."
_PROMPT = "$ "


class Shown(NamedTuple):
    """One piece of output that a page shows, beside what really came out."""

    what: str
    """The command, or the line of the Python block."""
    first: int
    """1-based line of the page on which the output starts."""
    last: int
    """The line after it."""
    expected: str
    actual: str
    indent: str


def run_page(text: str, folder: Path, name: str) -> list[Shown]:
    """Run the blocks of a page in ``folder``, the current one, and return what it shows."""
    shell = _Shell(folder)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(text)
    shown: list[Shown] = []
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.title:
            _write(folder / block.title, block.text)
        elif block.language == "python":
            printed = _python(block, namespace, name)
            if after is not None and _shows_output(text, block, after):
                line = f"the block on line {block.line}"
                lines = after.text.split("\n")[: after.end - after.line - 1]
                shown.append(_shown(line, after, 0, lines, printed))
        elif block.language == "console":
            shown += _console(block, shell)
    return shown


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _shows_output(text: str, block: Block, after: Block) -> bool:
    between = text.split("\n")[block.end : after.line - 1]
    return after.language == "text" and not "".join(between).strip()


def _python(block: Block, namespace: dict[str, Any], name: str) -> str:
    code = compile("\n" * block.line + block.text, name, "exec")
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        exec(code, namespace)
    return printed.getvalue()


def _shown(what: str, block: Block, start: int, expected: list[str], actual: str) -> Shown:
    first = block.line + 1 + start
    text = "\n".join(expected)
    return Shown(what, first, first + len(expected), text, actual.rstrip("\n"), block.indent)


def _console(block: Block, shell: _Shell) -> list[Shown]:
    shown = []
    lines = block.text.split("\n")
    number = 0
    while number < len(lines):
        if not lines[number].startswith(_PROMPT):
            raise ValueError(f"line {block.line + 1 + number}: a console block starts with `$ `")
        command = lines[number].removeprefix(_PROMPT)
        number += 1
        while command.endswith("\\"):
            command = command.removesuffix("\\") + lines[number].strip()
            number += 1
        start = number
        while number < len(lines) and not lines[number].startswith(_PROMPT):
            number += 1
        actual = shell.run(command)
        shown.append(_shown(command, block, start, lines[start:number], actual))
    return shown


class _Shell:
    """The few commands that a console block may hold."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._code = 0

    def run(self, command: str) -> str:
        """Run one command and return what it printed, on both streams."""
        words = shlex.split(command)
        target = None
        if len(words) > 2 and words[-2] == ">":
            words, target = words[:-2], words[-1]
        printed, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(printed), redirect_stderr(errors if target else printed):
            self._code = self._run(words)
        if target is None:
            return printed.getvalue()
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
        return errors.getvalue()

    def _run(self, words: list[str]) -> int:
        from skillyard.cli import main

        match words:
            case ["skillyard", *arguments]:
                return main(arguments)
            case ["cd", path]:
                os.chdir(path)
            case ["cat", path]:
                sys.stdout.write(Path(path).read_text(encoding="utf-8"))
            case ["echo", "$?"]:
                print(self._code)
            case ["python", program]:
                _run_program(Path(program))
            case ["make", "demo"]:
                _run_program(self._folder / "examples" / "demo.py")
            case _:
                raise ValueError(f"a console block cannot run {words[0]!r}: use an sh block")
        return 0


def matches(expected: str, actual: str) -> bool:
    """True when the output is what the page shows; trailing blanks do not count."""
    wanted = [line.rstrip() for line in expected.split("\n")]
    lines = [line.rstrip() for line in actual.split("\n")]
    parts: list[list[str]] = [[]]
    for line in wanted:
        if line == ELISION:
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return lines == wanted or (not expected.strip() and not actual.strip())
    return _in_order(parts, lines)


def _in_order(parts: list[list[str]], lines: list[str]) -> bool:
    """True when the parts stand in the lines in order, the first and last at the ends."""
    first, last = parts[0], parts[-1]
    if len(first) + len(last) > len(lines):
        return False
    if lines[: len(first)] != first or (last and lines[-len(last) :] != last):
        return False
    at, stop = len(first), len(lines) - len(last)
    for part in parts[1:-1]:
        while at + len(part) <= stop and lines[at : at + len(part)] != part:
            at += 1
        if at + len(part) > stop:
            return False
        at += len(part)
    return True


def updated(text: str, shown: list[Shown]) -> str:
    """Return the page with every output that differs replaced by the real one."""
    lines = text.split("\n")
    for piece in reversed(shown):
        if not matches(piece.expected, piece.actual):
            actual = piece.actual.split("\n") if piece.actual else []
            fresh = [f"{piece.indent}{line}".rstrip() for line in actual]
            lines[piece.first - 1 : piece.last - 1] = fresh
    return "\n".join(lines)


def run_program(path: Path) -> str:
    """Run a program of ``examples/`` and return what it printed. Raises when it failed."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        _run_program(path)
    return printed.getvalue()


def _run_program(path: Path) -> None:
    """Run it as the process of its own that it takes itself for: nothing of it stays behind."""
    place, environment = Path.cwd(), dict(os.environ)
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{path.name} ended with {end.code}") from None
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(environment)
