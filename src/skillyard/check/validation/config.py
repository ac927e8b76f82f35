"""The configuration of ``check``: ignored codes, severities, and ignored codes for certain files.

The configuration of a path is the nearest ``.skillyard.toml`` or ``pyproject.toml`` (table
``[tool.skillyard]``) in its folder or above. The search ends at the folder that contains ``.git``
or at the working folder, whichever comes first. For a path below neither, only its own folder is
searched. If a folder has both files, ``.skillyard.toml`` is used. A configuration belongs to the
library in which it lies. Do not apply it to skills of others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from skillyard.base.arguments import Conversion, check_arguments, conversion, set_field
from skillyard.base.errors import InvalidInput
from skillyard.engine.resources import read_file

CONFIG_NAMES = (".skillyard.toml", "pyproject.toml")
SEVERITIES = ("error", "warning", "info")
_KEYS = ("ignore", "severity", "per-file-ignores")
_TABLES: dict[str, tuple[str, ...]] = {
    ".skillyard.toml": (),
    "pyproject.toml": ("tool", "skillyard"),
}
_MAX_BYTES = 1_000_000
"""Size limit. Configurations are written by hand and are much smaller."""
_MAX_PATTERN_CHARS = 500


@check_arguments
@dataclass(frozen=True, slots=True)
class CheckConfig:
    """The configuration of ``check``.

    ``ignore``: codes that are not reported. ``severity``: code -> ``error``, ``warning`` or
    ``info``; it overrides the profile and enables rules that are off in it. ``per_file_ignores``:
    pattern -> codes that are not reported for files whose path below ``folder`` matches; ``*`` and
    ``?`` also match ``/``. ``path`` is the file that the configuration was read from.

    Raises InvalidInput for unknown codes and severities and for invalid patterns.
    """

    ignore: Conversion[Iterable[str], frozenset[str]] = conversion(())
    severity: Conversion[Mapping[str, str] | None, tuple[tuple[str, str], ...]] = conversion(None)
    """Pairs of code and severity, sorted."""
    per_file_ignores: Conversion[
        Mapping[str, Iterable[str]] | None, tuple[tuple[str, frozenset[str]], ...]
    ] = conversion(None)
    """Pairs of pattern and codes, in the order given."""
    folder: str = "."
    path: str = ""

    def __post_init__(self) -> None:
        raw: Any = self  # the fields have the types of the arguments here
        table = {
            "ignore": list(raw.ignore),
            "severity": dict(raw.severity or {}),
            "per-file-ignores": {
                pattern: codes if isinstance(codes, str) else list(codes)
                for pattern, codes in dict(raw.per_file_ignores or {}).items()
            },
        }
        fields = _parse_table(table, _Source("", "", ()))
        for name, value in fields._asdict().items():
            set_field(self, name, value)

    def severity_of(self, code: str) -> str | None:
        """Return the configured severity of a code, or None."""
        return next((level for name, level in self.severity if name == code), None)

    def ignores(self, code: str, path: str) -> bool:
        """True when diagnostics with that code are not reported for that path."""
        if code in self.ignore:
            return True
        patterns = [pattern for pattern, codes in self.per_file_ignores if code in codes]
        relative = _below(self.folder, path) if patterns else None
        return relative is not None and any(fnmatchcase(relative, each) for each in patterns)


class _Fields(NamedTuple):
    """The checked values of a table."""

    ignore: frozenset[str]
    severity: tuple[tuple[str, str], ...]
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...]


class _Source(NamedTuple):
    """The place of a configuration, for error messages."""

    path: str
    text: str
    table: tuple[str, ...]

    def refuse(self, key: str, what: str) -> InvalidInput:
        """Return the error about a key or a value, with its line if known."""
        return InvalidInput(f"{self._place(key)}{what}", field=key)

    def _place(self, word: str) -> str:
        if not self.path:
            return ""
        return f"{self.path}:{_line_of(self.text, self.table, word)}: "


def _line_of(text: str, table: tuple[str, ...], word: str) -> int:
    """Return the 1-based line of a key or value of the table, as closely as it can be found."""
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
    """Return the configuration of a skill, a file or a folder, or None.

    The nearest file is used; the module docstring says how far up it is searched. Raises
    InvalidInput for an invalid configuration, SkillIoError for a file that cannot be read.
    """
    for folder in _folders(os.fspath(path)):
        for name in CONFIG_NAMES:
            file = os.path.join(folder, name)
            if os.path.lexists(file):
                config = _read(file, name, must_hold=False)
                if config is not None:
                    return config
    return None


@check_arguments
def read_check_config(path: str | os.PathLike[str]) -> CheckConfig:
    """Return the configuration in a given file.

    In ``pyproject.toml`` it is the table ``[tool.skillyard]``, in other files the top level.
    Raises InvalidInput, SkillIoError.
    """
    file = os.fspath(path)
    name = os.path.basename(file)
    config = _read(file, name if name in _TABLES else CONFIG_NAMES[0], must_hold=True)
    assert config is not None  # must_hold
    return config


def _folders(path: str) -> list[str]:
    """Return the folders that are searched for a path's configuration, nearest first."""
    start = path if os.path.isdir(path) else os.path.dirname(path)
    folder = os.path.abspath(start or ".")
    here = _identity(os.getcwd())
    folders = []
    while True:
        folders.append(folder)
        if os.path.lexists(os.path.join(folder, ".git")) or _identity(folder) == here:
            return [_display_folder(each, path) for each in folders]
        above = os.path.dirname(folder)
        if above == folder:  # neither a repository nor the working folder is above
            return [_display_folder(folders[0], path)]
        folder = above


