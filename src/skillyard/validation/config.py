"""What a project asks of ``check``: codes to ignore, other severities, files left alone.

The configuration of a path is the nearest ``.skillyard.toml`` or ``pyproject.toml`` (there the
table ``[tool.skillyard]``) in its folder or above it. The search ends at the folder that holds
``.git`` or at the working folder, whichever comes first. A path below neither has only its own
folder searched. Where one folder has both files, ``.skillyard.toml`` counts. A configuration
belongs to the library that it lies in: leave it aside for skills of others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from skillyard.arguments import Converted, check_arguments, converted, set_field
from skillyard.errors import InvalidInput
from skillyard.resources import read_file

__all__ = ["CONFIG_NAMES", "CheckConfig", "find_check_config", "read_check_config"]

CONFIG_NAMES = (".skillyard.toml", "pyproject.toml")
SEVERITIES = ("error", "warning", "info")
_KEYS = ("ignore", "severity", "per-file-ignores")
_TABLES: dict[str, tuple[str, ...]] = {
    ".skillyard.toml": (),
    "pyproject.toml": ("tool", "skillyard"),
}
_MAX_BYTES = 1_000_000
"""A configuration is written by hand; lock files and data lie elsewhere."""
_MAX_PATTERN_CHARS = 500


@check_arguments
@dataclass(frozen=True, slots=True)
class CheckConfig:
    """What a project asks of ``check``.

    ``ignore``: codes that are not reported. ``severity``: code -> ``error``, ``warning`` or
    ``info``, instead of the profile's; it also turns a rule on that the profile leaves out.
    ``per_file_ignores``: pattern -> codes, not reported of files whose path below ``folder``
    matches; ``*`` and ``?`` also match ``/``. ``path`` is the file that it was read from. Raises
    InvalidInput for codes, severities and patterns that do not exist or cannot be.
    """

    ignore: Converted[Iterable[str], frozenset[str]] = converted(())
    severity: Converted[Mapping[str, str] | None, tuple[tuple[str, str], ...]] = converted(None)
    """Pairs of code and severity, sorted."""
    per_file_ignores: Converted[
        Mapping[str, Iterable[str]] | None, tuple[tuple[str, frozenset[str]], ...]
    ] = converted(None)
    """Pairs of pattern and codes, in the order given."""
    folder: str = "."
    path: str = ""

    def __post_init__(self) -> None:
        given: Any = self  # with what the caller gave, not yet what is held
        table = {
            "ignore": list(given.ignore),
            "severity": dict(given.severity or {}),
            "per-file-ignores": {
                pattern: codes if isinstance(codes, str) else list(codes)
                for pattern, codes in dict(given.per_file_ignores or {}).items()
            },
        }
        fields = _checked(table, _Source("", "", ()))
        for name, value in fields._asdict().items():
            set_field(self, name, value)

    def severity_of(self, code: str) -> str | None:
        """Return the severity that the project gives a code, None where it gives none."""
        return next((level for known, level in self.severity if known == code), None)

    def ignores(self, code: str, path: str) -> bool:
        """True when findings of a code are not to be reported of a path."""
        if code in self.ignore:
            return True
        patterns = [pattern for pattern, codes in self.per_file_ignores if code in codes]
        relative = _below(self.folder, path) if patterns else None
        return relative is not None and any(fnmatchcase(relative, each) for each in patterns)


class _Fields(NamedTuple):
    """The checked fields of a table."""

    ignore: frozenset[str]
    severity: tuple[tuple[str, str], ...]
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...]


class _Source(NamedTuple):
    """Where a configuration stands, for errors."""

    path: str
    text: str
    table: tuple[str, ...]

    def refuse(self, key: str, what: str) -> InvalidInput:
        """Return the error about a key or a value, with its line where it can be found."""
        return InvalidInput(f"{self._place(key)}{what}", field=key)

    def _place(self, word: str) -> str:
        if not self.path:
            return ""
        return f"{self.path}:{_line_of(self.text, self.table, word)}: "


def _line_of(text: str, table: tuple[str, ...], word: str) -> int:
    """Return the 1-based line on which a key or value of the table stands, as near as it goes."""
    lines = text.split("\n")
    header = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(re.escape, table)) + r"\s*[\].]")
    starts = [number for number, line in enumerate(lines) if table and header.match(line)]
    start = starts[0] if starts else 0
    order: list[int] = [*range(start, len(lines)), *range(start)]
    for number in order:
        if word in lines[number].partition("#")[0]:
            return number + 1
    return start + 1


@check_arguments
def find_check_config(path: str | os.PathLike[str]) -> CheckConfig | None:
    """Return the configuration of a skill, a file or a folder, None where there is none.

    The nearest file wins; see the module for how far up it is looked for. Raises InvalidInput for
    a file that says something wrong, SkillIoError for one that cannot be read.
    """
    for folder in _folders(os.fspath(path)):
        for name in CONFIG_NAMES:
            file = os.path.join(folder, name)
            if os.path.lexists(file):
                found = _read(file, name, must_hold=False)
                if found is not None:
                    return found
    return None


@check_arguments
def read_check_config(path: str | os.PathLike[str]) -> CheckConfig:
    """Return the configuration of a file that was named.

    A file called ``pyproject.toml`` has it under ``[tool.skillyard]``, any other at its top.
    Raises InvalidInput, SkillIoError.
    """
    file = os.fspath(path)
    name = os.path.basename(file)
    found = _read(file, name if name in _TABLES else CONFIG_NAMES[0], must_hold=True)
    assert found is not None  # must_hold
    return found


def _folders(path: str) -> list[str]:
    """Return the folders in which a path's configuration may lie, nearest first."""
    start = path if os.path.isdir(path) else os.path.dirname(path)
    folder = os.path.abspath(start or ".")
    here = _identity(os.getcwd())
    folders = []
    while True:
        folders.append(folder)
        if os.path.lexists(os.path.join(folder, ".git")) or _identity(folder) == here:
            return [_shown(each, path) for each in folders]
        above = os.path.dirname(folder)
        if above == folder:  # neither a repository nor the working folder lies above
            return [_shown(folders[0], path)]
        folder = above


