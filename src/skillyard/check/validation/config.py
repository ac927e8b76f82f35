"""The configuration of ``check``: ignored codes, severities, and ignored codes for certain files.

It is the section ``[check]`` of the user's ``skillyard.toml``, and before that of the nearest one
with the section in the folder of a path or above. The search ends at the root of the repository,
and without one at the working folder. For a path below neither, only its own folder is searched. A
configuration belongs to the library in which it lies. Do not apply it to skills of others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Annotated, Literal, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.configuration import named_toml, project_folders, project_toml, read_user_file
from skillyard.base.errors import InvalidInput
from skillyard.base.strict_toml import NO_KEY, TomlFile, read_record

_MAX_PATTERN_CHARS = 500


def known_code(code: str) -> str:
    """Return the code of a rule. Raises InvalidInput, which names the nearest ones."""
    from skillyard.check.validation.codes import RULES

    if code in RULES:
        return code
    near = get_close_matches(code[:80], sorted(RULES), 3, 0.6)
    suggestion = (
        f"did you mean {' or '.join(near)}?" if near else "the reference of diagnostics lists all"
    )
    raise InvalidInput(f"has the unknown code {code[:80]!r}; {suggestion}")


def _pattern(text: str) -> str:
    if not 0 < len(text) <= _MAX_PATTERN_CHARS:
        raise InvalidInput("has a pattern that is empty or too long")
    return text


class CheckConfig(NamedTuple):
    """Which rules ``check`` reports, and how."""

    ignore: tuple[Annotated[str, known_code], ...] = ()
    """Codes that are not reported."""
    severity: Mapping[Annotated[str, known_code], Literal["error", "warning", "info"]] = {}
    """Code -> its severity, instead of that of the profile; it enables rules that are off there."""
    per_file_ignores: Mapping[Annotated[str, _pattern], tuple[Annotated[str, known_code], ...]] = {}
    """Pattern -> codes that are not reported for files whose path below the folder of this file
    matches; ``*`` and ``?`` also match ``/``."""
    folder: Annotated[str, NO_KEY] = "."
    """What the patterns are relative to."""
    path: Annotated[str, NO_KEY] = ""
    """The file that it was read from."""

    @classmethod
    @check_arguments
    def find(cls, path: str | os.PathLike[str]) -> CheckConfig | None:
        """Return the configuration of a skill, a file or a folder, or None.

        The nearest file is used; the module docstring says how far up it is searched. Raises
        SkillIoError for a configuration that is invalid or cannot be read.
        """
        layers = [read_user_file(), project_toml("check", _folders(os.fspath(path)))]
        files = [each for each in layers if each is not None and "check" in each.tables]
        return _config(files) if files else None

    @classmethod
    @check_arguments
    def read(cls, path: str | os.PathLike[str]) -> CheckConfig:
        """Return the configuration in the section ``[check]`` of a given file.

        Raises InvalidInput, SkillIoError.
        """
        file = named_toml(os.fspath(path))
        if "check" not in file.tables:
            raise InvalidInput(f"{file.path}: there is no section [check]; add it")
        return _config([file])

    def severity_of(self, code: str) -> str | None:
        """Return the configured severity of a code, or None."""
        return self.severity.get(code)

    def ignores(self, code: str, path: str) -> bool:
        """True when diagnostics with that code are not reported for that path."""
        if code in self.ignore:
            return True
        patterns = [pattern for pattern, codes in self.per_file_ignores.items() if code in codes]
        relative = _below(self.folder, path) if patterns else None
        return relative is not None and any(fnmatchcase(relative, each) for each in patterns)


def _config(files: list[TomlFile]) -> CheckConfig:
    config = read_record(CheckConfig, [(each, each.tables["check"]) for each in files], ("check",))
    path = files[-1].path
    shown = path.replace(os.sep, "/").removeprefix("./")
    return config._replace(folder=os.path.dirname(path) or ".", path=shown)


def _folders(path: str) -> list[str]:
    """Return the folders that are searched for a path's configuration, nearest first.

    They are relative if the path was.
    """
    start = path if os.path.isdir(path) else os.path.dirname(path)
    folders = project_folders(start or ".")
    return folders if os.path.isabs(path) else [os.path.relpath(each) for each in folders]


def _below(folder: str, path: str) -> str | None:
    """Return a path relative to a folder, with ``/``, or None when it is not below it."""
    try:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    except ValueError:  # another drive
        return None
    relative = relative.replace(os.sep, "/")
    return None if relative == ".." or relative.startswith("../") else relative
