"""Reads the JSON files that say where plugins, extensions and packages keep their skills.

They come from strangers: a file is read up to a limit, and a path in it never leads out of the
folder that it belongs to.
"""

from __future__ import annotations

import errno
import os
from typing import Any

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import read_regular
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.text import clean_line
from skillyard.engine.discovery.entries import inside

MAX_BYTES = 4_194_304
"""A manifest. The list of a marketplace with thousands of plugins has a tenth of it."""


class Problems(list[Diagnostic]):
    """The diagnostics of looking for folders."""

    def add(self, code: str, path: str, message: str, hint: str, severity: str = "warning") -> None:
        """Add a diagnostic."""
        self.append(Diagnostic(code, severity, path, message, hint))


def read_manifest(path: str, problems: Problems) -> dict[str, Any]:
    """Return the object in a JSON file; empty without a file.

    Anything else than an object is reported and read as empty.
    """
    data = read_bounded(path, problems)
    if data is None:
        return {}
    try:
        value = strict_loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        fault = f"it is not JSON ({error})"
    else:
        if isinstance(value, dict):
            return value
        fault = "it is not an object"
    unusable(path, fault, problems)
    return {}


def read_bounded(path: str, problems: Problems) -> bytes | None:
    """Return the bytes of a regular file; None without one, and for one that is not used.

    The latter is reported: a pipe, a device, a file that is too large or may not be read.
    """
    try:
        return read_regular(path, MAX_BYTES, follow=True)[0]  # settings are often links
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EFBIG):
            unusable(path, str(error.strerror), problems)
        else:
            message = f"cannot read: {error.strerror}"
            problems.add("manifest_unreadable", path, message, "check permissions")
        return None


def unusable(path: str, fault: str, problems: Problems) -> None:
    """Report a file that is not used."""
    problems.add("manifest_unreadable", path, f"not used: {clean_line(fault)}", "repair the file")


def inner_folder(base: str, relative: str, manifest: str, problems: Problems) -> str | None:
    """Return a folder that a manifest names below ``base``; None, with a report, for another."""
    if not _can_be_path(relative):
        problems.add("manifest_path", manifest, f"{relative!a} is no path", "correct the path")
        return None
    path = os.path.normpath(os.path.join(base, relative))
    if os.path.isabs(relative) or not inside(os.path.realpath(path), os.path.realpath(base)):
        problems.add(
            "manifest_path",
            manifest,
            f"not read: {relative!r} leads out of its folder",
            "name a folder below it",
        )
        return None
    if not os.path.isdir(path):
        problems.add(
            "manifest_path", manifest, f"there is no folder {relative!r}", "correct the path"
        )
        return None
    return path


def text_of(mapping: dict[str, Any], key: str) -> str:
    """Return a text of a manifest; empty for anything else."""
    value = mapping.get(key)
    return value.strip() if isinstance(value, str) and _can_be_path(value) else ""


def texts_of(mapping: dict[str, Any], key: str) -> list[str]:
    """Return the texts of a list, or one text as a list; empty for anything else."""
    value = mapping.get(key)
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str) and each and _can_be_path(each)]


def _can_be_path(text: str) -> bool:
    """False for a text with a NUL or half a character: the system refuses it as a path."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def mapping_of(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an object of a manifest; empty for anything else."""
    value = mapping.get(key)
    return value if isinstance(value, dict) else {}