def _shown(folder: str, path: str) -> str:
    """Return an absolute folder as people name it: relative where the path was."""
    if os.path.isabs(path):
        return folder
    return os.path.relpath(folder)


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _below(folder: str, path: str) -> str | None:
    """Return a path relative to a folder, with ``/``; None where it does not lie below it."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    except ValueError:  # another drive
        return None
    relative = relative.replace(os.sep, "/")
    return None if relative == ".." or relative.startswith("../") else relative


def _read(file: str, kind: str, *, must_hold: bool) -> CheckConfig | None:
    import tomllib

    shown = file.replace(os.sep, "/")
    shown = shown.removeprefix("./")
    data = read_file(file, _MAX_BYTES, shown).data
    source = _Source(shown, data.decode("utf-8", "replace"), _TABLES[kind])
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{shown}{_toml_error(str(error), source.text)}") from None
    except (UnicodeDecodeError, RecursionError):
        raise InvalidInput(f"{shown}: not a TOML file in UTF-8") from None
    table: Any = document
    for depth, key in enumerate(source.table):
        if not isinstance(table, Mapping):
            raise source.refuse(key, f"[{'.'.join(source.table[:depth])}] must be a table")
        if key not in table:
            if must_hold:
                raise InvalidInput(f"{shown}: there is no table [{'.'.join(source.table)}]; add it")
            return None
        table = table[key]
    ignore, severity, files = _checked(table, source)
    folder = os.path.dirname(file) or "."
    return CheckConfig(ignore, dict(severity), dict(files), folder, shown)


def _toml_error(message: str, text: str) -> str:
    """Return ``:line:column: what``, from the parser's ``what (at line 3, column 5)``.

    Where the parser reached the end, that is the last line.
    """
    what, at_end, _ = message.partition(" (at end of document)")
    if at_end:
        return f":{text.rstrip().count(chr(10)) + 1}: {what}"
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        return f": {message}"
    return f":{place[1]}:{place[2]}: {message[: place.start()]}"


def _checked(table: Any, source: _Source) -> _Fields:
    """Return the fields that a table means. Raises InvalidInput."""
    name = ".".join(source.table)
    if not isinstance(table, Mapping):
        raise source.refuse(name.rpartition(".")[2], f"{name} must be a table")
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            meant = f"did you mean {near[0]}?" if near else f"known: {', '.join(_KEYS)}"
            raise source.refuse(key, f"unknown setting {key[:80]!r}; {meant}")
    ignore = _codes(table.get("ignore", []), "ignore", source)
    severity = table.get("severity", {})
    if not isinstance(severity, Mapping):
        raise source.refuse("severity", "severity must be a table of codes and severities")
    for code, level in severity.items():
        _known_code(code, "severity", source)
        if level not in SEVERITIES:
            known = f"{', '.join(SEVERITIES)}; to turn a code off, list it under ignore"
            wrong = f"the severity of {code} is {str(level)[:80]!r}; known: {known}"
            raise source.refuse(code, wrong)
    files = table.get("per-file-ignores", {})
    if not isinstance(files, Mapping):
        raise source.refuse(
            "per-file-ignores", "per-file-ignores must be a table of patterns and codes"
        )
    for pattern in files:
        if not pattern or len(pattern) > _MAX_PATTERN_CHARS:
            raise source.refuse("per-file-ignores", "a pattern is empty or too long")
    patterns = tuple((pattern, _codes(codes, pattern, source)) for pattern, codes in files.items())
    return _Fields(ignore, tuple(sorted(severity.items())), patterns)


def _codes(value: Any, key: str, source: _Source) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise source.refuse(key, f"{key} must be a list of codes")
    for code in value:
        _known_code(code, key, source)
    return frozenset(value)


def _known_code(code: str, key: str, source: _Source) -> None:
    from skillyard.validation.catalogue import RULES

    if code in RULES:
        return
    near = get_close_matches(code[:80], sorted(RULES), 3, 0.6)
    meant = (
        f"did you mean {' or '.join(near)}?" if near else "the reference of diagnostics lists all"
    )
    raise source.refuse(code, f"unknown code {code[:80]!r} in {key}; {meant}")