def _display_folder(folder: str, path: str) -> str:
    """Return an absolute folder as relative if the path was relative."""
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
    """Return a path relative to a folder, with ``/``, or None when it is not below it."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    except ValueError:  # another drive
        return None
    relative = relative.replace(os.sep, "/")
    return None if relative == ".." or relative.startswith("../") else relative


def _read(file: str, kind: str, *, must_hold: bool) -> CheckConfig | None:
    import tomllib

    name = file.replace(os.sep, "/")
    name = name.removeprefix("./")
    data = read_file(file, _MAX_BYTES, name).data
    source = _Source(name, data.decode("utf-8", "replace"), _TABLES[kind])
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{name}{_toml_error(str(error), source.text)}") from None
    except (UnicodeDecodeError, RecursionError):
        raise InvalidInput(f"{name}: not a TOML file in UTF-8") from None
    table: Any = document
    for depth, key in enumerate(source.table):
        if not isinstance(table, Mapping):
            raise source.refuse(key, f"[{'.'.join(source.table[:depth])}] must be a table")
        if key not in table:
            if must_hold:
                raise InvalidInput(f"{name}: there is no table [{'.'.join(source.table)}]; add it")
            return None
        table = table[key]
    ignore, severity, files = _parse_table(table, source)
    folder = os.path.dirname(file) or "."
    return CheckConfig(ignore, dict(severity), dict(files), folder, name)


def _toml_error(message: str, text: str) -> str:
    """Convert the parser's ``what (at line 3, column 5)`` to ``:line:column: what``.

    At the end of the document it is the last line.
    """
    what, at_end, _ = message.partition(" (at end of document)")
    if at_end:
        return f":{text.rstrip().count(chr(10)) + 1}: {what}"
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        return f": {message}"
    return f":{place[1]}:{place[2]}: {message[: place.start()]}"


def _parse_table(table: Any, source: _Source) -> _Fields:
    """Return the checked values of a table. Raises InvalidInput."""
    name = ".".join(source.table)
    if not isinstance(table, Mapping):
        raise source.refuse(name.rpartition(".")[2], f"{name} must be a table")
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            suggestion = f"did you mean {near[0]}?" if near else f"known: {', '.join(_KEYS)}"
            raise source.refuse(key, f"unknown setting {key[:80]!r}; {suggestion}")
    ignore = _codes(table.get("ignore", []), "ignore", source)
    severity = table.get("severity", {})
    if not isinstance(severity, Mapping):
        raise source.refuse("severity", "severity must be a table of codes and severities")
    for code, level in severity.items():
        _check_code(code, "severity", source)
        if level not in SEVERITIES:
            allowed = f"{', '.join(SEVERITIES)}; to turn a code off, list it under ignore"
            wrong = f"the severity of {code} is {str(level)[:80]!r}; known: {allowed}"
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
        _check_code(code, key, source)
    return frozenset(value)


def _check_code(code: str, key: str, source: _Source) -> None:
    from skillyard.check.validation.codes import RULES

    if code in RULES:
        return
    near = get_close_matches(code[:80], sorted(RULES), 3, 0.6)
    suggestion = (
        f"did you mean {' or '.join(near)}?" if near else "the reference of diagnostics lists all"
    )
    raise source.refuse(code, f"unknown code {code[:80]!r} in {key}; {suggestion}")
